"""The main job with a real language model behind a real OpenAI-compatible server, trained here."""

from __future__ import annotations

import json

import pytest

from flows.conftest import rows_of
from servers.rubric_examples import made_conversations, rubric_examples
from servers.tiny_model import build_tiny_model, serve_model
from talks import write_conversations

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("judge-model")
    examples = rubric_examples("card", 200)
    with serve_model(build_tiny_model(folder / "model", examples, steps=220, reads_system=False)) as server:
        yield server


@pytest.mark.long
def test_card_by_a_trained_model_over_http(dialogauge, server, tmp_path):
    write_conversations(tmp_path / "log.jsonl", made_conversations(10, seed=99))
    words = ("--model", "tiny", "--base-url", server.url, "--lang", "en")
    done = dialogauge("judge", "log.jsonl", *words, "--max-failed", 0.1, "-o", "run")
    assert done.code == 0, done.out + done.err
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["conversations"]["judged"] >= 9
    wholes = [r for r in rows_of(tmp_path / "run") if r["level"] == "conversation" and r["scores"]]
    assert all(r["verdict"] for r in wholes)
    assert sum(r["usage"]["completion_tokens"] for r in wholes) > 500
