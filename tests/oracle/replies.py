"""Reads `replies/PROVIDER/NAME` with the SDKs, and compares what they read with `replies/expected.json`.

With `COLUMNAR_ORACLE_ACCEPT=1` that file is written instead.
"""

import difflib
import http.server
import json
import logging
import os
import sys
import threading
from pathlib import Path

import readers

FOLDER = Path(__file__).parent / "replies"
EXPECTED = FOLDER / "expected.json"
KINDS = {".json": "application/json", ".ndjson": "application/x-ndjson", ".sse": "text/event-stream"}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each request with the bytes of the server."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", self.server.kind)
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(self.server.reply)
        self.close_connection = True

    def log_message(self, *_):
        pass


def main():
    # A failed attempt of an SDK is a reading.
    logging.disable()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    readings = {}
    for file in sorted(FOLDER.glob("*/*")):
        provider = file.parent.name
        server.reply = file.read_bytes()
        server.kind = KINDS[file.suffix]
        readings[f"{provider}/{file.name}"] = readers.read(provider, f"http://127.0.0.1:{server.server_port}")
    rows = (f"{json.dumps(name)}: {json.dumps(reading)}" for name, reading in readings.items())
    text = "{\n" + ",\n".join(rows) + "\n}\n"
    if os.environ.get("COLUMNAR_ORACLE_ACCEPT"):
        EXPECTED.write_text(text)
    elif text != EXPECTED.read_text():
        lines = difflib.unified_diff(EXPECTED.read_text().splitlines(), text.splitlines(), lineterm="", n=0)
        sys.exit("the SDKs read other things than expected.json says:\n" + "\n".join(lines))
    print(f"{len(readings)} replies read with the SDKs")


main()
