"""Write the needles of the markers: `python tools/needles.py`, after a pattern was changed.

A test compares the file with the markers (`tests/unit/signals/test_marker.py`).
"""

from __future__ import annotations

import json

import dialogauge.signals.features  # noqa: F401 - every marker is made when its module is loaded
import dialogauge.signals.markers as signs
from dialogauge.text import required, spread


def needles() -> dict[str, list[list[list[str]]]]:
    """Return for each pattern, by its digest, what each of its alternatives cannot do without."""
    patterns = sorted({marker.pattern for kind in (signs.Marker, signs.ReplyMarker) for marker in kind._all})
    return {
        signs.digest_of(pattern): [
            [sorted(strings) for strings in required(part)] for part in spread(pattern)
        ]
        for pattern in patterns
    }


if __name__ == "__main__":
    lines = (
        f"{json.dumps(key)}: {json.dumps(parts, ensure_ascii=False)}" for key, parts in needles().items()
    )
    signs.NEEDLES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
