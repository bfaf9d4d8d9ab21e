"""Runs a server of others until its standard input says the number of its calls, and then shows its log.

`gateway.py litellm BACKEND` or `gateway.py fakellm`. Prints the port when it takes calls.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

FOLDER = Path(__file__).parent / "gateway"
BIN = Path(sys.executable).parent


def command(kind, port):
    """How it is started, and where it says that it is there."""
    if kind == "litellm":
        config = FOLDER / "litellm.yaml"
        return [BIN / "litellm", "--config", config, "--host", "127.0.0.1", "--port", port], "/health/liveliness"
    return [BIN / "fakellm", "serve", "--config", FOLDER / "fakellm.yaml", "--port", port], "/_fakellm/stats"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


def wait_for(url, process, said):
    while process.poll() is None:
        try:
            return urllib.request.urlopen(url, timeout=5).read()
        except OSError:
            time.sleep(0.2)
    sys.exit(said.read_text()[-5000:])


def settings(log, backend):
    # It listens on this machine alone, so it needs no key.
    values = {"ORACLE_LOG": str(log), "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
    for url in backend:
        # LiteLLM adds the rest of the path.
        values |= {"ORACLE_OPENAI": f"{url}/v1", "ORACLE_ANTHROPIC": url, "ORACLE_GEMINI": f"{url}/v1beta"}
    return os.environ | values | {"PYTHONPATH": str(FOLDER)}


def main():
    kind, *backend = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        log, said, port = Path(folder, "log"), Path(folder, "said"), free_port()
        log.touch()
        arguments, health = command(kind, port)
        streams = {"stdin": subprocess.DEVNULL, "stdout": said.open("w"), "stderr": subprocess.STDOUT}
        process = subprocess.Popen(arguments, cwd=folder, env=settings(log, backend), **streams)
        try:
            wait_for(f"http://127.0.0.1:{port}{health}", process, said)
            print(port, flush=True)
            calls = int(sys.stdin.readline() or 0)
            # It logs after the reply.
            deadline = time.monotonic() + 20
            while len(log.read_text().splitlines()) < calls and time.monotonic() < deadline:
                time.sleep(0.1)
            print(log.read_text(), end="", flush=True)
        finally:
            process.terminate()
            process.wait()


main()
