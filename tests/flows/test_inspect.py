"""Our judges in Inspect and our runs as its logs; with the real packages where they are installed."""

from __future__ import annotations

import json
import math
import zipfile

import pytest

from dialogauge import judge, read
from flows.page_commands import snippets_of
from talks import talk

FORGETFUL = talk(
    "u: Hi, order 7731 should have come on Monday. Where is it?",
    "a: Order 7731 left our warehouse on Saturday and is due tomorrow.",
    "u: Tomorrow I am away. Can it go to a pick-up point?",
    "a: Could you tell me your order number, please? Then I can look it up.",
    "u: I told you already: 7731.",
    "a: Sorry. Order 7731 now goes to the pick-up point at the station.",
    id="forgetful",
)


def test_a_run_is_read_back_from_its_log(dialogauge, tmp_path):
    judge([FORGETFUL, talk("u: Hi.", "a: Hello.", id="a/b")], out=tmp_path / "run")
    done = dialogauge("export", "run", "-o", "run.eval")
    assert done.code == 0, done.err
    header = json.loads(zipfile.ZipFile(tmp_path / "run.eval").read("header.json"))
    (helpful,) = (s for s in header["results"]["scores"] if s["name"] == "helpfulness")
    assert (helpful["scored_samples"], header["results"]["total_samples"]) == (4, 2)
    first, second = sorted(read(tmp_path / "run.eval"), key=lambda c: len(c.messages), reverse=True)
    assert [m.text for m in first.messages] == [m.text for m in FORGETFUL.messages]
    assert first.candidate is None
    assert second.ratings == ()
    scores = {one["dimension"]: one["value"] for one in second.metadata["evaluations"]}
    assert scores["dialogauge.helpfulness"] == 5
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert helpful["metrics"]["mean"]["value"] == summary["dimensions"]["helpfulness"]["mean"]
    assert dialogauge("export", "run", "-o", "run.xlsx").code == 2


def test_no_id_is_lost_or_leads_out_of_the_log(dialogauge, tmp_path):
    ids = ["a\0b", "a\0c", "../x", "a/b", "a_b", "..", "\u665a\u996d", "x" * 300]
    judge([talk("u: Hi.", "a: Hello.", id=id) for id in ids], out=tmp_path / "run")
    assert dialogauge("export", "run", "-o", "run.eval").code == 0
    with zipfile.ZipFile(tmp_path / "run.eval") as log:
        names = [name for name in log.namelist() if name.startswith("samples/")]
        samples = [json.loads(log.read(name)) for name in names]
    assert len(set(names)) == len(ids)
    assert {f"samples/{s['id']}_epoch_1.json" for s in samples} == set(names)
    assert all(name.count("/") == 1 and len(name.encode()) < 250 for name in names)
    assert {s["metadata"].get("conversation_id", s["id"]) for s in samples} == set(ids)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """The folder with the log of a task that our scorer scored, and the log."""
    pytest.importorskip("inspect_ai", reason="inspect_ai is not installed (make inspect)")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    from dialogauge.door.inspect_ai import quality

    kinds = {"user": ChatMessageUser, "assistant": ChatMessageAssistant}
    *asked, last = FORGETFUL.messages
    reply = ModelOutput.from_content("mockllm", last.text)
    reply.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # it would ask the network
    task = Task(
        dataset=[Sample(input=[kinds[m.role](content=m.text) for m in asked], id="forgetful")],
        solver=generate(),
        scorer=quality("findings", "helpfulness", "coherence", "safety", unchecked=True),
    )
    folder = tmp_path_factory.mktemp("inspect")
    model = get_model("mockllm/model", custom_outputs=[reply])
    (log,) = eval(task, model=model, log_dir=str(folder / "logs"), display="none")
    return folder, log


def test_a_task_is_scored(evaluated):
    _, log = evaluated
    assert log.status == "success", log.error
    score = log.samples[0].scores["quality"]
    assert score.value["helpfulness"] == pytest.approx(13 / 3)
    assert math.isnan(score.value["safety"])
    assert score.value["findings"] == 2
    assert score.explanation.startswith("UNCHECKED")
    assert "Asks for the order number, which the user gave in turn 1." in score.explanation
    counts = {s.name: (s.scored_samples, s.unscored_samples) for s in log.results.scores}
    assert counts == {"findings": (1, 0), "helpfulness": (1, 0), "coherence": (1, 0), "safety": (0, 1)}


@pytest.mark.parametrize("snippet", snippets_of("docs/inspect.md", "python"))
def test_the_snippets_of_the_page(evaluated, snippet, monkeypatch, tmp_path):
    if "inspect_scout" in snippet:
        pytest.importorskip("inspect_scout", reason="inspect_scout is not installed (make inspect)")
    folder, log = evaluated
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(snippet, "inspect.md", "exec"), names)
    if "support" in names:
        assert names["support"](log.samples[:0] or [{"input": "Hi."}]).scorer
    else:
        assert names["look_at"](str(folder / "logs")).complete


def test_transcripts_are_scanned(evaluated):
    pytest.importorskip("inspect_scout", reason="inspect_scout is not installed (make inspect)")
    from inspect_scout import scan, scan_results_df, transcripts_from

    from dialogauge.door.inspect_ai import findings

    folder, log = evaluated
    logs, scans = transcripts_from(str(folder / "logs")), str(folder / "scans")
    status = scan([findings()], transcripts=logs, scans=scans, display="none", max_processes=1)
    assert status.complete, status.errors
    frame = scan_results_df(status.location).scanners["findings"]
    assert frame["value"].tolist() == [2]
    (reference, *_) = json.loads(frame["message_references"][0])
    reply = next(m for m in log.samples[0].messages if m.text.startswith("Could you tell me"))
    assert (reference["cite"], reference["id"]) == ("[M4]", reply.id)
    assert frame["explanation"][0].startswith("[M4] Asks for the order number")


def test_inspect_reads_our_log(evaluated, tmp_path):
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    from dialogauge.app.export import export_run

    judge([FORGETFUL], out=tmp_path / "run")
    file = tmp_path / "run.eval"
    assert export_run(str(tmp_path / "run"), str(file)) == 1
    log = read_eval_log(str(file))
    assert (log.status, log.samples[0].id) == ("success", "forgetful")
    assert log.samples[0].scores["dialogauge"].value["coherence"] == 3
    assert len(read_eval_log_sample_summaries(str(file))) == 1
