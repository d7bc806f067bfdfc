"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no fault of the code, so no example has a deadline.
settings.register_profile("house", deadline=None, max_examples=60)
settings.load_profile("house")
