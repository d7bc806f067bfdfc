"""Real model servers: llama.cpp, llama-cpp-python, `transformers serve`, LiteLLM; each with a tiny model.

    make servers                                                  # installs the servers, runs all
    python -m benchmarks.servers llama.cpp --python .venv-servers/bin/python

The bench makes and trains one tiny model that knows the replies of a judge, writes it for `transformers` and
as a GGUF file, and gives it to each server. There it runs `doctor`, the card and a turn rubric on the
examples, a conversation of several windows, Chinese, and prompts that do not fit; it prints what came of
each and exits with 1 if any did not hold. The servers run in an environment of their own, with the Python
of `--python`.
"""

from __future__ import annotations

import sys
from pathlib import Path

# The training examples and the stub behind LiteLLM are those of the tests; the package is of this checkout.
_ROOT = Path(__file__).resolve().parents[2]
for _folder in (str(_ROOT / "tests"), str(_ROOT / "src")):
    if _folder not in sys.path:
        sys.path.append(_folder)
