"""The scores of another run, joined with the turns of a study by id: what is there, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dialogauge.core import Conversation, UsageError, conversation_digest
from dialogauge.core.json_keys import keys
from dialogauge.core.protocols import Reply
from dialogauge.runs import Row
from dialogauge.runs.records import raw_score
from dialogauge.studies.satisfaction.answers import SATISFACTION, rows_by_reply
from dialogauge.studies.satisfaction.blocks import StudyData
from dialogauge.studies.satisfaction.comparison import listed

_MISSING: Final = {
    "failed": "failed",
    "not_applicable": "n/a",
    "changed": "of words that have changed since",
    "not_judged": "not judged",
}


@dataclass(frozen=True, slots=True)
class _Talk:
    """What the run says of one conversation, as it was then."""

    scores: Mapping[str, float | None]
    """By turn id, raw: before any calibration, which reads ratings; None where the judge said n/a."""
    failed: frozenset[int]
    """Turns, from 1."""


@dataclass(frozen=True, slots=True)
class StoredScores:
    """What a run holds."""

    run: str
    judge: str
    talks: dict[str, dict[str, _Talk]] = field(default_factory=dict)
    """By conversation id and digest: a run may hold a conversation as it was and as it is."""


@keys(scores=None)
@dataclass(frozen=True, slots=True)
class JoinedScores:
    """A run's scores of the turns of a study."""

    run: str
    judge: str
    scores: Mapping[str, float]
    """By turn id."""
    targets: Mapping[str, int]
    """Of the turns that are judged: `turns`, `scored`, `failed`, `not_applicable`, `changed` (the words are
    not those that the run judged), `not_judged`."""
    training: Mapping[str, int]
    """The same of the training users' turns."""
    weight: float | None = None
    """By how many points the expected rating moves with one point of a score."""


def collect_scores(
    run: str, judge: str, judged: Iterable[tuple[Conversation, Sequence[Row]]]
) -> StoredScores:
    """Read the raw scores of a satisfaction run.

    Args:
        run: What it is called in messages.
        judge: Whose scores.
        judged: Each conversation with its rows.
    """
    out = StoredScores(run, judge)
    for conversation, rows in judged:
        talk = _Talk(
            {id: raw_score(row, SATISFACTION) for id, row in rows_by_reply(rows).items()},
            frozenset(r["turn"] for r in rows if r["failure"] is not None),
        )
        out.talks.setdefault(conversation.id, {})[conversation_digest(conversation)] = talk
    return out


def refuse_strangers(stored: StoredScores, study: StudyData) -> None:
    """Raise UsageError when no conversation of the study is in the run."""
    wanted = {r.conversation.id: None for r in (*_targets(study), *_training(study))}
    if not wanted.keys() & stored.talks.keys():
        others, here = listed(list(stored.talks)) or "nothing", listed(list(wanted))
        msg = f"{stored.run} holds no score of this data (it holds {others}; here are {here})"
        raise UsageError(msg, hint="signals join by conversation id: judge the same data with that judge")


def join_scores(
    stored: StoredScores, study: StudyData, conversations: Mapping[str, Conversation]
) -> JoinedScores:
    """Take of a run the scores of the turns that a study reads.

    Args:
        stored: The run.
        study: What is judged, and what is known of the training users.
        conversations: By id, as they are judged now. A score holds for the words it was given for: that of a
            conversation that has changed is missing, and counted.

    Raises:
        UsageError: Every conversation that the run and the study share has changed.
    """
    replies = {r.id: r for r in (*_targets(study), *_training(study))}
    shared = {r.conversation.id for r in replies.values()} & stored.talks.keys()
    talks = {name: stored.talks[name].get(conversation_digest(conversations[name])) for name in shared}
    if not any(talks.values()):
        msg = f"{stored.run} judged other words: all {len(shared):,} conversations have changed since"
        raise UsageError(msg, hint="give its command again on this data: what changed is judged anew")
    known = {id: score for talk in talks.values() if talk is not None for id, score in talk.scores.items()}
    scores = {id: score for id in replies if (score := known.get(id)) is not None}

    def counts(of: Iterable[Reply]) -> dict[str, int]:
        statuses = Counter(_status(talks, reply) for reply in of)
        return {"turns": statuses.total(), **{name: statuses[name] for name in ("scored", *_MISSING)}}

    return JoinedScores(stored.run, stored.judge, scores, counts(_targets(study)), counts(_training(study)))


def _status(talks: Mapping[str, _Talk | None], reply: Reply) -> str:
    name = reply.conversation.id
    talk = talks.get(name)
    if talk is None:
        return "changed" if name in talks else "not_judged"
    if reply.id in talk.scores:
        return "not_applicable" if talk.scores[reply.id] is None else "scored"
    return "failed" if reply.turn in talk.failed else "not_judged"


def signal_words(signal: Mapping[str, Any]) -> str:
    """Say in a line what was there of a signal, and what was made of it, from `signals` of the summary."""
    judged = _counted(signal["targets"], "that are judged")
    known = _counted(signal["training"], "of training users")
    return f"scores of {signal['run']} ({signal['judge']}): {judged}, {known}; {_weight(signal)}"


def _counted(counts: Mapping[str, int], what: str) -> str:
    missing = ", ".join(f"{counts[k]:,} {words}" for k, words in _MISSING.items() if counts[k])
    return f"{counts['scored']:,} of {counts['turns']:,} turns {what}" + (f" ({missing})" if missing else "")


def _weight(signal: Mapping[str, Any]) -> str:
    if signal["weight"]:
        return f"one point of it moves the expected rating by {signal['weight']:z.2f}"
    if not signal["training"]["scored"]:
        return "not read, since no turn of a training user has a score to learn its weight from"
    return "not read, since it does not help to tell training users who are left out"


def _targets(study: StudyData) -> Iterable[Reply]:
    return (reply for block in study.blocks for reply in block.view.targets)


def _training(study: StudyData) -> Iterable[Reply]:
    return (rated.reply for block in study.population.blocks for rated in block.ratings)
