"""`rag` and `spur` with a real language model behind a real OpenAI-compatible server, trained here."""

from __future__ import annotations

import json

import pytest

from flows.conftest import rows_of
from servers.satisfaction_examples import rated_conversations, satisfaction_examples
from servers.tiny_model import build_tiny_model, serve_model
from talks import write_conversations

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("satisfaction-model") / "model"
    examples = [e for judge in ("rag", "spur") for e in satisfaction_examples(judge, 30)]
    with serve_model(build_tiny_model(folder, examples, steps=260, reads_system=False)) as server:
        yield server


@pytest.mark.long
@pytest.mark.parametrize("judge", ["rag", "spur"])
def test_by_a_trained_model_over_http(dialogauge, server, tmp_path, judge) -> None:
    write_conversations(tmp_path / "log.jsonl", rated_conversations(8, seed=99))
    words = ("--judge", judge, "--model", "tiny", "--base-url", server.url, "--lang", "en")
    more = ("--k", 2) if judge == "rag" else ()
    done = dialogauge("satisfaction", "log.jsonl", *words, *more, "--max-failed", 0.1, "-o", "run")
    assert done.code == 0, done.out + done.err
    rows = rows_of(tmp_path / "run")
    scored = [row for row in rows if row["scores"]]
    assert len(scored) >= 0.9 * len(rows) > 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    if judge == "rag":  # it has learnt what the users want: the control that deals its scores stays behind
        assert summary["metrics"]["f1_dsat"] >= 0.8
        assert summary["metrics"]["f1_dsat"] > summary["controls"]["shuffled"]["f1_dsat"]
    else:  # both phases of the induction were the model's as well
        assert sum(row["usage"]["calls"] for row in rows) > len(rows) + 2
    assert (summary["boundary_only"] is None) == (judge == "rag")
    assert summary["rationale"]["terms"]["rationales"] > 0
