"""Small rated conversations of several users and scenarios, for the tests of personalised judges."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.core import Conversation, Message, Rating
from dialogauge.stats import scores_of
from dialogauge.studies.satisfaction.answers import JudgedReply
from dialogauge.studies.satisfaction.figures import Metrics, metrics_of_one, rated_table


def rated_talk(
    user: str, scenario: str, number: int, scores: Sequence[float | None], *, text: str = ""
) -> Conversation:
    """A conversation with one turn for each score; None leaves a turn unrated."""
    id = f"{user}__{scenario}__{number}"
    messages, ratings = [], []
    for turn, score in enumerate(scores, 1):
        messages.append(Message("user", f"{text} question {turn} of {scenario}"))
        messages.append(Message("assistant", f"{text} answer {turn} of {scenario} {number}" * (turn % 9)))
        if score is not None:
            note = "too vague" if score < 4 else None
            ratings.append(Rating(id, "satisfaction", score, turn, user, note=note))
    return Conversation(
        id,
        tuple(messages),
        user_id=user,
        scenario=scenario,
        context=f"about {scenario}",
        profile={"age": 30},
        metadata={"questionnaire": [5, 4]},
        ratings=tuple(ratings),
    )


def rated_users(users: int = 6, scenarios: Sequence[str] = ("cook", "gift", "trip")) -> list[Conversation]:
    """Some users with two conversations in each scenario; every user has a level of their own."""
    out = []
    for u in range(users):
        level = 3 + u % 3
        for s, scenario in enumerate(scenarios):
            low = max(1, level - s)
            out.append(rated_talk(f"user{u}", scenario, 0, [level, low], text=f"{scenario} hello"))
            out.append(rated_talk(f"user{u}", scenario, 1, [low, level, 5], text=f"{scenario} again"))
    return out


def rated_answer(
    user: str,
    gold: float,
    score: float | None,
    *,
    block: str | None = None,
    session: str = "",
    **more: object,
) -> JudgedReply:
    """A judge's answer to one reply; every other field has a value that nothing depends on."""
    fields = {"position": 0, "scenario": "s", "length": 10, "reason": None, "history": True, **more}
    block = f"{user}__s" if block is None else block
    whole = None if score is None else int(score)
    id = f"{session or block}__turn_{fields['position']}"
    return JudgedReply(id=id, block=block, user=user, gold=gold, score=whole, value=score, **fields)


def figures_of_scores(rows: Sequence[tuple[str, str, float, float]], *, failed: int = 0) -> Metrics:
    """The figures of (user, block, rating, score)."""
    answers = [rated_answer(user, gold, score, block=block) for user, block, gold, score in rows]
    column = scores_of([score for *_, score in rows])
    return metrics_of_one(rated_table(answers), column, failed=failed)
