"""The scores of another run, joined with the turns of a study by id: what is there, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dialogauge.core import Conversation, UsageError, conversation_digest
from dialogauge.core.json_keys import keys
from dialogauge.core.protocols import Reply, Sight
from dialogauge.runs import StoredRun
from dialogauge.studies.satisfaction.answers import SATISFACTION, listed, raw_by_reply
from dialogauge.studies.satisfaction.blocks import StudyData

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


SIGNAL_JUDGES: Final = ("local", "zero-shot", "task-rubric", "prometheus", "no-memory")
"""The judges that read no rating: of others, a score of a turn in a history would tell what its user gave the
target, or what a training user gave that very turn."""


def read_scores(path: str, run: StoredRun, sight: Sight) -> StoredScores:
    """Read the raw scores of a satisfaction run.

    Args:
        path: What it is called in messages.
        run: Whose judge read no ratings.
        sight: What may be read of what followed a reply.

    Raises:
        UsageError: The run is of another kind, or its judge read ratings or more of a conversation than may
            be read here.
    """
    settings, judge = run.manifest.settings, run.manifest.judge
    who, may = f"{path} (judge {judge['name']})", f"signals are runs of {', '.join(SIGNAL_JUDGES)}"
    if run.manifest.study != SATISFACTION:
        msg = f"{who} is no satisfaction run"
        raise UsageError(msg, hint=may)
    if "reads" not in judge:
        msg = f"{who} does not say what its judge read"
        hint = "an older version wrote it: give its command again, which asks no model twice"
        raise UsageError(msg, hint=hint)
    if ratings := sorted({"history", "others"} & set(judge["reads"])):
        whose = {"history": "the user's own in other scenarios", "others": "those of other users"}
        read = " and ".join(whose[name] for name in ratings)
        msg = f"{who} was made by reading ratings, {read}: its scores would tell what is to be predicted"
        raise UsageError(msg, hint=may)
    if settings["level"] != "turn":
        msg = f"{who} judged sessions, not replies"
        raise UsageError(msg, hint="judge its data with --level turn")
    if settings["mode"] == "hindsight" and sight != "hindsight":
        msg = f"{who} read what followed each reply, which may not be read in foresight"
        raise UsageError(msg, hint="judge with --mode hindsight too, or make the signal without it")
    out = StoredScores(path, judge["name"])
    for conversation, rows in run.judged():
        talk = _Talk(
            raw_by_reply(rows),
            frozenset(r["turn"] for r in rows if r["failure"] is not None),
        )
        out.talks.setdefault(conversation.id, {})[conversation_digest(conversation)] = talk
    return out


def refuse_strangers(stored: StoredScores, study: StudyData) -> None:
    """Raise UsageError when no conversation of the study is in the run."""
    wanted = {r.conversation.id: None for r in (*_targets(study), *_training(study))}
    if not any(name in stored.talks for name in wanted):
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
