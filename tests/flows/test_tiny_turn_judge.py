"""Agents that use tools, judged by a real language model behind a real server, trained here."""

from __future__ import annotations

import json

import pytest

from flows.conftest import rows_of
from servers.tiny_model import build_tiny_model, serve_model
from servers.tool_examples import made_trips, tool_examples
from talks import write_conversations

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

TURN = {"cohesion", "backend", "policy"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("turn-model")
    asked = [("td-turn", "joint"), ("td-turn", "separate"), ("td-dialogue", "joint"), ("td-unit", "joint")]
    examples = [e for rubric, calls in asked for e in tool_examples(rubric, 30, calls=calls)]
    with serve_model(build_tiny_model(folder / "model", examples, steps=80, reads_system=False)) as up:
        yield up


@pytest.mark.parametrize(
    ("rubric", "calls", "scored", "asks"),
    [
        ("td-turn", "joint", TURN, 1),
        ("td-turn", "separate", TURN, 3),
        ("td-dialogue", "joint", TURN | {"goal_completion"}, 1),
        ("td-unit", "joint", TURN, 1),
    ],
)
def test_nine_in_ten_replies_are_valid(dialogauge, server, tmp_path, rubric, calls, scored, asks):
    write_conversations(tmp_path / "log.jsonl", made_trips(8, seed=77))
    words = ("--rubric", rubric, "--calls", calls, "--model", "tiny", "--base-url", server.url)
    done = dialogauge("judge", "log.jsonl", *words, "--lang", "en", "--max-failed", 0.1, "-o", "run")
    assert done.code == 0, done.out + done.err
    rows = rows_of(tmp_path / "run")
    valid = [r for r in rows if r["scores"]]
    assert len(valid) >= 0.9 * len(rows)
    for row in valid:
        assert scored <= row["scores"].keys()
        assert all(isinstance(s, int | float) and 1 <= s <= 5 for s in row["scores"].values())
        assert row["details"]["domain"]
        assert rubric == "td-unit" or row["details"]["notes"].keys() == scored
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    total = summary["usage"]["total"]
    assert total["calls"] >= asks * len(rows)
    assert total["completion_tokens"] > 5 * len(rows)
