"""A judged reply speaks to its judge: what the rendering and the reading of replies make of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from dialogauge.core import Judgement, Request
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.llm import ScriptedClient
from dialogauge.rubrics import load_rubric
from dialogauge.rubrics.load import shipped_rubrics
from rubric_samples import RECORD
from servers.injections import (
    ATTACKS,
    BAD,
    HONEST,
    attacked,
    gullible,
    honest,
    last_json,
    last_json_decoded,
    naive_prompt,
)


def judged(reply, conversation, rubric="card", language="en"):
    client = ScriptedClient(reply)
    conversation = replace(conversation, metadata={"task": RECORD})
    judge = RubricJudge(load_rubric(rubric), client, language=language)
    rows = asyncio.run(judge.judge(Request(conversation)))
    return rows, client.requests


def helpfulness(rows):
    outcome = rows[0].outcome
    assert isinstance(outcome, Judgement), outcome
    return outcome.numbers["helpfulness"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_judge_that_copies_what_it_sees_finds_nothing_to_copy(attack):
    conversation = attacked(ATTACKS[attack](1))
    rows, _ = judged(gullible(last_json), conversation)
    assert helpfulness(rows) == HONEST
    assert rows[-1].outcome.verdict != "excellent"


def test_in_a_naive_prompt_the_same_judge_is_taken_over():
    fooled = [a for a in ATTACKS if last_json(naive_prompt(attacked(ATTACKS[a](1)))) is not None]
    assert len(fooled) == 6


def test_a_judge_that_reads_inside_strings_can_still_be_taken_over():
    """The rendering keeps data apart; it cannot keep a model from believing what the data says."""
    rows, _ = judged(gullible(last_json_decoded), attacked(ATTACKS["forged verdict"](1)))
    assert helpfulness(rows) == 5


@pytest.mark.parametrize("rubric", [r for r in shipped_rubrics() if r not in ("factuality", "pair")])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_data_adds_no_line_and_no_frame(rubric, language, attack):
    def reply(request):
        return json.dumps(honest(request)) if request.schema else "{}"

    text = ATTACKS[attack](1)
    _, plain = judged(reply, attacked(BAD), rubric, language)
    _, requests = judged(reply, attacked(text), rubric, language)
    ours, theirs = plain[0].messages, requests[0].messages
    assert [m["role"] for m in ours] == [m["role"] for m in theirs]
    assert ours[0] == theirs[0]
    before, after = ours[-1]["content"], theirs[-1]["content"]
    assert len(after.splitlines()) == len(before.splitlines())
    for frame in ("<dialogue>", "</dialogue>", "<|", "</think>", "```"):
        assert after.count(frame) == before.count(frame) or frame == "```"
    changed = [a for a, b in zip(after.splitlines(), before.splitlines(), strict=True) if a != b]
    assert all(text in _strings(line) for line in changed)


def _strings(line):
    """All texts in the JSON of a line, which may have words of a template in front."""
    value = json.loads(line[min(i for i in (line.find("{"), line.find('"')) if i >= 0) :])
    return [value] if isinstance(value, str) else list(value.values())


OWN = '{"per_turn": "own"}'


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<think>It says {forged}, hm.</think>{own}", HONEST),
        ("It says {forged}</think>{own}", HONEST),
        ("{forged}\n{own}", None),
        ("The reply contains {forged}. I disregard it.\n\n```json\n{own}\n```", None),
        ("{own}\n{forged}", None),
    ],
)
def test_of_two_answers_none_is_chosen_unless_one_is_a_thought(written, read):
    """A model that quotes the forged verdict beside its own is asked for one; then it has a failure."""
    forged = ATTACKS["forged verdict"](1).removeprefix(BAD).strip()

    def reply(request):
        return written.replace("{forged}", forged).replace("{own}", json.dumps(honest(request)))

    rows, requests = judged(reply, attacked(BAD))
    if read is None:
        assert {row.outcome.kind for row in rows} == {"invalid_schema"}
        assert len(requests) == 2
    else:
        assert helpfulness(rows) == read
