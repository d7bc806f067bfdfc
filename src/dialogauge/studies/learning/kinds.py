"""The kinds of feedback in logs (MemoryBench, 2.1), and what is gained where users gave each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from dialogauge.data.tasks import LoggedDialogue
from dialogauge.signals import find_reactions, react, read_dialogue
from dialogauge.stats import Comparison, adjusted
from dialogauge.studies.learning.cases import Case, compared, scores_by_task

KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "like": ("explicit", "clicked"),
    "dislike": ("explicit", "clicked"),
    "words": ("explicit", "spoken"),
    "copy": ("implicit", "clicked"),
    "asked again": ("implicit", "spoken"),
    "closed": ("implicit",),
}
"""The groups of each kind; who closes a dialogue has neither spoken nor clicked."""
GROUPS: Final = ("explicit", "implicit", "spoken", "clicked", "none")
"""What gains are split by; `none` is where users let nothing show."""


def reply_kinds(dialogue: LoggedDialogue) -> tuple[frozenset[str], ...]:
    """Return by reply, from the first, which of `KINDS` its user let show.

    Clicks are those of the log. A message after a reply is `words`; one that only asks for the same again is
    `asked again`, and one that objects too is both. Of a log with feedback it is known who ended the
    dialogue; in others those without a word on the last reply have closed it.
    """
    read, turns = read_dialogue(dialogue.conversation), dialogue.conversation.turns
    again = {signal.turn for signal in find_reactions(read) if signal.name == "asked_again"}
    objected = {before.number for before, after in pairwise(read.turns) if react(after.user).objects}
    kinds: list[set[str]] = []
    for turn in turns:
        kinds += [set[str]() for message in turn.messages if message.role == "assistant"]
        if turn.number and turn.has_reply and turn is not turns[-1]:
            kinds[-1] |= {"asked again"} if turn.number in again else {"words"}
            kinds[-1] |= {"words"} if turn.number in objected else set()
        elif turn.number and turn.has_reply and not dialogue.feedback:
            kinds[-1].add("closed")
    for one in dialogue.feedback:
        kinds[one.round - 1] |= {*one.actions, *["closed"] * one.ended}
    return tuple(map(frozenset, kinds))


def feedback_kinds(dialogue: LoggedDialogue) -> frozenset[str]:
    """Return which of `KINDS` the user let show anywhere in a dialogue."""
    return frozenset[str]().union(*reply_kinds(dialogue))


def gain_by_kind(
    cases_with: Sequence[Case],
    cases_without: Sequence[Case],
    kinds_by_task: Mapping[str, frozenset[str]],
    unit: str,
) -> dict[str, Comparison]:
    """Split what is gained by dialogues with feedback by what users let show in them.

    A task is in each group of which its dialogue has a kind: groups overlap, and sizes do not add up.
    P-values are adjusted by Holm over the groups. A group without a task that both sides have a score of is
    left out.

    Args:
        cases_with: Details of the rows that were answered with the dialogue, of one system.
        cases_without: The same without it.
        kinds_by_task: By id of the task, `feedback_kinds` of the dialogue; a task without one is in `none`.
        unit: What a cluster is: conversations or tasks.
    """
    scores = {"with": scores_by_task(cases_with), "without": scores_by_task(cases_without)}
    gains = dict[str, Comparison]()
    for group in GROUPS:
        of = {
            id
            for id in scores["with"]
            if group in ({g for kind in kinds_by_task.get(id, ()) for g in KINDS[kind]} or {"none"})
        }
        part = {
            side: {id: one for id, one in of_side.items() if id in of} for side, of_side in scores.items()
        }
        if gain := compared(("with", "without"), part, unit):
            gains[group] = gain
    return dict(zip(gains, adjusted([*gains.values()]), strict=True))
