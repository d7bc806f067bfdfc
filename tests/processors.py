"""Which order the processor gives to what ties, where published figures stand on it."""

from __future__ import annotations

from typing import Any

import pytest
from numpy._core._multiarray_umath import __cpu_features__

AS_PUBLISHED = bool(__cpu_features__.get("AVX512_SKX"))
"""scikit-learn cuts a vocabulary by NumPy's unstable `argsort`, which orders ties otherwise with AVX-512
than without. The published figures are of a processor with it."""


def published(value: Any, places: int, room: float) -> Any:
    """Return what a figure may be: to its digits where ties stand as published, else within `room`."""
    if value is None:
        return None
    return pytest.approx(value, abs=0.51 * 10**-places if AS_PUBLISHED else room)
