"""The run of answers: which stand, whose scores are of them, and runs that are none."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from dialogauge.app.progress import ProgressObserver
from dialogauge.core import StoreError, UsageError
from dialogauge.core.protocols import AgentFailure, AgentReply, AgentTurn
from dialogauge.data import Mask
from dialogauge.runs import RunDatabase, RunDirectory, RunSettings, open_run, run_study
from dialogauge.runs.privacy import Hiding
from dialogauge.studies.replay.answers import ANSWERS, AnsweringCandidate, AnswerStudy, open_answers
from dialogauge.studies.replay.items import ORIGINAL, set_plain_stage
from dialogauge.studies.replay.planted import MAKERS, about_planted, planted_replies
from dialogauge.studies.replay.selection import select_items
from talks import talk

TALKS = (
    talk("u: Where is it?", "a: On its way.", "u: When?", "a: At noon.", "u: Thanks?", "a: Welcome.", id="c"),
)
_DATA = {
    "inputs": ["log.jsonl"],
    **dict.fromkeys(("format", "map_file", "ratings_file")),
    "dimension": "satisfaction",
    "part": "all",
    "split": {"train": [], "test": []},
}
ITEMS = select_items((), "all", 9, data=_DATA, source={"source": "made", "licence": "ours"}, unrated=TALKS)
STAGE = set_plain_stage(ITEMS, TALKS)
LOG = AnsweringCandidate(ORIGINAL, {"digest": ORIGINAL, "kind": ORIGINAL})
TURNS = {
    "c__turn_0": AgentReply("Hello\ud83d", model="m"),
    "c__turn_1": AgentFailure("timeout", "late", "what came"),
    "c__turn_2": AgentReply("and so", "length"),
}


def candidate(name="a", made_by="made by", **turns):
    written = {i.id: AgentTurn({**TURNS, **turns}[i.id]) for i in ITEMS.items}
    return AnsweringCandidate(name, {"digest": made_by, "kind": "file"}, written=written)


def write(path, *candidates, items=ITEMS, **more):
    study = AnswerStudy(candidates, items, STAGE, **more)
    settings = RunSettings(directory=RunDirectory(path))
    return asyncio.run(run_study(study, settings, ProgressObserver(quiet=True))).result


def answers(path, **more):
    with open_answers(str(path)) as run:
        return {(a.candidate, a.item): a for a in run.answers(**more)}


def test_replies_and_failures_and_what_is_not_there(tmp_path) -> None:
    result = write(tmp_path / "run", LOG, candidate())
    stored = answers(tmp_path / "run")
    assert [a.failure for (name, _), a in stored.items() if name == "a"] == [None, "timeout", None]
    assert [(name, a.place) for (name, _), a in stored.items()][::3] == [(ORIGINAL, 1), ("a", 4)]
    assert (stored["a", "c__turn_2"].finish, stored["a", "c__turn_2"].length) == ("length", 6)
    with open_answers(str(tmp_path / "run")) as run:
        assert run.text(stored["a", "c__turn_0"].target) == "Hello\ufffd"
        assert run.text(stored[ORIGINAL, "c__turn_1"].target) == "At noon."
        with pytest.raises(StoreError, match="has lost a reply"):
            run.text(stored["a", "c__turn_1"].target)
        with pytest.raises(StoreError, match="has lost a reply"):
            run.text(b"x" * 16)
    tally = result.tallies["a"]
    assert (tally.requested, tally.replied, tally.failures) == (3, 2, {"timeout": 1})


def test_the_run_is_a_log_of_every_answer_in_its_state(tmp_path) -> None:
    write(tmp_path / "run", LOG, candidate())
    with open_run(str(tmp_path / "run")) as run:
        talks = list(run.database.conversations())
        rows = list(run.rows())
    by = {(c.id, c.candidate): c for c in talks}
    assert len(by) == len(rows) == 6
    assert [m.text for m in by["c__turn_2", "a"].messages[-2:]] == ["Thanks?", "and so"]
    assert (by["c__turn_2", "a"].prefix, by["c__turn_2", ORIGINAL].messages[-1].text) == (5, "Welcome.")
    assert by["c__turn_1", "a"].messages == (), "a failure keeps its name and nothing else"
    assert {(r["scores"] is None, r["failure"] and r["failure"]["kind"]) for r in rows} == {
        (False, None),
        (True, "timeout"),
    }


def test_what_a_user_gave_the_original_stands_with_it_alone(tmp_path) -> None:
    rated = replace(ITEMS, items=tuple(replace(i, gold=4.0) for i in ITEMS.items))
    stage = replace(STAGE, items=rated.items, by_block=dict.fromkeys(STAGE.by_block, rated.items))
    study = AnswerStudy((LOG, candidate()), rated, stage)
    settings = RunSettings(directory=RunDirectory(tmp_path / "run"))
    asyncio.run(run_study(study, settings, ProgressObserver(quiet=True)))
    with open_run(str(tmp_path / "run")) as run:
        given = {c.candidate: [r.score for r in c.ratings] for c in run.database.conversations()}
    assert given == {ORIGINAL: [4.0], "a": []}


def test_of_two_requests_of_one_item_the_latest_stands(tmp_path) -> None:
    write(tmp_path / "run", LOG, candidate())
    write(tmp_path / "run", candidate("b"))
    write(tmp_path / "run", candidate(made_by="others", c__turn_0=AgentReply("new")))
    stored = answers(tmp_path / "run")
    assert len(stored) == 9, "what others said stays"
    with open_answers(str(tmp_path / "run")) as run:
        assert run.text(stored["a", "c__turn_0"].target) == "new"
        assert list(run.candidates) == ["a", "b"]
    write(tmp_path / "run", candidate())
    with open_answers(str(tmp_path / "run")) as run:
        assert run.text(answers(tmp_path / "run")["a", "c__turn_0"].target) == "Hello\ufffd"


def test_another_profile_is_kept_without_asking_again_where_no_request_holds_it(tmp_path) -> None:
    def writing(profile, *candidates):
        originals = {
            name: replace(reply, conversation=replace(reply.conversation, profile=profile))
            for name, reply in STAGE.originals.items()
        }
        study = AnswerStudy((LOG, *candidates), ITEMS, replace(STAGE, originals=originals))
        settings = RunSettings(directory=RunDirectory(tmp_path / "run"))
        return asyncio.run(run_study(study, settings, ProgressObserver(quiet=True))).progress.done

    def profiles():
        with open_run(str(tmp_path / "run")) as run:
            assert len(list(run.rows())) == 9
            talks = {(c.id, c.candidate): c for c in run.database.conversations()}
        assert len(talks) == 9
        return {name: dict(c.profile or {}) for (item, name), c in talks.items() if item == "c__turn_1"}

    told = replace(candidate("told"), about={"digest": "x", "kind": "model", "context": "profile"})
    assert writing({"job": "cook"}, candidate(), told) == 9
    assert writing({"job": "pilot"}, candidate()) == 0
    assert profiles() == {ORIGINAL: {"job": "pilot"}, "a": {"job": "pilot"}, "told": {"job": "cook"}}
    assert writing(None, candidate()) == 0
    assert profiles() == {ORIGINAL: {}, "a": {}, "told": {"job": "cook"}}


def test_what_is_planted_is_not_of_the_log(tmp_path) -> None:
    write(tmp_path / "run", LOG, candidate())
    made = {name: planted_replies(name, STAGE) for name in MAKERS}
    planted = [AnsweringCandidate(name, about_planted(of), written=of) for name, of in made.items()]
    write(tmp_path / "run", *planted, planted=True)
    assert len(answers(tmp_path / "run")) == 6
    assert {name for name, _ in answers(tmp_path / "run", planted=True)} == set(MAKERS)
    with open_run(str(tmp_path / "run")) as run:
        assert {c.candidate for c in run.database.conversations()} == {ORIGINAL, "a"}


def test_what_a_candidate_says_of_hidden_names_is_hidden(tmp_path) -> None:
    mask = Mask(redact=True, hash_ids=True, salt=b"s")
    hides = Hiding(mask, {"c": {"anna-77": "u_1"}})
    write(tmp_path / "run", candidate(c__turn_0=AgentReply("Dear anna-77, call 13800138000.")), hides=hides)
    with open_answers(str(tmp_path / "run")) as run:
        (said,) = (a for a in run.answers() if a.item == "c__turn_0")
        assert run.text(said.target) == "Dear u_1, call [phone]."


def test_a_run_is_of_one_item_set(tmp_path) -> None:
    hidden = replace(ITEMS, data={**_DATA, "privacy": {"redact": True, "hash_ids": False, "salt": "00"}})
    path = tmp_path / "run"
    directory = RunDirectory(path)
    database = directory.open_for_writing("answer")
    database.close()
    directory.release()
    study = AnswerStudy((LOG,), hidden, STAGE)
    from dialogauge.runs import Privacy

    settings = RunSettings(directory=RunDirectory(path), privacy=Privacy(redact=True))
    asyncio.run(run_study(study, settings, ProgressObserver(quiet=True)))
    with open_answers(str(path)) as run:
        assert run.item_set() == hidden
        assert run.database.get_meta("privacy")["redact"] is True
    with pytest.raises(UsageError, match="of another item set"):
        write(path, LOG, items=replace(ITEMS, items=ITEMS.items[:1]))


def test_directories_that_hold_no_replay_run(tmp_path) -> None:
    def opened(name):
        with open_answers(str(tmp_path / name)):
            pass

    with pytest.raises(StoreError, match="holds no replay run"):
        opened("nothing")
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "replay.db").write_bytes(b"")
    with pytest.raises(StoreError, match="an older dialogauge wrote"):
        opened("older")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.db").write_bytes(b"no database at all, whatever it says" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        opened("damaged")


def test_a_run_of_version_0_2_0_is_refused_in_a_sentence(tmp_path) -> None:
    directory = RunDirectory(tmp_path / "old")
    database = directory.open_for_writing("answer")
    database.put_meta("study", "replay")
    database.close()
    directory.release()
    said = "an older dialogauge wrote the replay run .*old, and its rows have another form"
    with pytest.raises(StoreError, match=said):
        answers(tmp_path / "old")
    with pytest.raises(StoreError, match=said), open_run(str(tmp_path / "old"), studies=("judge",)):
        pass
    with pytest.raises(StoreError, match=said) as caught:
        write(tmp_path / "old", LOG)
    assert "into another directory" in str(caught.value)


def test_units_are_taken_over_from_another_run(tmp_path) -> None:
    write(tmp_path / "run", candidate())
    with open_answers(str(tmp_path / "run")) as run:
        one, two, _ = [unit.key for unit in run.database.units(ANSWERS)]
        other = RunDatabase(tmp_path / "other.db")
        other.take_units(run.database, ANSWERS, {two})
        assert other.unit(one) is None
        assert other.unit(two) == run.database.unit(two)
        other.close()
