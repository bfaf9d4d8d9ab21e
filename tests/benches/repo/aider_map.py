"""Prints the median seconds of aider's map of a repository without its cache, and the tokens of the map.

Usage: aider_map.py ROOT TOKENS ROUNDS
"""

import statistics
import sys
import time
from pathlib import Path

try:
    from aider.repomap import RepoMap
except ImportError:
    sys.exit(3)


class Model:
    def token_count(self, text):
        return len(text) / 4


class Files:
    def read_text(self, name, silent=False):
        try:
            return Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeError):
            return None

    def tool_output(self, *_, **__):
        pass

    tool_error = tool_warning = tool_output


class Cold(RepoMap):
    def load_tags_cache(self):
        self.TAGS_CACHE = {}


root, tokens, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
names = sorted(str(path) for path in root.rglob("*") if path.is_file())
times, text = [], ""
for _ in range(rounds):
    start = time.perf_counter()
    repo_map = Cold(tokens, str(root), Model(), Files(), map_mul_no_files=1)
    text = repo_map.get_repo_map([], names) or ""
    times.append(time.perf_counter() - start)
print(statistics.median(times), len(text) // 4)
