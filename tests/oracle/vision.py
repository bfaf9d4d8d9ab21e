"""Serves a model that reads the words in images, over chat completions and Ollama's own format.

The model is the PP-OCR of the package rapidocr, two networks of 31 MB that the package has inside. It understands no
question: a reply has the words of all images in the last message, or says that there are none.

`vision.py`. Prints the port when it takes calls, and ends when its standard input does.
"""

import json
import logging
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

logging.disable(logging.WARNING)

import rapidocr

import files

reader = rapidocr.RapidOCR()
# The networks share their memory.
turn = threading.Lock()


def answer(body):
    last = {"messages": body["messages"][-1:]}
    with turn:
        found = [reader(file.data, use_cls=False).txts for _, file in files.in_body(last)]
    return ", ".join(word for words in found for word in words or ()) or "There are no words."


def chat_completions(text):
    for delta, finish in (({"content": text}, None), ({}, "stop")):
        yield "data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}) + "\n\n"
    yield "data: [DONE]\n\n"


def ollama(text):
    yield json.dumps({"message": {"role": "assistant", "content": text}, "done": True, "done_reason": "stop"}) + "\n"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reply = ollama if self.path == "/api/chat" else chat_completions
        text = "".join(reply(answer(body))).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
