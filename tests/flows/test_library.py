"""`import dialogauge`: the same runs as the command line's, from Python."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dialogauge
from dialogauge.core import BudgetSpent, EndpointError, MissingExtra, RecordFault, StoreError, UsageError
from flows.conftest import SAMPLES, rows_of
from flows.test_interrupt import wait_for
from rated import rated_users
from servers.faults import FaultPlan
from servers.verdicts import ideal
from talks import conversation_record

FILE = SAMPLES / "held_out.jsonl"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def records() -> list[dict]:
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.long
def test_every_source_gives_the_rows_of_the_command_line(dialogauge, tmp_path) -> None:
    import dialogauge as library

    dialogauge("judge", FILE, "-o", "command")
    expected = rows_of(tmp_path / "command")
    conversations = library.read(FILE)
    sources = [FILE, str(FILE), [FILE], conversations, tuple(conversations), records(), iter(records())]
    sources += [library.open_run(tmp_path / "command")]
    for source in sources:
        run = library.judge(source)
        assert list(run.rows()) == expected
        assert run.summary.requested == len(expected)
    assert [r.faults for r in (run, conversations)] == [(), ()]


def test_one_conversation_by_itself(talk) -> None:
    record = talk("a")
    assert dialogauge.judge(record["messages"]).manifest.conversations == 1
    assert dialogauge.judge(record).conversations()[0].id == "a"
    assert dialogauge.judge(dialogauge.read(record)[0]).conversations()[0].id == "a"


def test_faults_are_kept_and_counted(talk, log) -> None:
    broken = {"id": "x", "messages": [{"role": "bottle", "content": "?"}]}
    run = dialogauge.judge([talk("a"), broken])
    assert [type(f) for f in run.faults] == [RecordFault]
    assert "source[1]: message 1 has the unknown role 'bottle'" in str(run.faults[0])
    assert run.summary.conversations.unreadable == 1
    read = dialogauge.read(log(talk("a"), b"{"))
    assert len(read) == len(read.faults) == 1
    assert dialogauge.judge(read).summary.conversations.unreadable == 1
    assert "1 conversation read as openai" in read.notes[0]
    with pytest.raises(RecordFault):
        dialogauge.judge([talk("a"), broken], strict=True)


def test_the_same_call_goes_on(talk, serve) -> None:
    stub = serve(ideal)
    at = {"model": "m", "base_url": stub.url, "out": "run", "cache": False}
    dialogauge.judge([talk("a")], **at)
    asked = len(stub.asked)
    run = dialogauge.judge([talk("a"), talk("b")], **at)
    assert [r["conversation_id"] for r in run.rows() if r["level"] == "conversation"] == ["a", "b"]
    asked_later = len(stub.asked) - asked
    dialogauge.judge([talk("a"), talk("b")], **at)
    assert len(stub.asked) - asked - asked_later <= 1  # the probe of the endpoint, if anything
    with pytest.raises(StoreError, match="holds a run of `dialogauge judge`"):
        dialogauge.run("satisfaction", rated_users(12), judge="history-mean", out="run")


def test_ratings_and_gates(talk, log, tmp_path) -> None:
    ratings = [dialogauge.Rating(n, "helpfulness", 4, 1) for n in "ab"]
    run = dialogauge.judge([talk(n) for n in "ab"], ratings=ratings, gates="rating.helpfulness.value>=1")
    assert [c.ratings for c in run.conversations()] == [(ratings[0],), (ratings[1],)]
    assert run.summary.gates[0].met
    strange = dialogauge.judge([talk("a")], ratings=ratings)
    assert "ratings[1]" in str(strange.faults[0]) or "'b'" in str(strange.faults[0])
    file = tmp_path / "ratings.csv"
    file.write_text("conversation_id,turn,dimension,score\na,1,helpfulness,4\n")
    assert dialogauge.read([talk("a")], ratings=file)[0].ratings[0].score == 4
    assert dialogauge.judge([talk("a")], ratings=file).conversations()[0].ratings[0].score == 4
    with pytest.raises(UsageError, match=r"ratings\[0\] is int"):
        dialogauge.judge([talk("a")], ratings=[1])


def test_privacy_holds_for_what_is_in_memory(talk, tmp_path) -> None:
    record = talk("a17", "Write to anna@example.com", user_id="anna")
    run = dialogauge.judge([record], redact=True, hash_ids=True, out="run")
    (kept,) = run.conversations()
    assert "[email]" in kept.messages[1].text
    assert kept.id != "a17"
    assert "anna" not in (tmp_path / "run" / "judgements.jsonl").read_text() + run.page()


def test_settings_are_checked_before_anything_is_written(talk, tmp_path) -> None:
    for settings, words in {
        (("rubrik", "card"),): "did you mean 'rubric'",
        (("base_url", "http://x"),): "need",
        (("rubric", "nope"),): "nope",
        (("gates", "x"),): "cannot read the gate",
    }.items():
        with pytest.raises(dialogauge.DialogaugeError, match=words):
            dialogauge.judge([talk("a")], out="run", **dict(settings))
    with pytest.raises(UsageError, match="there is no study 'judging'"):
        dialogauge.run("judging", [talk("a")])
    with pytest.raises(UsageError, match="the source is int"):
        dialogauge.judge(5)
    for paths in ("", ["log.jsonl", ""]):
        with pytest.raises(UsageError, match="a path is empty"):
            dialogauge.read(paths)
    assert not (tmp_path / "run" / "run.db").exists()


def test_a_rubric_of_ones_own(talk) -> None:
    run = dialogauge.judge([talk("a")], rubric="satisfaction")
    assert dialogauge.judge([talk("a")], rubric=run.rubric).manifest.settings["rubric"] == "satisfaction"


async def test_a_model_within_a_running_loop(talk, serve) -> None:
    at = {"model": "m", "base_url": serve(ideal).url}
    run = dialogauge.judge([talk("a"), talk("b")], **at)
    assert run.summary.verdicts.counts.excellent == 2
    first, second = await asyncio.gather(
        dialogauge.ajudge([talk("a")], **at), dialogauge.ajudge([talk("b")], **at)
    )
    assert [r.conversations()[0].id for r in (first, second)] == ["a", "b"]


async def test_a_cancelled_run_keeps_what_was_judged(talk, serve, tmp_path) -> None:
    stub = serve(ideal, latency=0.1)
    log = [talk(f"c{i}") for i in range(60)]
    at = {"model": "m", "base_url": stub.url, "out": "run", "cache": False, "max_concurrency": 4}
    task = asyncio.create_task(dialogauge.ajudge(log, **at))
    await asyncio.to_thread(wait_for, stub, 8)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = dialogauge.open_run("run")
    assert kept.manifest.ended == "interrupted"
    assert 4 <= len(list(kept.rows())) < 120
    assert (await dialogauge.ajudge(log, **at)).manifest.ended == "finished"


def test_a_useless_endpoint_is_raised_and_a_spent_budget_is_not(talk, serve) -> None:
    with pytest.raises(EndpointError):
        dialogauge.judge([talk("a")], model="m", base_url=serve(ideal, faults=FaultPlan(always="401")).url)
    run = dialogauge.judge(
        [talk(f"c{i}") for i in range(20)], model="m", base_url=serve(ideal).url, max_calls=5
    )
    assert run.manifest.ended == "budget"
    assert "ended early: budget" in repr(run)
    assert run.summary.conversations.pending > 0


SCRIPT = """
import dialogauge
chat = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]
log = [{"conversation_id": f"c{i}", "messages": chat} for i in range(60)]
dialogauge.judge(log, model="m", base_url=URL, out="run", cache=False, max_concurrency=4)
print("not reached")
"""


def test_ctrl_c_in_a_script_stores_what_was_judged(serve, tmp_path) -> None:
    stub = serve(ideal, latency=0.2)
    source = Path(__file__).resolve().parents[2] / "src"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT).replace("URL", repr(stub.url))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(stub, 6)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode in (1, 130, -signal.SIGINT), err
    assert "KeyboardInterrupt" in err
    assert "continues from there" in err
    assert out == ""
    run = dialogauge.open_run(tmp_path / "run")
    assert run.manifest.ended == "interrupted"
    assert 4 <= len(list(run.rows())) < 120


@pytest.mark.long
def test_satisfaction_by_name(dialogauge, log, tmp_path) -> None:
    import dialogauge as library

    data = [conversation_record(c) for c in rated_users(12)]
    dialogauge("satisfaction", log(*data), "--judge", "history-mean", "-o", "command")
    run = library.run("satisfaction", data, judge="history-mean")
    assert list(run.rows()) == rows_of(tmp_path / "command")
    assert run.summary.metrics.n == len(list(run.rows()))
    assert run.study == "satisfaction"
    shown = run._repr_html_()
    assert "<td>history-mean</td><td>0." in shown
    assert "<td>constant</td><td>undefined</td>" in shown
    with pytest.raises(UsageError, match="has no gates"):
        run.gate("failed<=0.5")
    fitted = library.run("satisfaction", data)
    assert fitted.manifest.judge["name"] == "local-user"
    assert list(fitted.rows()) == list(library.run("satisfaction", data, judge="local-user").rows())


@pytest.mark.long
def test_fit_by_name(dialogauge, log, tmp_path) -> None:
    import dialogauge as library

    data = [conversation_record(c) for c in rated_users(12)]
    dialogauge("fit", log(*data), "-o", "command")
    run = library.run("fit", data)
    of_command = library.open_run(tmp_path / "command")
    assert run.study == "fit"
    assert run.summary["metrics"] == of_command.summary["metrics"]
    assert list(run.rows()) == list(of_command.rows())
    assert "<title>" in run.page()
    assert "<td>shuffled</td><td>0." in run._repr_html_()
    for use in (run.judgements, run.to_pandas, run.to_polars):
        with pytest.raises((UsageError, MissingExtra), match=r"has no judgements|needs"):
            list(use())
    judged = library.judge(data, judge="fitted", fitted_model=run.path)
    assert judged.summary.requested == judged.summary.scored
    with pytest.raises(UsageError, match="no name for a run directory"):
        library.run("fit", data, out="coefficients.json")
    assert not (tmp_path / "coefficients.json").exists()


@pytest.mark.long
def test_replay_by_name(dialogauge, log, tmp_path, monkeypatch) -> None:
    import dialogauge as library

    (tmp_path / "candidate_of_ours.py").write_text("def reply(messages, **more):\n    return 'Gladly.'\n")
    monkeypatch.syspath_prepend(tmp_path)
    data = [conversation_record(c) for c in rated_users(12)]
    asked = {
        "judge": "history-mean",
        "candidates": "ours=py:candidate_of_ours:reply",
        "size": 20,
    }
    run = library.run("replay", data, out="run", **asked)
    words = ("--judge", "history-mean", "--candidate", asked["candidates"], "--size", 20)
    dialogauge("replay", "run", log(*data), *words, "-o", "command")
    of_command = library.open_run(tmp_path / "command")
    assert run.study == of_command.study == "answer"
    assert run.summary["views"] == of_command.summary["views"]
    assert list(run.rows()) == list(of_command.rows())
    # Each item twice: up to the reply that was sent, and up to the candidate's.
    said = {(c.id, c.candidate): c.messages[-1].text for c in run.conversations()}
    assert len(said) == len(run.conversations()) == 40
    assert {text for (_, candidate), text in said.items() if candidate == "ours"} == {"Gladly."}
    assert "ours" in run.page()
    assert "<td>ours</td><td>" in run._repr_html_()
    assert "<td>always 5</td><td>5.00 [" in run._repr_html_()
    again = library.run("replay", data, out="run", **asked)
    assert list(again.rows()) == list(run.rows())
    with pytest.raises(UsageError, match="another item set"):
        library.run("replay", data, out="run", **{**asked, "size": 10})


@pytest.mark.long
def test_replay_whose_budget_is_spent_goes_on(serve) -> None:
    stub = serve(ideal)
    asked = {"judge": "history-mean", "candidates": f"m=m@{stub.url}", "size": 20, "out": "run"}
    with pytest.raises(BudgetSpent, match="before all candidates could be compared"):
        dialogauge.run("replay", rated_users(12), max_calls=5, cache=False, **asked)
    assert len(stub.asked) <= 6
    run = dialogauge.run("replay", rated_users(12), cache=False, **asked)
    assert len(stub.asked) <= 22  # nothing is asked twice but the probe of the endpoint
    assert run.summary.candidates["m"].failures == {}
    asked["candidates"] = [asked["candidates"], f"n=n@{stub.url}"]
    with pytest.raises(BudgetSpent):  # the comparison that is there is of the first candidate alone
        dialogauge.run("replay", rated_users(12), max_calls=5, cache=False, **asked)


def test_trust_by_name(talk, serve, tmp_path) -> None:
    stub = serve(ideal)
    at = {"model": "m", "base_url": stub.url, "cache": False}
    run = dialogauge.judge([talk("a", scenario="a shop"), talk("b", scenario="a bank")], **at)
    rated = dialogauge.run("trust", run, ratings=[dialogauge.Rating("a", "helpfulness", 4, 1)])
    assert rated.path == run.path
    assert rated.temporary
    assert run.summary.trust.calibration is None
    assert rated.summary.trust.calibration.dimensions[0].n == 1
    path = rated.path
    del run
    gc.collect()
    assert path.exists()  # the later Run keeps it
    asked = len(stub.asked)
    sampled = dialogauge.run("trust", rated, scenario_sample=1)
    assert len(stub.asked) > asked
    assert sampled.summary.trust.checks.scenario_ignored.n == 1
    del rated, sampled
    gc.collect()
    assert not path.exists()
    for source, more in (([talk("a")], {}), (tmp_path, {"out": "elsewhere"})):
        with pytest.raises(UsageError, match="trust checks a finished run"):
            dialogauge.run("trust", source, **more)
    with pytest.raises(StoreError):
        dialogauge.run("trust", tmp_path / "nowhere")


def test_a_script_is_quiet_and_progress_can_be_asked_for(talk, capfd) -> None:
    dialogauge.judge([talk("a")], out="run")
    assert capfd.readouterr() == ("", "")
    dialogauge.judge([talk("a")], out="run", rubric="satisfaction", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "another judge or prompt" in err


def test_runs_without_a_directory_of_their_own_are_named_by_their_files(talk, log, tmp_path) -> None:
    old, new = log(talk("a"), name="old.jsonl"), log(talk("a", "I do not know."), name="new.jsonl")
    of_file, of_memory = dialogauge.judge(old), dialogauge.judge([talk("a", "I do not know.")])
    change = dialogauge.compare(of_file, dialogauge.judge(new))
    assert (change.figures.a.run, change.figures.b.run) == ("old", "new")
    assert dialogauge.compare(of_file, of_memory).figures.b.run == "B"
    kept = dialogauge.judge(new, out=tmp_path / "kept")
    assert dialogauge.compare(of_memory, kept).figures.b.run == "kept"


def test_a_run_says_why_it_failed() -> None:
    chat = [("user", "¿A qué hora abre el museo?"), ("assistant", "El museo abre a las nueve de la mañana.")]
    run = dialogauge.judge([[{"role": role, "content": text} for role, text in chat]])
    assert "2 failed (unsupported language)" in repr(run)


def test_a_run_writes_its_rows_and_training_rows(talk, log) -> None:
    reply = "At nine, and at ten on Sundays."
    record = talk("a", "It opens at nine.", "Sorry, I cannot help with that.", better_reply=reply)
    run = dialogauge.judge([record])
    assert run.export("rows.jsonl") == len(rows_of(run.path)) == 3
    rows = map(json.loads, Path("rows.jsonl").read_text().splitlines())
    assert [row["turn"] for row in rows] == [1, 2, None]
    with pytest.raises(UsageError, match="xlsx"):
        run.export("rows.xlsx")

    async def within_a_loop() -> int:
        return run.pairs("dpo.jsonl", chosen_field="better_reply", unchecked=True)

    assert asyncio.run(within_a_loop()) == 1
    assert json.loads(Path("dpo.jsonl").read_text())["chosen"] == [{"role": "assistant", "content": reply}]
    with pytest.raises(UsageError, match="better reply"):
        run.pairs("none.jsonl")
