"""What a report shows, as plain frozen values: everything here is computed elsewhere.

The page and the terminal summary only turn these values into words and pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialogauge.report.trust_view import TrustView

if TYPE_CHECKING:
    from dialogauge.report.satisfaction_view import SatisfactionView

__all__ = [
    "About",
    "ConversationLine",
    "ConversationTotals",
    "CostLine",
    "CurvePointView",
    "DimensionView",
    "Figure",
    "GroupRow",
    "GroupTable",
    "HistogramBar",
    "LabelCounts",
    "Quote",
    "ReportView",
    "RunFigures",
    "ScoreView",
    "Transcript",
    "TranscriptTurn",
    "VerdictCount",
    "VerdictFigures",
    "WeakTurn",
    "WindowNote",
]


@dataclass(frozen=True, slots=True)
class About:
    """What was judged by whom, and what the reader should know of the judge."""

    title: str
    judge: str
    rubric: str
    mode: str
    """`hindsight` or `foresight`."""
    version: str
    """Of dialogauge."""
    created: str
    """Date of the run, as it shall be shown."""
    model: str | None = None
    """None for a judge without a model."""
    source: str = ""
    """The files that were judged."""
    checked_languages: tuple[str, ...] = ()
    """Languages in which the judge was compared with people."""
    uncalibrated: tuple[str, ...] = ()
    """Dimensions that were not compared with people, or on too few dialogues."""
    notes: tuple[str, ...] = ()
    """What else the reader should know; a sentence each."""
    command: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    """Name and value of what was set."""
    compared: tuple[str, ...] = ()
    """Dimensions that were compared with people on enough dialogues of this run."""
    barely_compared: tuple[tuple[str, int], ...] = ()
    """Those that were compared on too few, with how many dialogues."""
    dialogues_needed: int = 0
    """How many are enough."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with the counts and bounds that it is never shown without."""

    mean: float | None
    interval: tuple[float, float] | None
    n: int
    requested: int
    n_na: int
    n_failed: int
    bounds: tuple[float, float] | None
    """If every failure were the worst, and the best, score of the scale."""
    decimals: int = 2
    """With which mean, interval and bounds are written: three where the whole scale is 0 to 1."""


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """One bar; `low` equals `high` for a whole number."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class CurvePointView:
    """The mean at one turn number."""

    turn: int
    mean: float
    interval: tuple[float, float] | None
    n: int


@dataclass(frozen=True, slots=True)
class DimensionView:
    """One dimension of the rubric."""

    name: str
    level: str
    low: float
    high: float
    integer: bool
    higher_is_better: bool
    figure: Figure
    bars: tuple[HistogramBar, ...]
    curve: tuple[CurvePointView, ...] = ()
    repeat_targets: int = 0
    """Targets that were scored several times."""
    repeat_sd: float | None = None
    """Mean standard deviation within a target over repeats."""
    uncalibrated: bool = False
    reasons: tuple[tuple[str, int], ...] = ()
    """Why scores are n/a, with how often."""


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """How many conversations got one verdict; `name` None for those that got none."""

    name: str | None
    count: int
    share: float
    """Of the conversations asked for."""


@dataclass(frozen=True, slots=True)
class VerdictFigures:
    """Verdicts from the best to the worst, then those missing; shares sum to 1."""

    requested: int
    counts: tuple[VerdictCount, ...]
    partial: int
    """Verdicts that stand on an incomplete set of scores."""
    compared: int
    mismatched: int
    """Of those compared: the model's own verdict differs from the computed one."""


@dataclass(frozen=True, slots=True)
class ConversationTotals:
    """Conversations asked for, and what became of them."""

    requested: int
    judged: int
    failed: int
    without_reply: int
    unreadable: int
    pending: int


@dataclass(frozen=True, slots=True)
class CostLine:
    """Calls, tokens and cost of one role, or of all."""

    role: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    repeated_share: float | None = None
    """Share of the prompts' characters that repeat the beginning of the prompt before."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Means of one group; figures in the order of the table's dimensions."""

    name: str | None
    conversations: int
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class GroupTable:
    """A breakdown by language, scenario or candidate."""

    field: str
    dimensions: tuple[str, ...]
    rows: tuple[GroupRow, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class WindowNote:
    """How far two overlapping windows disagreed on the same turn."""

    dimension: str
    n: int
    mean_absolute: float


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How often each option of a question was chosen: option, count, share."""

    name: str
    total: int
    options: tuple[tuple[str, int, float], ...]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """All figures of a run, without any text of the conversations."""

    requested: int
    """Targets: turns and conversations."""
    scored: int
    not_applicable: int
    failed: int
    failures: tuple[tuple[str, int], ...]
    """Kind and count."""
    conversations: ConversationTotals
    dimensions: tuple[DimensionView, ...]
    verdicts: VerdictFigures | None
    repeats: int
    windows: tuple[WindowNote, ...]
    groups: tuple[GroupTable, ...]
    costs: tuple[CostLine, ...]
    """One line per role."""
    total_cost: CostLine
    labels: tuple[LabelCounts, ...] = ()
    marks: tuple[tuple[str, int], ...] = ()
    """What was mended or cut in the judge's replies, in words, with how often."""
    curve_left_out: int = 0
    """Turn numbers beyond those shown along the turns."""


@dataclass(frozen=True, slots=True)
class ScoreView:
    """One score as it stands in the rows."""

    name: str
    value: float | str | None
    """A number, `n/a`, or None when the judge failed."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Evidence: a place in the conversation and what points there."""

    turn: int | None
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class WeakTurn:
    """A turn that is the weakest of its conversation, with its text."""

    conversation_id: str
    turn: int
    user: str
    reply: str
    scores: tuple[ScoreView, ...]
    issues: tuple[str, ...]
    evidence: tuple[Quote, ...]
    anchor: str | None
    """Of the transcript on the page, when it is there."""


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """One conversation in the list."""

    conversation_id: str
    candidate: str | None
    verdict: str | None
    partial: bool
    weakest_turn: int | None
    scores: tuple[float | str | None, ...]
    """In the order of `RunFigures.dimensions`; mean over the turns; None when there is none."""
    failure: str | None
    anchor: str | None


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """One turn with its judgement beside it."""

    number: int
    user: str
    steps: tuple[str, ...]
    """Tool calls and results, one line each."""
    reply: str | None
    """None when the assistant did not reply."""
    scores: tuple[ScoreView, ...]
    issues: tuple[str, ...]
    evidence: tuple[Quote, ...]
    failure: str | None
    weakest: bool


@dataclass(frozen=True, slots=True)
class Transcript:
    """One sampled conversation in full, long messages cut."""

    anchor: str
    conversation_id: str
    candidate: str | None
    scenario: str | None
    context: str | None
    verdict: str | None
    partial: bool
    scores: tuple[ScoreView, ...]
    """Of the conversation as a whole."""
    rationale: str | None
    issues: tuple[str, ...]
    evidence: tuple[Quote, ...]
    failure: str | None
    turns: tuple[TranscriptTurn, ...]
    turns_left_out: int = 0


@dataclass(frozen=True, slots=True)
class ReportView:
    """Everything on the page."""

    about: About
    figures: RunFigures
    weak_turns: tuple[WeakTurn, ...]
    lines: tuple[ConversationLine, ...]
    """Weakest first."""
    lines_total: int
    transcripts: tuple[Transcript, ...]
    sample_note: str
    """How the transcripts were chosen."""
    trust: TrustView | None = None
    """What is known of the judge's own faults; None when it was not looked into."""
    satisfaction: SatisfactionView | None = None
    """The judge against the users themselves; None where they were not asked."""
    unreadable: tuple[str, ...] = ()
    """The first records that could not be read, each with place and reason."""
