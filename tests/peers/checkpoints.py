"""Prints how many bytes LangGraph's store in SQLite takes for a conversation, once it is closed: so many steps, each
of which adds one message of so many bytes.

    checkpoints.py STEPS BYTES
"""

import operator
import os
import sys
import tempfile
from typing import Annotated, TypedDict

os.environ["LANGSMITH_TRACING"] = "false"

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph


class State(TypedDict):
    said: Annotated[list[str], operator.add]


steps, size = map(int, sys.argv[1:])
builder = StateGraph(State)
builder.add_node("say", lambda state: {"said": [f"{len(state['said']):>{size}}"]})
builder.add_edge(START, "say")

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "chats.db")
    with SqliteSaver.from_conn_string(path) as saver:
        app = builder.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "monday"}}
        for _ in range(steps):
            kept = app.invoke({"said": []}, config)
    assert len(kept["said"]) == steps and {len(text) for text in kept["said"]} == {size}
    print(sum(entry.stat().st_blocks * 512 for entry in os.scandir(folder)))
