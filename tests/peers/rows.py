"""Computes the table of `benches/rows.rs` with a peer, and prints the peak of its memory in KiB:

    rows.py pandas|langgraph|langgraph_sqlite IN.csv OUT.csv ROWS
"""

import csv
import itertools
import os
import sys

os.environ["LANGSMITH_TRACING"] = "false"

HEAD = ["_step", "review", "words", "longest", "label", "_skipped", "_skip_reasons", "_empty"]


def words(review):
    return str(len(review.split()))


def longest(review):
    return max(review.split(), key=len)


def pandas(source, target, rows):
    import pandas

    table = pandas.read_csv(source, dtype=str, nrows=rows)
    table["words"] = table.review.map(words)
    table["longest"] = table.review.map(longest)
    table["label"] = table.longest + ":" + table.words
    table[HEAD[5:]] = ""
    table.insert(0, "_step", range(rows))
    table.to_csv(target, index=False)


def langgraph(source, target, rows, saver=None):
    from typing import TypedDict

    from langgraph.graph import START, StateGraph

    builder = StateGraph(TypedDict("Row", dict.fromkeys(HEAD[1:5], str), total=False))
    builder.add_node("n_words", lambda row: {"words": words(row["review"])})
    builder.add_node("n_longest", lambda row: {"longest": longest(row["review"])})
    builder.add_node("n_label", lambda row: {"label": row["longest"] + ":" + row["words"]})
    builder.add_edge(START, "n_words")
    builder.add_edge(START, "n_longest")
    builder.add_edge(["n_words", "n_longest"], "n_label")
    graph = builder.compile(checkpointer=saver)
    with open(source, newline="") as source, open(target, "w", newline="") as target:
        table = csv.writer(target, lineterminator="\n")
        table.writerow(HEAD)
        reader = enumerate(itertools.islice(csv.DictReader(source), rows))
        # As many rows at once as columnar has in memory.
        while window := list(itertools.islice(reader, 4096)):
            configs = [{"max_concurrency": 32, "configurable": {"thread_id": str(step)}} for step, _ in window]
            done = graph.batch([row for _, row in window], configs)
            for (step, _), row in zip(window, done):
                table.writerow([step, *(row[name] for name in HEAD[1:5]), "", "", ""])


def langgraph_sqlite(source, target, rows):
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(target + ".db") as saver:
        langgraph(source, target, rows, saver)


peer, source, target, rows = sys.argv[1:]
globals()[peer](source, target, int(rows))
with open("/proc/self/status") as status:
    print("peak", next(line.split()[1] for line in status if line.startswith("VmHWM:")))
