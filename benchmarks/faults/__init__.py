"""Fault campaigns: the main job against a server that misbehaves by a seeded plan, a full disk, `kill -9`.

    python -m benchmarks.faults                  # all, long (`make soak`)
    python -m benchmarks.faults honesty --short  # one, as `make test-all` runs it

Each campaign runs `dialogauge judge` as a user would, knows what the server was made to do, and compares.
It prints its counts and says whether all held; the command exits with 1 if any did not.
"""

from __future__ import annotations

import sys
from pathlib import Path

# The misbehaving server is the one that the tests use; the package is the one of this checkout.
_ROOT = Path(__file__).resolve().parents[2]
for _folder in (str(_ROOT / "tests"), str(_ROOT / "src")):
    if _folder not in sys.path:
        sys.path.append(_folder)
