"""Says how many tokens LiteLLM counts for images.

    images.py <QUESTIONS

Reads a model, a width and a height on each line, and says the tokens on a line each; `unknown` for a model that LiteLLM
has no rule for.
"""

import sys
from pathlib import Path

# `tests/oracle/run` installs a later version there.
sys.path.insert(0, str(Path(sys.prefix, "images")))

from litellm.litellm_core_utils.token_counter import (  # noqa: E402
    _image_model_family,
    _image_policy_tokens,
)

for line in sys.stdin:
    model, width, height = line.split()
    family = _image_model_family(model)
    print(_image_policy_tokens(family, (int(width), int(height)), "auto") if family else "unknown")
