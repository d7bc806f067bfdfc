"""The arena with a real language model behind a real OpenAI-compatible server, trained here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from servers.rubric_examples import made_conversations, pair_examples
from servers.tiny_model import build_tiny_model, serve_model
from talks import write_conversations

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("pair-model")
    with serve_model(
        build_tiny_model(folder / "model", pair_examples(200), steps=120, reads_system=False)
    ) as up:
        yield up


@pytest.mark.long
def test_agents_are_ranked_by_a_trained_model_over_http(dialogauge, server, tmp_path):
    asked = [talk.messages[0] for talk in made_conversations(8, seed=50, turns=(1, 1))]
    for number, name in enumerate(("alpha", "beta", "gamma")):
        talks = made_conversations(8, seed=50 + number, turns=(1, 1))
        named = [
            replace(talk, id=f"d{i}", messages=(question, *talk.messages[1:]))
            for i, (talk, question) in enumerate(zip(talks, asked, strict=True))
        ]
        write_conversations(tmp_path / f"{name}.jsonl", named)
    files = [tmp_path / f"{name}.jsonl" for name in ("alpha", "beta", "gamma")]
    model = ("--model", "tiny", "--base-url", server.url, "--lang", "en")
    done = dialogauge("arena", *files, *model, "--max-failed", 0.1, "--unchecked", "-o", "run", "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["votes"] >= 22
    assert done.json["position"]["meetings"] == done.json["votes"]
    assert len(done.json["agents"]) == 3
