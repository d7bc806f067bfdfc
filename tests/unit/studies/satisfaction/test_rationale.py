"""The rationale check, on conversations whose words are known."""

from __future__ import annotations

import pytest

from dialogauge.core import Conversation, Judged, JudgeFailure, Judgement, Message, Rating, Target, as_scores
from dialogauge.core.json_keys import as_json
from dialogauge.data import UserSplit
from dialogauge.rubrics import load_rubric
from dialogauge.studies.satisfaction.blocks import study_data
from dialogauge.studies.satisfaction.rationale import (
    NO_REASON,
    OTHER_WORDS,
    REASONS,
    SATISFIED,
    Sources,
    Vocabulary,
    check_rationales,
    reason_of,
    terms_of,
)

ASKS = {
    "gift": "Suggest an anniversary present for my partner, budget 500.",
    "trip": "Plan a train journey to Kyoto with temples and gardens.",
    "learn": "Teach me Spanish grammar with weekly exercises.",
}
ANSWERS = {
    "gift": "A silver necklace or a leather wallet would suit.",
    "trip": "Take the express, visit the golden temple, stay in a guesthouse.",
    "learn": "Week one covers verbs, week two covers nouns.",
}


def talk(user, scenario, score, reason=None):
    id = f"{user}__{scenario}__0"
    messages = (Message("user", ASKS[scenario]), Message("assistant", ANSWERS[scenario]))
    rating = Rating(id, "satisfaction", score, 1, user, note=reason)
    return Conversation(id, messages, user_id=user, scenario=scenario, ratings=(rating,))


def study(*extra):
    talks = [
        talk("me", "gift", 2, "不满足需求"),
        talk("me", "trip", 3, "不够细致"),
        talk("me", "learn", 5),
        talk("you", "gift", 3, "insufficient detail"),
        talk("you", "learn", 1, "boring"),
        talk("t", "gift", 3, "不可用"),
        talk("t", "trip", 2, "不可用"),
        *extra,
    ]
    return study_data(talks, split=UserSplit(frozenset({"t"}), frozenset({"me", "you"})))


def judged(score, label=None, rationale=None):
    details = {} if label is None else {"labels": {"reason": label}}
    judgement = Judgement(as_scores({"satisfaction": score}), rationale=rationale, details=details)
    return (Judged(Target("c", "turn", 1), judgement),)


FAILED = (Judged(Target("c", "turn", 1), JudgeFailure("timeout", "no reply")),)


def checked(rows):
    found = study()
    by_block = [rows.get(b.view.id, FAILED) for b in found.blocks]
    return check_rationales(found.blocks, by_block, found.population)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("不够细致", "insufficient_detail"),
        (" Insufficient detail ", "insufficient_detail"),
        ("其他", "other"),
        ("满意", SATISFIED),
        ("need_not_met", "need_not_met"),
        ("boring", OTHER_WORDS),
        ("", NO_REASON),
        (None, NO_REASON),
    ],
)
def test_reasons_by_any_spelling(text, name) -> None:
    assert reason_of(text) == name


def test_the_reasons_are_those_of_the_shipped_rubric() -> None:
    (label,) = load_rubric("satisfaction").labels
    assert {o.name for o in label.options} == {*REASONS, SATISFIED}


def test_a_judge_without_reasons_and_rationales_is_not_checked() -> None:
    assert checked({"me__gift": judged(4)}) is None


def test_confusion_table_and_agreement() -> None:
    found = checked(
        {
            "me__gift": judged(3, "need_not_met", "No present is chosen within the budget."),
            "me__trip": judged(2, "need_not_met", "The temples are missing."),
            "me__learn": judged(5, "satisfied", "Weekly exercises are there."),
            "you__gift": judged(4, "satisfied", "A necklace is a fine present."),
            "you__learn": judged(2, "insufficient_detail", "The grammar is thin."),
        }
    )
    table = {(a, b): n for a, row in found.reasons.items() for b, n in row.items() if n}
    assert table == {
        ("need_not_met", "need_not_met"): 1,
        ("insufficient_detail", "need_not_met"): 1,
        (SATISFIED, SATISFIED): 1,
        ("insufficient_detail", SATISFIED): 1,
        (OTHER_WORDS, "insufficient_detail"): 1,
    }
    # Both have a reason of the taxonomy on two turns; the judge's two are the same, so chance agrees on half.
    agreement = found.reason_agreement
    assert (agreement.n, agreement.agreed, agreement.controls["shuffled"], agreement.kappa) == (
        2,
        0.5,
        0.5,
        0,
    )
    assert (agreement.constant_reason, agreement.controls["constant"]) == ("not_usable", 0)
    assert found.missed == 1
    assert found.kinds == {"core": 1, "not_core": 1, "off_task": 0}
    assert [c.turn_id for c in found.examples["core"]] == ["me__gift__0__turn_0"]


def test_where_the_terms_of_a_rationale_come_from() -> None:
    blocks = study().blocks
    block = next(b for b in blocks if b.view.id == "me__gift")
    text = "The budget is ignored, temples and Spanish verbs are missing, quite disappointing."
    assert {r.reply.conversation.scenario for r in block.view.history} == {"trip", "learn"}
    origin = Sources(Vocabulary(blocks, [text]), block).origin(text, block.view.targets[0].conversation)
    assert origin is not None
    assert origin.here == terms_of("budget")
    assert origin.sources_only == origin.of_sources == terms_of("temples Spanish verbs")
    assert origin.neither == terms_of("ignored missing disappointing")
    assert origin.off_task


def test_a_word_that_others_use_in_the_scenario_is_not_at_home_elsewhere() -> None:
    """`plan` occurs in my trip and not in my gift, but others plan gifts; temples are no gifts."""
    talks = [talk("me", "gift", 2, "other"), talk("me", "trip", 3, "other")]
    for user in ("he", "she"):
        messages = (Message("user", "Plan a present."), Message("assistant", "Here it is."))
        id = f"{user}__gift__0"
        rating = Rating(id, "satisfaction", 4, 1, user)
        talks.append(Conversation(id, messages, user_id=user, scenario="gift", ratings=(rating,)))
    split = UserSplit(frozenset(), frozenset({"me", "he", "she"}))
    blocks = study_data(talks, split=split).blocks
    text = "A plan and temples."
    block = next(b for b in blocks if b.view.id == "me__gift")
    origin = Sources(Vocabulary(blocks, [text]), block).origin(text, block.view.targets[0].conversation)
    assert origin is not None
    assert origin.sources_only == terms_of("plan temples")
    assert origin.of_sources == terms_of("temples")


def test_imported_requirements_are_off_task_and_stand_beside_chance() -> None:
    found = checked(
        {
            "me__gift": judged(3, "need_not_met", "Kyoto temples and Spanish grammar exercises are missing."),
            "you__gift": judged(2, "insufficient_detail", "The necklace and the wallet have no price."),
        }
    )
    assert found.kinds == {"core": 1, "not_core": 0, "off_task": 1}
    (case,) = found.examples["off_task"]
    assert set(case.of_sources) == terms_of("Kyoto temples Spanish grammar exercises")
    assert case.judge_reason == case.user_reason  # the right label, the wrong grounds
    assert found.terms.off_task == 1
    assert found.terms.rationales == 2
    assert found.terms.terms == found.terms.here + found.terms.sources_only + found.terms.neither
    # the other user learns languages too, and never went anywhere
    assert found.terms_by_chance is not None
    assert 0 < found.terms_by_chance.sources_only < found.terms.sources_only


def test_another_language_cannot_be_compared() -> None:
    found = checked({"me__gift": judged(3, "need_not_met", "没有考虑用户的预算，礼物不合适。")})
    assert (found.not_comparable, found.terms.rationales) == (1, 0)
    assert as_json(found)["terms"]["contamination"] is None
    assert found.kinds["core"] == 1


def test_failed_turns_take_no_part() -> None:
    found = checked({"me__gift": judged(3, "need_not_met", None)})
    assert (found.judged, found.without_rationale) == (1, 1)
    assert sum(found.kinds.values()) == 0
