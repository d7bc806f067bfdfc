from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialogauge.app.merging import settings_from
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.pairs.command import ENTRY, PairResult
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.app.progress import ProgressObserver
from dialogauge.core import (
    BudgetSpent,
    ConfigError,
    Conversation,
    Judged,
    Judgement,
    Target,
    UsageError,
    as_scores,
)
from dialogauge.training.pairs import plain_message
from talks import judged_rows, talk

WEAKEST = {"a": 1, "b": 2, "fine": None}
TALKS = [
    talk("s: rules", "u: hi", "a: bad a", "u: so?", "a: well", id="a"),
    talk("u: hi", "a: well", "u: find it", "c: look", "t: found", "a: bad b", id="b"),
    talk("u: hi", "a: well", "u: thanks", id="fine"),
]

MODEL = """
import json

def better(messages):
    return json.dumps({"reply": "better: " + str(len(messages))})

def same(messages):
    return json.dumps({"reply": "bad a"})

def broken(messages):
    raise RuntimeError("down")

number = 3
"""


def rows(conversation: Conversation, _: int) -> tuple[Judged, ...]:
    weakest = WEAKEST[conversation.id]
    turns = [
        Judged(
            Target(conversation.id, "turn", t.number),
            Judgement(
                as_scores({"helpfulness": 2 if t.number == weakest else 5}),
                issues=("vague",) if t.number == weakest else (),
            ),
        )
        for t in conversation.replied_turns
    ]
    whole = Judgement(
        as_scores({"coherence": 5}),
        verdict="good" if weakest else "excellent",
        verdict_basis="full",
        weakest_turn=weakest,
    )
    return (*turns, Judged(Target(conversation.id, "conversation"), whole))


@pytest.fixture
def run(desk: Any, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = f"model_{abs(hash(request.node.nodeid))}"
    (desk.folder / f"{name}.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(desk.folder))
    desk.module = name
    desk.judge.rows = rows
    desk.run(desk.log(*TALKS))
    return str(desk.folder / "run")


NOTES = ("nobody rated this run, and its judge is not checked",)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def pairs(run: str, **options: Any) -> tuple[PairResult, list[dict[str, Any]], list[dict[str, Any]]]:
    out = Path(run).parent / "made" / "pairs.jsonl"
    return outcome_of(run, **options).result, lines(out), lines(out.with_name("pairs.provenance.jsonl"))


def outcome_of(run: str, **options: Any) -> CommandOutcome[PairResult]:
    out = Path(run).parent / "made" / "pairs.jsonl"
    settings = {"inputs": (run,), "out": str(out), "unchecked": True, **options}
    return ENTRY.carry_out(settings_from(PairOptions, **settings), ProgressObserver(quiet=True))


# -- preference pairs -----------------------------------------------------------------------------


def test_a_model_writes_the_better_replies(desk: Any, run: str) -> None:
    result, found, sources = pairs(run, model=f"py:{desk.module}:better")
    balance = {"rejected by the judge": 2}
    left_out = {"no weakest turn": 1}
    assert result.rewarded is not None
    assert result.rewarded.first_line.startswith("Note: of 2 pairs the chosen side is longer")
    assert replace(result, rewarded=None) == PairResult(
        2, left_out, unchecked=2, repaired=2, balance=balance, notes=NOTES
    )
    assert [row.pop("unchecked") for row in found] == [True, True]
    assert found == [
        {
            "prompt": [plain_message(m) for m in TALKS[0].messages[:2]],
            "chosen": [{"role": "assistant", "content": "better: 2"}],
            "rejected": [{"role": "assistant", "content": "bad a"}],
        },
        {
            "prompt": [plain_message(m) for m in TALKS[1].messages[:5]],
            "chosen": [{"role": "assistant", "content": "better: 2"}],
            "rejected": [{"role": "assistant", "content": "bad b"}],
        },
    ]
    assert sources[0].pop("run") == run
    assert len(sources[0].pop("run_digest")) == len(sources[0].pop("judge_digest")) == 32
    assert sources[0] == {
        "unchecked": True,
        "conversation_id": "a",
        "turn": 1,
        "judge": "fake",
        "prompt_digest": None,
        "verdict": "good",
        "quality": 0.25,
        "issues": ["vague"],
        "chosen_from": f"py:{desk.module}:better",
        "source": "judge",
        "rating": None,
    }
    assert [(s["conversation_id"], s["turn"]) for s in sources] == [("a", 1), ("b", 2)]


def test_what_a_model_cannot_better_is_left_out_and_counted(desk: Any, run: str) -> None:
    result, found, _ = pairs(run, model=f"py:{desk.module}:same")
    assert [row["rejected"][0]["content"] for row in found] == ["bad b"]
    assert result.left_out == {"no weakest turn": 1, "no better reply: invalid_schema": 1}
    result, found, _ = pairs(run, model=f"py:{desk.module}:broken")
    assert found == []
    assert result.left_out == {"no weakest turn": 1, "no better reply: judge_error": 2}


def test_a_limit_saves_calls_and_is_counted(desk: Any, run: str) -> None:
    result, found, _ = pairs(run, model=f"py:{desk.module}:better", limit=1, max_calls=1)
    assert len(found) == 1
    left_out = {"no weakest turn": 1, "over --limit": 1}
    balance = {"rejected by the judge": 1}
    assert replace(result, rewarded=None) == PairResult(
        1, left_out, unchecked=1, repaired=1, balance=balance, notes=NOTES
    )


def test_a_spent_budget_keeps_what_was_written(desk: Any, run: str) -> None:
    outcome = outcome_of(run, model=f"py:{desk.module}:better", max_calls=1, max_concurrency=1)
    assert outcome.result.written == len(lines(Path(run).parent / "made" / "pairs.jsonl")) == 1
    assert isinstance(outcome.ending.error, BudgetSpent)
    assert outcome.exit_code == 1
    assert outcome.result.left_out == {"no weakest turn": 1, "not asked: the run ended early": 1}


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("py:nosuchmodule:f", "nosuchmodule"),
        ("py:{module}:nothing", "nothing"),
        ("py:{module}:number", "not callable"),
        ("py:{module}", "has not the form py:MODULE:NAME"),
    ],
)
def test_a_model_that_cannot_be_loaded(desk: Any, run: str, reference: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        pairs(run, model=reference.format(module=desk.module))


def test_a_column_gives_the_better_replies(desk: Any) -> None:
    desk.judge.rows = rows
    log = desk.log(*TALKS, keys={"better": "From the record."})
    records = [json.loads(line) for line in Path(log).read_text().splitlines()]
    records[1]["messages"][-1]["better"] = "From the message."
    del records[2]["better"]
    Path(log).write_text("".join(json.dumps(r) + "\n" for r in records))
    desk.run(log)
    result, found, sources = pairs(str(desk.folder / "run"), chosen_field="better")
    assert [row["chosen"][0]["content"] for row in found] == ["From the record.", "From the message."]
    assert sources[0]["chosen_from"] == "field better"
    assert all(
        set(m) <= {"role", "content", "tool_calls", "tool_call_id"} for row in found for m in row["prompt"]
    )
    assert result.left_out == {"no weakest turn": 1}


def test_a_column_that_is_missing_or_repeats_the_weak_reply(desk: Any) -> None:
    desk.judge.rows = rows
    desk.run(desk.log(*TALKS, keys={"better": " bad a ", "number": 3}))
    result, found, _ = pairs(str(desk.folder / "run"), chosen_field="better")
    assert [row["rejected"][0]["content"] for row in found] == ["bad b"]
    assert result.left_out == {"no weakest turn": 1, "'better' is the weak reply itself": 1}
    with pytest.raises(
        UsageError, match="2 left out: no 'number' at the weakest turn or on the conversation"
    ):
        pairs(str(desk.folder / "run"), chosen_field="number")


# -- the other kinds ------------------------------------------------------------------------------


def test_kto(run: str) -> None:
    result, found, sources = pairs(run, kind="kto")
    assert [
        (s["conversation_id"], s["turn"], row["label"]) for s, row in zip(sources, found, strict=True)
    ] == [
        ("a", 1, False),
        ("a", 2, True),
        ("b", 1, True),
        ("b", 2, False),
    ]
    assert found[1]["prompt"] == [plain_message(m) for m in TALKS[0].messages[:4]]
    assert found[1]["completion"] == [{"role": "assistant", "content": "well"}]
    assert result.left_out == {"the same row once more": 1}  # fine, 1 says what b, 1 does


def test_sft(run: str) -> None:
    result, found, sources = pairs(run, kind="sft", min_verdict="excellent")
    assert found == [{"unchecked": True, "messages": [plain_message(m) for m in TALKS[2].messages[:2]]}]
    assert sources[0]["turn"] is None
    assert result.left_out == {"verdict below excellent": 2}
    whole = PairResult(3, {}, unchecked=3, balance={"good by the judge": 3}, notes=NOTES)
    assert pairs(run, kind="sft")[0] == whole


def test_active(run: str) -> None:
    result, found, _ = pairs(run, kind="active", limit=2)
    assert [(row["conversation_id"], row["reason"]) for row in found] == [("a", "lowest"), ("b", "uncertain")]
    assert found[0]["messages"] == [m.to_openai() for m in TALKS[0].messages]
    assert result.left_out == {"ranked lower": 1}


def test_a_limit_of_rows(run: str) -> None:
    result, found, sources = pairs(run, kind="kto", limit=2)
    assert len(found) == len(sources) == 2
    assert result.left_out == {"over --limit": 2, "the same row once more": 1}


def test_repeats_are_brought_together(desk: Any) -> None:
    def torn(conversation: Conversation, repeat: int) -> tuple[Judged, ...]:
        return judged_rows(conversation, weakest=1 if repeat < 3 else 2)

    desk.judge.rows = torn
    desk.run(desk.log(*TALKS[:2], keys={"better": "x"}), repeats=3)
    result, found, _ = pairs(str(desk.folder / "run"), chosen_field="better")
    assert [row["rejected"][0]["content"] for row in found] == ["bad a", "well"]
    assert result.written == 2


def test_nothing_was_judged(desk: Any) -> None:
    desk.judge.rows = lambda c, _: judged_rows(c, failed=True)
    desk.run(desk.log(*TALKS))
    run = str(desk.folder / "run")
    for more in ({"kind": "sft"}, {"kind": "kto"}, {"chosen_field": "x"}):
        with pytest.raises(UsageError, match=r"every judgement of .*/run failed"):
            pairs(run, **more)
    assert [row["reason"] for row in pairs(run, kind="active")[1]] == ["failed"] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "ppo"}, "kind 'ppo' is not one of dpo, kto, sft, active, segment, rl"),
        ({"target": "axolotl"}, "target 'axolotl' is not one of trl"),
        ({"min_verdict": "fine"}, "min_verdict 'fine' is not one of excellent, good, borderline, poor"),
        ({}, "nothing supplies one: no ratings, model or column"),
    ],
)
def test_what_does_not_exist_is_refused(run: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pairs(run, **options)
    assert not (Path(run).parent / "made").exists()
