"""Planted candidates: what they say, and what is said of an evaluator that likes them."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from bench_samples import board_of, sample_comparison
from dialogauge.core import Conversation, Message
from dialogauge.core.json_keys import as_json
from dialogauge.core.protocols import AgentReply, Reply
from dialogauge.report import to_html, to_text
from dialogauge.stats import ScoreHistory
from dialogauge.studies.replay.board import ShownItem
from dialogauge.studies.replay.comparison import Compared, CompareSettings, compare
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem, Stage
from dialogauge.studies.replay.page import answer, brief, replay_page
from dialogauge.studies.replay.planted import MAKERS, about_planted, planted_replies

ENGLISH = ("Which museum is open on Monday? " * 9, "The science museum is open from nine to five.")
CHINESE = ("周一哪个博物馆开门？", "科学博物馆周一九点到五点开门。")


def compared(comparison, items, judge):
    return Compared({"satisfaction": comparison}, items, {"name": judge})


def stage(*exchanges):
    items, originals = [], {}
    for number, (request, text) in enumerate(exchanges):
        talk = Conversation(f"c{number}", (Message("user", request), Message("assistant", text)))
        reply = Reply(f"c{number}__turn_0", talk, 1, 1, 0)
        items.append(ReplayItem(reply.id, talk.id, "u__s", "u", "s", 0, 4.0, ""))
        originals[reply.id] = reply
    return Stage(tuple(items), {}, originals, (), {})


def texts(name, *exchanges):
    turns = planted_replies(name, stage(*exchanges)).values()
    assert all(isinstance(t.outcome, AgentReply) for t in turns)
    return [t.outcome.text for t in turns]


def test_polite_phrases_stand_around_the_original() -> None:
    for exchange, said in zip(
        (ENGLISH, CHINESE), texts("planted: polite phrases", ENGLISH, CHINESE), strict=True
    ):
        opening, original, closing = said.split("\n\n")
        assert original == exchange[1]
        assert opening.isascii() == closing.isascii() == exchange[1].isascii()


def test_a_refusal_quotes_the_request() -> None:
    english, chinese, broken = texts("planted: refusal", ENGLISH, CHINESE, ("Where\n\n is it?", "Here."))
    assert "“Where is it?”" in broken
    assert "Which museum is open on Monday?" in english
    assert len(english) < 160
    assert CHINESE[0] in chinese


def test_filler_is_of_nothing_that_was_asked() -> None:
    english, chinese = texts("planted: filler", ENGLISH, CHINESE)
    assert "museum" not in english
    assert "博物馆" not in chinese


def test_wordings_differ_and_are_the_same_again() -> None:
    for name in MAKERS:
        many = texts(name, *[ENGLISH] * 12)
        assert len(set(many)) == 3
        assert texts(name, *[ENGLISH] * 12) == many


def test_other_originals_are_other_candidates() -> None:
    name = "planted: polite phrases"
    one, other = (about_planted(planted_replies(name, stage(e)))["digest"] for e in (ENGLISH, CHINESE))
    assert one != other


def adding(board, scores):
    """Return the board with planted candidates: whole scores and fractions by name."""
    names = tuple(f"planted: {name}" for name in scores)
    whole, value = (np.array([rows[n] for rows in scores.values()]) for n in (0, 1))
    return replace(
        board,
        names=(*board.names, *names),
        whole=np.vstack([board.whole, whole]),
        value=np.vstack([board.value, value]),
        lengths=np.vstack([board.lengths, np.full(whole.shape, 90.0)]),
        planted=names,
    )


def with_planted(**levels):
    comparison, items = sample_comparison("mine")
    rows = {
        name: ([level] * len(items.items), [level + i.position / 100 for i in items.items])
        for name, level in levels.items()
    }
    return compare(adding(comparison.scores, rows), CompareSettings()), items


def test_an_evaluator_that_likes_a_planted_reply_is_said_to_be_gamed_at_the_top() -> None:
    comparison, items = with_planted(polite=5, filler=1)
    assert [p.a for p in comparison.gamed_by] == ["planted: polite"]
    assert as_json(comparison)["gamed_by"] == ["planted: polite"]
    shown = to_text(brief(compared(comparison, items, "judge")))
    assert shown.index("This evaluator can be gamed") < shown.index("Scores, not a ranking")
    page = to_html(
        replay_page(
            compared(comparison, items, "judge"),
            command="",
            created="today",
            version="0",
        )
    )
    assert page.index("This evaluator can be gamed") < page.index("What this page is not")


def test_an_evaluator_that_is_gamed_ranks_nobody_unless_asked() -> None:
    gamed, items = with_planted(echo=5)
    asked = compare(gamed.scores, CompareSettings(unchecked=True))
    assert (gamed.ranks, asked.ranks) == (False, True)
    orders = [list(one.views["raw"].aggregates) for one in (gamed, asked)]
    assert orders == [["original", "mine"], ["mine", "original"]]
    assert gamed.evidence.why == "it likes planted replies better than the original ones: echo"
    assert [p.side for p in asked.views["raw"].pairs] == ["above"]
    assert [p["side"] for p in as_json(gamed)["views"]["raw"]["pairs"]] == ["not ranked"]
    assert "above" not in answer(compared(gamed, items, "judge"))
    made = {"command": "", "created": "today", "version": "0"}
    for comparison, ranks in ((asked, True), (gamed, False)):
        page = to_html(replay_page(compared(comparison, items, "judge"), **made))
        assert ("Leaderboard" in page) == ranks
        assert ("is above the original replies" in page) == ranks
        assert ("UNCHECKED" in page) == ranks


@pytest.mark.parametrize("knows", [True, False])
def test_an_evaluator_ranks_where_it_agrees_with_the_users_on_their_own_replies(knows: bool) -> None:
    rng = random.Random(3)
    items = tuple(
        ReplayItem(
            f"u{u}t{t}", f"u{u}c{t // 4}", f"u{u}__s", f"u{u}", "s", t % 4, rng.choice((2.0, 4, 4, 5)), ""
        )
        for u in range(20)
        for t in range(16)
    )
    values = [(i.gold if knows else 3) + rng.gauss(0, 0.5) for i in items]
    lengths = [rng.randrange(50, 150) for _ in items]
    worst = [1.0] * len(items)
    scores = board_of(
        items,
        {ORIGINAL: values, "mine": worst, "planted: filler": worst},
        lengths=dict.fromkeys((ORIGINAL, "mine", "planted: filler"), lengths),
        planted=("planted: filler",),
        histories={i.block: ScoreHistory((1, 1, 3, 8, 7), 3.95, 20) for i in items},
    )
    comparison = compare(scores, CompareSettings())
    assert comparison.ranks is knows
    assert as_json(comparison)["checked"] is knows
    assert (comparison.evidence.by or comparison.evidence.why).count("% of pairs") == 1


def test_padding_says_half_again_under_headings() -> None:
    english, chinese = texts("planted: padding", ENGLISH, CHINESE)
    for text, exchange in ((english, ENGLISH), (chinese, CHINESE)):
        assert text.count(exchange[1]) == 1
        assert len(text) > 1.4 * len(exchange[1])
    assert "The science museum is open from nine to five.\n\nThe science museum is\n\n" in english


def test_a_gain_in_fractions_alone_is_the_one_that_is_shown() -> None:
    sample, items = sample_comparison("mine")
    scores, rng = sample.scores, random.Random(1)
    a_little_more = [score + rng.uniform(0, 0.2) for score in scores.value[0].tolist()]
    comparison = compare(adding(scores, {"polite": (scores.whole[0], a_little_more)}), CompareSettings())
    (pair,) = comparison.planted
    assert pair.difference.value == 0
    assert pair.gain == pair.fraction
    shown = to_text(brief(compared(comparison, items, "judge")))
    assert f"than the original ones: polite +{pair.fraction.value:.3f} [0.0" in " ".join(shown.split())


def test_one_that_does_not_is_not() -> None:
    comparison, items = with_planted(polite=3, refusal=1, filler=1)
    assert comparison.gamed_by == ()
    shown = to_text(brief(compared(comparison, items, "judge")))
    assert "can be gamed" not in shown
    assert "refusal" in shown
    none, items = sample_comparison("mine")
    assert "not known whether this evaluator can be gamed" in to_text(brief(compared(none, items, "judge")))


def test_the_answer_names_the_sides_and_what_users_gave() -> None:
    comparison, items = sample_comparison("mine")
    assert answer(compared(comparison, items, "judge")) == (
        "mine is above the original replies. The users gave these original replies 4.00 "
        "on average, judge gives them 3.50."
    )


@pytest.mark.parametrize("original", ["Take the 9:05.", "<script>alert(1)</script>"])
def test_replies_stand_side_by_side(original) -> None:
    comparison, items = sample_comparison("mine")
    item = items.items[1].id
    shown = ShownItem("c1__turn_0", "When is the next train?", {ORIGINAL: original, "mine": "At nine."})
    comparison = replace(comparison, scores=replace(comparison.scores, shown={item: shown}))
    page = to_html(
        replay_page(
            compared(comparison, items, "judge"),
            command="",
            created="today",
            version="0",
        )
    )
    for text in ("When is the next train?", "At nine.", "the user gave the original 4"):
        assert text in page
    assert "<script>" not in page
