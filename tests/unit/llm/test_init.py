from __future__ import annotations

import subprocess
import sys

import pytest

import dialogauge.llm as room


def test_every_public_name_is_there():
    assert room.__all__ == sorted(room.__all__)
    for name in room.__all__:
        assert getattr(room, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing"):
        _ = room.nothing


def test_importing_the_room_loads_no_client():
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import dialogauge.llm;"
        "from dialogauge.llm import extract_object;"
        "from dialogauge.llm import ScriptedClient, CachedClient, ask;"
        "print([m for m in ('aiohttp', 'torch', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, *sys.path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
