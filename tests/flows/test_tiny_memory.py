"""The memory judge with a real language model behind a real OpenAI-compatible server, trained here."""

from __future__ import annotations

import json

import pytest

from flows.conftest import rows_of
from servers.memory_examples import GOOD, made_raters, memory_examples
from servers.tiny_model import build_tiny_model, serve_model
from talks import write_conversations

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("memory-model")
    examples = memory_examples(30)
    with serve_model(build_tiny_model(folder / "model", examples, steps=250, reads_system=False)) as server:
        yield server


@pytest.mark.long
def test_memories_and_turns_by_a_trained_model_over_http(dialogauge, server, tmp_path):
    talks = made_raters(4, seed=99)
    write_conversations(tmp_path / "log.jsonl", talks)
    words = ("--judge", "memory", "--model", "tiny", "--base-url", server.url, "--lang", "en")
    done = dialogauge("satisfaction", "log.jsonl", *words, "--split", "all", "--max-failed", 0.1, "-o", "run")
    assert done.code == 0, done.out + done.err
    rows = rows_of(tmp_path / "run")
    targets = sum(len(c.ratings) for c in talks)
    assert len(rows) == targets
    scored = [row for row in rows if row["scores"]]
    assert len(scored) >= 0.9 * targets
    kept = [json.loads(line) for line in (tmp_path / "run" / "kept.jsonl").read_text().splitlines()]
    assert len(kept) == 12
    assert len({(row["user_id"], row["scenario"]) for row in scored}) == 12
    # Of two blocks the model may write the same memory: how it is trained hangs on the processor.
    assert len({row["details"]["memory"] for row in scored}) >= 11
    told = {c.id: [m.text for m in c.messages if m.role == "assistant"] for c in talks}
    # it has learnt to read the reply: good ones are satisfied turns
    right = [
        (row["details"]["class"] == "SAT") == (told[row["conversation_id"]][row["turn"] - 1] in GOOD)
        for row in scored
    ]
    assert sum(right) >= 0.7 * len(right)
