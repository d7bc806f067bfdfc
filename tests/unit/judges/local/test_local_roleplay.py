"""The local judge by the rubric `roleplay`; all sessions are our own."""

from dataclasses import replace

import pytest

from dialogauge.core import Judgement, Request
from dialogauge.core.conversation import PREFIX
from dialogauge.judges.local.judge import RUBRICS, LocalJudge
from dialogauge.judges.local.roleplay import ROLEPLAY_DIMENSIONS, load_roleplay
from dialogauge.signals import roleplay_signs
from dialogauge.studies.judging.study import request_of
from talks import talk, unit_of

SYSTEM = "s: Mira sells maps in Old Harbour. She is witty and teases. Her brother Jon was lost at sea."
ASKED = ("Do you have a map of the reef?", "What happened to your brother?", "I leave at dawn.")
LIVELY = (
    "(grins) Of the reef? Three. Two of them lie. Which would you like?",
    "Jon? The sea kept him, off the reef. (rolls up the map) Why, are you sailing there?",
    "Then take the true one, not the pretty one. And bring me a shell, will you?",
)
CANNED = (
    "I understand your question. Maps support every journey. Let me know if you have any other questions.",
    "I understand your question. Family gives us strength. Let me know if you have any other questions.",
    "I understand your question. Together we embrace the future. Let me know if you have any questions.",
)


def session(replies, **more):
    lines = (f"u: {asked}\na: {reply}".split("\n") for asked, reply in zip(ASKED, replies, strict=True))
    return talk(SYSTEM, *(line for pair in lines for line in pair), **more)


def judged(conversation):
    (row,) = LocalJudge(rubric_id="roleplay").judge_now(conversation)
    return row


def scores(conversation):
    return {name: score.value for name, score in judged(conversation).outcome.scores.items()}


def test_a_session_has_four_scores_and_says_what_they_stand_on():
    row = judged(session(LIVELY))
    assert (row.target.level, row.target.turn) == ("conversation", None)
    assert isinstance(row.outcome, Judgement)
    assert tuple(row.outcome.scores) == ROLEPLAY_DIMENSIONS
    assert row.outcome.details["replies"] == 3
    assert row.outcome.details["signs"].keys() == set(ROLEPLAY_DIMENSIONS)


def test_a_played_character_is_above_an_assistant_in_every_dimension():
    played, canned = scores(session(LIVELY)), scores(session(CANNED))
    assert [name for name in ROLEPLAY_DIMENSIONS if played[name] <= canned[name]] == []


def test_a_forgotten_brother_lowers_what_the_dimensions_of_memory_say():
    forgotten = (LIVELY[0], "My brother? I never had a brother named Peter in Lisbon.", LIVELY[2])
    well, badly = scores(session(LIVELY)), scores(session(forgotten))
    assert badly["contextual_coherence"] < well["contextual_coherence"]


async def test_what_stands_before_the_prefix_is_history_alone():
    whole = session(LIVELY)
    prefixed = replace(whole, metadata={PREFIX: 5})
    judge = LocalJudge(rubric_id="roleplay")
    (now,) = judge.judge_now(prefixed)
    assert (now,) == await judge.judge(request_of(unit_of(prefixed)))
    assert now.outcome.details["replies"] == 1
    assert now.target.level == "conversation"
    first, *_ = CANNED
    changed = replace(session((first, *LIVELY[1:])), metadata={PREFIX: 5})
    assert scores(changed)["role_consistency"] > scores(session(CANNED))["role_consistency"]


async def test_it_says_when_it_cannot_judge():
    judge = LocalJudge(rubric_id="roleplay")
    for conversation, kind in (
        (talk(SYSTEM, "u: Hello?"), "no_reply"),
        (
            talk("u: Hola, quiero una mesa para dos", "a: Claro, ¿para qué hora quiere la mesa?"),
            "unsupported_language",
        ),
    ):
        (row,) = await judge.judge(Request(conversation))
        assert row.outcome.kind == kind


@pytest.mark.parametrize("reply", ["", "?", "（点头）", "((((", "x" * 20_000])
def test_any_reply_has_scores_on_the_scale(reply):
    values = scores(talk("s: 老陈守塔。", "u: 你好，请问你是谁？", f"a: {reply}")).values()
    assert all(1 <= value <= 5 for value in values)


def test_the_weights_are_of_signs_that_are_read_and_of_the_four_dimensions():
    weights = load_roleplay()
    assert tuple(weights.centre) == tuple(weights.spread) == roleplay_signs()
    assert tuple(weights.weights) == tuple(weights.measured) == ROLEPLAY_DIMENSIONS
    assert {name for of in weights.weights.values() for name in of} <= set(roleplay_signs())


def test_the_manifest_names_what_is_not_above_its_controls():
    described = LocalJudge(rubric_id="roleplay").describe()
    weak = {name for name, of in load_roleplay().measured.items() if of["not_above"]}
    assert [name for name in weak if name not in described["notes"][0]] == []
    assert described["checked_languages"] == []
    assert "roleplay" in RUBRICS
    assert len({LocalJudge(rubric_id=name).digest for name in RUBRICS}) == len(RUBRICS)
