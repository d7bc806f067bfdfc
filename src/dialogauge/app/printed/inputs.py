"""What `check`, `runs`, `annotate status` and `doctor` print with `--json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from dialogauge.annotate.agreement import RaterProgress
from dialogauge.app.runs import ListedRun
from dialogauge.core import FailureKind, Level
from dialogauge.data import Lengths, NoteKind, PersonalReport
from dialogauge.llm import EndpointReport
from dialogauge.stats import Estimate

Counts = Mapping[str, int]


class NoteJson(TypedDict):
    """What was recognised or assumed of the input."""

    kind: NoteKind
    text: str
    count: int
    examples: list[str]
    """The first places."""


class CheckJson(TypedDict):
    """An input: how it was read, what was assumed, and what it contains."""

    formats: Counts
    """Files by format."""
    notes: list[NoteJson]
    faults: list[str]
    """The first 20, of one kind the first 5."""
    fault_count: int
    conversations: int
    turns: int
    """From 1 on, without greetings."""
    turns_without_reply: int
    min_turns: int
    empty_conversations: int
    short_conversations: int
    """With fewer than `min_turns` replied turns."""
    replies: int
    empty_replies: int
    short_replies: int
    rated_turns: int
    ratings: Mapping[str, Counts]
    """By dimension and score."""
    odd_ratings: Mapping[str, Mapping[str, str]]
    """By dimension and score off the scale: its first place."""
    rating_remarks: Mapping[str, str]
    """By dimension: how its ratings are read, where that is not plain."""
    rating_means: Mapping[str, float | None]
    rated_places: Mapping[str, Counts]
    """By dimension: rated `turns`, and `conversations` rated as a whole."""
    ratings_by_scenario: Mapping[str, Counts]
    ratings_by_user: Mapping[str, Counts]
    """By dimension: `users` with ratings, and the `fewest`, `median` and `most` of one user."""
    users: int
    scenarios: Counts
    """The ten most frequent."""
    scenario_count: int
    candidates: Counts
    languages: Counts
    """Declared; for the rest `en`, `zh` or `other`, as the texts are."""
    user_messages: Lengths
    assistant_messages: Lengths
    personal: PersonalReport | None
    """With `--pii`."""
    shares: Mapping[str, float | None]
    """0 to 1; null of nothing."""


class RunsJson(TypedDict):
    """The runs below a folder."""

    runs: list[ListedRun]
    """Newest first."""
    skipped: list[str]
    """What looks like a run and cannot be read, with why."""


@dataclass(frozen=True, kw_only=True)
class RaterProgressJson(RaterProgress):
    """What one rater has done."""

    left: int
    """Items that remain."""


class SharedAgreementJson(TypedDict):
    """Agreement on what two or more raters rated, in one dimension."""

    dimension: str
    level: Level
    targets: int
    items: int
    raters: int
    ac1: Estimate
    alpha: Estimate
    exact: Estimate


class AnnotateStatusJson(TypedDict):
    """How far raters are, and how far they agree."""

    plan: str
    raters: list[RaterProgressJson]
    agreement: list[SharedAgreementJson]
    advice: str
    """What would tighten the figures most."""


WrongAnswerJson = TypedDict(  # noqa: UP013 - `found` is a key of the report, and no name
    "WrongAnswerJson", {"case": str, "what": str, "expected": str, "found": str}
)
"""A known answer that the model does not give."""


class KnownAnswersJson(TypedDict):
    """How a model does on conversations whose judgement is known."""

    asked: int
    answered: int
    checks: int
    right: int
    by_kind: Mapping[str, tuple[int, int]]
    """How often each was right, and how often it was checked."""
    diverging: int
    like_the_mean: int
    returns_turn_average: bool | None
    wrong: list[WrongAnswerJson]
    failures: Mapping[str, FailureKind]
    """By case."""


class DoctorJson(TypedDict):
    """What was found of one model at one endpoint."""

    endpoint: EndpointReport
    known_answers: KnownAnswersJson | None
    fit: bool | None
    """To judge; null when the known answers were not asked for."""
    verdict: str
