"""Makes streaming calls with a peer in Python, and prints what they cost, as `src/clients` does:

    clients.py openai|langgraph URL WORDS PAUSE WORKERS CALLS
"""

import asyncio
import os
import resource
import sys
import time

os.environ["LANGSMITH_TRACING"] = "false"

INSTRUCTION = "You are a helpful assistant."


def messages(question):
    return [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": question}]


def openai(url):
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="none")

    async def ask(question):
        stream = await client.chat.completions.create(
            model="gpt-4o",
            messages=messages(question),
            stream=True,
            stream_options={"include_usage": True},
        )
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                yield chunk.choices[0].delta.content

    return ask


def langgraph(url):
    from langchain_openai import ChatOpenAI
    from langgraph.graph import START, MessagesState, StateGraph

    model = ChatOpenAI(model="gpt-4o", base_url=url, api_key="none", stream_usage=True)

    async def answer(state):
        return {"messages": await model.ainvoke(state["messages"])}

    builder = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    app = builder.compile()

    async def ask(question):
        async for chunk, _ in app.astream({"messages": messages(question)}, stream_mode="messages"):
            # A message that is no chunk is the whole reply again.
            if chunk.type == "AIMessageChunk" and chunk.content:
                yield chunk.content

    return ask


PEERS = {"openai": openai, "langgraph": langgraph}


async def call(ask, words, pause):
    asked, first, heard = time.perf_counter_ns(), None, 0
    async for text in ask(f"Send {words} words, one each {pause} us."):
        if first is None:
            first = (time.perf_counter_ns() - asked) // 1000 - int(text)
        heard += 1
    assert heard == words
    return first


async def main():
    peer, url, *numbers = sys.argv[1:]
    words, pause, workers, calls = map(int, numbers)
    ask = PEERS[peer](url)
    await asyncio.gather(*(call(ask, 1, 0) for _ in range(workers)))

    async def work():
        return [await call(ask, words, pause) for _ in range(calls)]

    before = time.process_time_ns()
    firsts = sorted(sum(await asyncio.gather(*(work() for _ in range(workers))), []))
    cpu = (time.process_time_ns() - before) // 1000
    median, late = (firsts[len(firsts) * percent // 100] for percent in (50, 99))
    print(cpu, median, late, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


asyncio.run(main())
