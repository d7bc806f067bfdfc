"""Write the needles of the markers: `python tools/needles.py`, after a pattern was changed.

A test compares the file with the markers (`tests/unit/signals/test_marker.py`).
"""

from __future__ import annotations

import json

import dialogauge.signals.features  # noqa: F401 - every marker is made when its module is loaded
import dialogauge.signals.markers as signs


def needles() -> dict[str, signs.StoredNeedles]:
    """Return for each pattern, by its digest, its alternatives and what each cannot do without."""
    patterns = sorted({marker.pattern for kind in (signs.Marker, signs.ReplyMarker) for marker in kind._all})
    return {signs.digest_of(pattern): signs.needles_by_alternative(pattern) for pattern in patterns}


if __name__ == "__main__":
    lines = (
        f"{json.dumps(key)}: {json.dumps(parts, ensure_ascii=False)}" for key, parts in needles().items()
    )
    signs.NEEDLES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
