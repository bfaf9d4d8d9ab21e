"""Runs peers in Python when it is told to, and answers how long they took. A benchmark starts it and speaks
with it over standard input and output; `tests/support/peers.rs` is the other end.

LangGraph and Hamilton run asynchronously, as they would with model calls. `hamilton_sync` is Hamilton's
driver without an event loop: less to do for each node, and nothing overlaps.

Graphs are built before the time starts, once for each shape and size.
"""

import asyncio
import contextlib
import importlib.util
import os
import sys
import time
from typing import TypedDict

# Neither is to call home while it is measured.
os.environ["HAMILTON_TELEMETRY_ENABLED"] = "false"
os.environ["LANGSMITH_TRACING"] = "false"

# Hamilton walks from a node to what it reads by calling itself.
sys.setrecursionlimit(10_000)

VALUE = "x" * 100
SKEWED = {"a1": (["user"], 3), "a2": (["a1"], 1), "b1": (["user"], 1), "b2": (["b1"], 3), "joined": (["a2", "b2"], 1)}
SIX = {
    "topics": (["user"], 1),
    "summary": (["topics", "before"], 1),
    "critique": (["summary", "user"], 1),
    "mood": (["user"], 1),
    "verdict": (["critique", "mood"], 1),
    "assistant": (["user", "verdict"], 1),
}


def nodes(work, size, unit):
    """The nodes of a graph: what each reads, and for how many seconds it sleeps."""
    if work == "chain":
        return {f"c{at}": ([f"c{at - 1}" if at else "user"], 0) for at in range(size)}
    if work == "wide":
        return {f"c{at}": (["user"], 0) for at in range(size)}
    slow = SKEWED if work == "skewed" else SIX
    return {name: (reads, units * unit) for name, (reads, units) in slow.items()}


async def langgraph(graph):
    from langgraph.graph import START, StateGraph

    def answer(name, seconds):
        async def node(state):
            if seconds:
                await asyncio.sleep(seconds)
            return {name: VALUE}

        return node

    builder = StateGraph(TypedDict("State", dict.fromkeys(["user", "before", *graph], str), total=False))
    for name, (reads, seconds) in graph.items():
        builder.add_node(f"n_{name}", answer(name, seconds))
        inner = [f"n_{read}" for read in reads if read in graph]
        builder.add_edge(inner if len(inner) > 1 else next(iter(inner), START), f"n_{name}")
    app = builder.compile()
    return lambda inputs: app.ainvoke(inputs, {"recursion_limit": len(graph) + 10})


def hamilton_module(graph, prefix):
    from hamilton import ad_hoc_utils

    source = "import asyncio\n"
    for name, (reads, seconds) in graph.items():
        sleep = f"    await asyncio.sleep({seconds})\n" if seconds else ""
        source += f"{prefix}def {name}({', '.join(f'{read}: str' for read in reads)}) -> str:\n"
        source += f"{sleep}    return {VALUE!r}\n"
    return ad_hoc_utils.module_from_source(source)


async def hamilton(graph):
    from hamilton import async_driver

    names = list(graph)
    driver = await async_driver.Builder().with_modules(hamilton_module(graph, "async ")).build()
    return lambda inputs: driver.execute(names, inputs=inputs)


async def hamilton_sync(graph):
    from hamilton import base, driver

    names = list(graph)
    built = driver.Builder().with_modules(hamilton_module(graph, "")).with_adapter(base.DictResult()).build()

    async def run(inputs):
        return built.execute(names, inputs=inputs)

    return run


PEERS = {"langgraph": langgraph, "hamilton": hamilton, "hamilton_sync": hamilton_sync}


BUILT = {}


async def took(peer, work, size, third):
    """The nanoseconds of so many runs. Steps of a conversation are runs too, one after the other: a graph has
    the nodes that it was built with."""
    is_slow = work in ("skewed", "queued")
    runs, unit = (size, third / 1000) if is_slow else (third, 0)
    graph = nodes(work, size, unit)
    key = peer, work, size
    run = BUILT[key] = BUILT.get(key) or await PEERS[peer](graph)
    inputs = {"user": VALUE, "before": VALUE} if work == "queued" else {"user": VALUE}
    started = time.perf_counter_ns()
    for _ in range(runs):
        kept = await run(inputs)
        if work == "queued":
            inputs["before"] = kept["summary"]
    nanoseconds = time.perf_counter_ns() - started
    assert all(kept[name] == VALUE for name in graph)
    return nanoseconds


async def main():
    installed = [name for name in PEERS if importlib.util.find_spec(name.removesuffix("_sync"))]
    print(*installed, flush=True)
    for line in sys.stdin:
        peer, work, size, third = line.split()
        # What a library prints must not be read as an answer.
        with contextlib.redirect_stdout(sys.stderr):
            nanoseconds = await took(peer, work, int(size), int(third))
        print(nanoseconds, flush=True)


asyncio.run(main())
