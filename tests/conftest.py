"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# As every command does before it loads numpy: with more threads an iterative fit ends a few digits elsewhere.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A busy machine is no fault of the code, so no example has a deadline.
settings.register_profile("house", deadline=None, max_examples=60)
settings.load_profile("house")
