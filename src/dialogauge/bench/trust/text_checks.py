"""The checks that need texts: corrections passed over as n/a, and length taken for help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.bench.trust.result import Status, TrustCase, TrustCheck, TrustFigure
from dialogauge.bench.trust.sentences import only
from dialogauge.bench.trust.tally import Sampled, TrustTally
from dialogauge.bench.trust.thresholds import TrustThresholds
from dialogauge.core import NOT_APPLICABLE, Conversation
from dialogauge.metrics import clustered_mean, pearson, spearman, wilson_interval
from dialogauge.signals import cut, read_dialogue, read_repairs
from dialogauge.text import count_units, words

__all__ = ["TextFindings", "check_length", "check_repair", "read_texts"]

Floats = npt.NDArray[np.float64]

_ENOUGH: Final = 30
_ENOUGH_REPAIRS: Final = 5
_CASES: Final = 20
_PARTS: Final = ("short replies", "middling replies", "long replies")


@dataclass(slots=True)
class TextFindings:
    """What was read in the sampled conversations."""

    scores: list[float] = field(default_factory=list)
    """Helpfulness of each scored turn."""
    tokens: list[float] = field(default_factory=list)
    """Words and Chinese characters of its reply."""
    characters: list[float] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    corrected: int = 0
    """Conversations with a correction of the assistant and something said of repair handling."""
    passed_over: list[TrustCase] = field(default_factory=list)
    """... where that is n/a."""


def read_texts(sampled: Sequence[Sampled], conversations: Iterable[Conversation]) -> TextFindings:
    """Read the sampled conversations, one after the other."""
    found = TextFindings()
    known = {(s.conversation_id, s.candidate): s for s in sampled}
    for conversation in conversations:
        sample = known.get((conversation.id, conversation.candidate))
        if sample is not None:
            _measure(found, conversation, sample.helpfulness)
            if sample.repair is not None:
                _look_for_repairs(found, conversation, sample)
    return found


def _measure(found: TextFindings, conversation: Conversation, scores: Mapping[int, float]) -> None:
    for turn in conversation.replied_turns:
        if turn.number in scores:
            text = turn.reply_text
            found.scores.append(scores[turn.number])
            found.tokens.append(count_units(words(text)))
            found.characters.append(len(text))
            found.clusters.append(conversation.id)


def _look_for_repairs(found: TextFindings, conversation: Conversation, sample: Sampled) -> None:
    # Corrections are read alike in every language; to detect it would take a quarter of the time.
    repairs = [r for r in read_repairs(read_dialogue(conversation, "en")) if r.on_assistant]
    if not repairs:
        return
    found.corrected += 1
    if sample.repair == NOT_APPLICABLE:
        number = repairs[0].turn
        said = f"“{cut(conversation.turn(number).user_text)}”"
        note = f" The judge notes: {cut(sample.repair_note)}" if sample.repair_note else ""
        found.passed_over.append(TrustCase(conversation.id, number, said + note))


def check_repair(found: TextFindings, tally: TrustTally, limits: TrustThresholds) -> TrustCheck:
    """Whether corrections by the user are passed over as not applicable."""
    n, passed = found.corrected, len(found.passed_over)
    share = passed / n if n else None
    figure = TrustFigure(
        "repair handling n/a although the user corrects",
        share,
        n,
        wilson_interval(passed, n),
        share=True,
    )
    status: Status = "cannot tell"
    if "repair_handling" not in tally.whole:
        sentence = "The rubric has no repair_handling."
    elif n < _ENOUGH_REPAIRS or share is None:
        seen = only(n, "conversation of those read holds", "conversations of those read hold")
        sentence = f"{seen} a correction; {_ENOUGH_REPAIRS} are needed."
    else:
        status = "flagged" if share > limits.repair_na_share else "ok"
        sentence = (
            f"In {passed:,} of {n:,} conversations in which the user corrects or objects, "
            "repair handling is n/a."
        )
    return TrustCheck(
        "repair_false_na",
        "Corrections passed over",
        status,
        sentence,
        n,
        limits.repair_na_share,
        "repair_na_share",
        (figure,),
        tuple(found.passed_over[:_CASES]),
        passed,
    )


def check_length(found: TextFindings, tally: TrustTally, limits: TrustThresholds) -> TrustCheck:
    """Whether long replies are scored as more helpful."""
    name, n = (tally.helpful or "helpfulness").replace("_", " "), len(found.scores)
    coefficients = (
        ("Pearson, tokens", pearson(found.scores, found.tokens).value),
        ("Spearman, tokens", spearman(found.scores, found.tokens).value),
        ("Pearson, characters", pearson(found.scores, found.characters).value),
        ("Spearman, characters", spearman(found.scores, found.characters).value),
    )
    figures = tuple(TrustFigure(label, value, n) for label, value in coefficients)
    known = [value for _, value in coefficients if value is not None]
    status: Status = "cannot tell"
    if n < _ENOUGH:
        sentence = f"{only(n, 'scored reply was', 'scored replies were')} read; {_ENOUGH} are needed."
    elif not known:
        sentence = f"Every reply read has the same {name}, so nothing can go along with its length."
    else:
        most = max(known)
        status = "flagged" if most > limits.length_correlation else "ok"
        verb = "rewards" if status == "flagged" else "hardly rewards"
        sentence = (
            f"The judge {verb} length: {name} correlates with the reply’s length at {most:z.2f} at most "
            f"({n:,} replies)."
        )
        if status == "ok" and most > limits.length_correlation / 2:
            sentence = sentence.replace("hardly rewards length", "leans a little towards length")
    return TrustCheck(
        "length",
        "Length taken for help",
        status,
        sentence,
        n,
        limits.length_correlation,
        "length_correlation",
        figures + _terciles(found, name),
    )


def _terciles(found: TextFindings, name: str) -> tuple[TrustFigure, ...]:
    """Mean score of the shortest, the middling and the longest third of the replies."""
    if not found.scores:
        return ()
    tokens = np.array(found.tokens)
    scores, clusters = np.array(found.scores), np.array(found.clusters, dtype=object)
    low, high = np.quantile(tokens, [1 / 3, 2 / 3])
    out = []
    for label, here in zip(
        _PARTS, (tokens <= low, (tokens > low) & (tokens <= high), tokens > high), strict=True
    ):
        mean = clustered_mean(scores[here], clusters[here].tolist())
        out.append(TrustFigure(f"{name}, {label}", mean.mean, mean.n, mean.interval))
    return tuple(out)
