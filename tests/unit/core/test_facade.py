"""Packages whose names load on first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dialogauge import core, report, runs, stats


@pytest.mark.parametrize("room", [core, report, runs, stats])
def test_a_face_lists_its_names_in_order(room: object) -> None:
    names = room.__all__
    assert len(names) > 20
    assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


def test_a_name_loads_its_module_and_no_other() -> None:
    code = (
        "import sys, dialogauge.stats as s; s.__all__; s.half_even; "
        "print([m for m in sys.modules if m.startswith('dialogauge.stats.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['dialogauge.stats.score_history']"
