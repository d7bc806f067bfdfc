"""What a judge knows of a user: figures that we counted, and what a model read out of the history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

from dialogauge.core import digest, whole_score
from dialogauge.core.protocols import BlockView, RatedReply
from dialogauge.core.shape import read_as
from dialogauge.judges.rubric.prompt import as_json, cut_middle
from dialogauge.rubrics import closed_object, memory_words, render
from dialogauge.stats import ScoreHistory

BUDGET = 24_000
"""Characters of the rated turns in one prompt."""
_CONTEXT, _REQUEST, _REPLY = 150, 300, 500
"""Characters of a text that are shown; the middle of a longer one is cut."""
_SCORES = (5, 4, 3, 2, 1)
"""The highest first: the order of what a prompt shows."""


@dataclass(frozen=True, slots=True)
class ShownHistory:
    """The turns that are shown, and those that are not."""

    groups: Mapping[int, tuple[str, ...]]
    """By score from 5 down to 1, where it was given: the shown turns, one JSON object each, in the order of
    the data."""
    counts: Mapping[int, int]
    """By score: how many turns there are."""
    left_out: Mapping[int, int] = field(default_factory=dict)
    """By score: how many of them did not fit; scores of which all are shown are not named."""
    texts_cut: int = 0
    """Texts of shown turns of which the middle was cut."""

    @property
    def shown(self) -> int:
        """Turns that are shown."""
        return sum(len(turns) for turns in self.groups.values())

    @property
    def characters(self) -> int:
        """Of the turns that are shown."""
        return sum(len(turn) for turns in self.groups.values() for turn in turns)

    def to_json(self) -> dict[str, Any]:
        """Write the counts."""
        return {
            "shown": self.shown,
            "of": sum(self.counts.values()),
            "left_out": {str(score): n for score, n in self.left_out.items()},
            "texts_cut": self.texts_cut,
        }


def shown_history(view: BlockView, *, budget: int = BUDGET) -> ShownHistory:
    """Choose and write what is shown of a user's history, in `budget` characters.

    One turn of each score is shown even beyond them. Of the targets only the task of the first is read, which
    is known before it.
    """
    written = [shown_turn(rated) for rated in view.history]
    scores = [whole_score(rated.score) for rated in view.history]
    chosen = set(_chosen(view, scores, [len(text) for text, _ in written], budget))
    counts = {score: scores.count(score) for score in _SCORES if score in scores}
    groups = {score: tuple(written[i][0] for i in sorted(chosen) if scores[i] == score) for score in counts}
    left_out = {s: n - len(groups[s]) for s, n in counts.items() if len(groups[s]) < n}
    cut = sum(written[i][1] for i in chosen)
    return ShownHistory(groups, counts, left_out, cut)


def shown_turn(rated: RatedReply) -> tuple[str, int]:
    """Write one rated turn as JSON on one line, and say how many of its texts were cut."""
    reply = rated.reply
    context, cut_context = cut_middle(reply.context, _CONTEXT)
    request, cut_request = cut_middle(reply.request, _REQUEST)
    text, cut_text = cut_middle(reply.text, _REPLY)
    score = int(rated.score) if float(rated.score).is_integer() else rated.score
    line = {"score": score, "reason": rated.reason, "kind": reply.conversation.scenario, "task": context}
    line |= {"request": request, "reply": text}
    kept = {key: value for key, value in line.items() if value not in (None, "")}
    return as_json(kept), cut_context + cut_request + cut_text


def _chosen(view: BlockView, scores: Sequence[int], sizes: Sequence[int], budget: int) -> Iterator[int]:
    """Yield the turns that fit: all, or by turns of the scores, the rarest first."""
    if sum(sizes) <= budget:
        yield from range(len(sizes))
        return
    ranked = _by_relevance(view, scores)
    queues = [ranked[s] for s in sorted(ranked, key=lambda s: (len(ranked[s]), s))]
    room, round_ = budget, 0
    while any(queues):
        for queue in queues:
            if not queue:
                continue
            turn = queue.pop(0)
            if round_ == 0 or sizes[turn] <= room:
                room -= sizes[turn]
                yield turn
        round_ += 1


def _by_relevance(view: BlockView, scores: Sequence[int]) -> dict[int, list[int]]:
    """Rank the turns of each score."""
    from dialogauge.retrieval import TfidfIndex  # loads numpy: not at import

    first = view.targets[0].context if view.targets else ""
    texts = [f"{r.reply.conversation.scenario} {r.reply.context} {r.reply.request}" for r in view.history]
    cosines = TfidfIndex(texts, shortest=2, longest=3, sublinear=True).cosines(f"{view.scenario} {first}")
    like = sorted(range(len(texts)), key=lambda i: (-float(cosines[i]), i))
    seen: Counter[tuple[int, str]] = Counter()
    keyed: list[tuple[int, int, int]] = []
    for place, turn in enumerate(like):
        conversation = (scores[turn], view.history[turn].reply.conversation.id)
        keyed.append((seen[conversation], place, turn))
        seen[conversation] += 1
    ranked: dict[int, list[int]] = {}
    for _, _, turn in sorted(keyed):
        ranked.setdefault(scores[turn], []).append(turn)
    return ranked


class MemoryFault(ValueError):
    """A memory, or a reply that should become one, is not of the form that was asked for."""


Strictness = Literal["lenient", "moderate", "strict", "very_strict"]
LowEvidence = Literal["none", "sparse", "moderate", "rich"]

_LEVELS = range(1, 6)
SATISFIED = 4
"""From this score on a user is satisfied."""


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Score counts, mean, and what can be said from them alone."""

    counts: tuple[int, ...]
    """How often each score from 1 to 5 was given; a fraction counts as the score next to it."""
    mean: float | None
    """None without a score."""

    @classmethod
    def of(cls, scores: Sequence[float]) -> ScoreScale:
        """Count the scores of a history."""
        history = ScoreHistory.of(scores)
        return cls(history.counts, history.mean)

    @property
    def turns(self) -> int:
        """Rated turns."""
        return sum(self.counts)

    @property
    def by_score(self) -> Mapping[int, int]:
        """How often each score was given, the highest first."""
        return {score: self.counts[score - 1] for score in _SCORES}

    @property
    def satisfied_share(self) -> float | None:
        """The share of scores of 4 and 5; None without a score."""
        return None if not self.turns else sum(self.counts[SATISFIED - 1 :]) / self.turns

    @property
    def strictness(self) -> Strictness | None:
        """The published bands of the mean: from 4.4 lenient, from 4.0 moderate, from 3.6 strict."""
        if self.mean is None:
            return None
        bands: tuple[tuple[float, Strictness], ...] = ((4.4, "lenient"), (4.0, "moderate"), (3.6, "strict"))
        return next((name for least, name in bands if self.mean >= least), "very_strict")

    @property
    def compares_three_four(self) -> bool:
        """Whether there are turns on both sides of the boundary between dissatisfied and satisfied."""
        return any(self.counts[: SATISFIED - 1]) and any(self.counts[SATISFIED - 1 :])

    @property
    def compares_four_five(self) -> bool:
        """Whether both 4 and 5 were given."""
        return self.by_score[4] > 0 and self.by_score[5] > 0

    @property
    def low_evidence(self) -> LowEvidence:
        """How many turns show dissatisfaction, in the published bands: none, up to 3, up to 8, more."""
        low = sum(self.counts[: SATISFIED - 1])
        return "none" if low == 0 else "sparse" if low <= 3 else "moderate" if low <= 8 else "rich"

    def to_json(self) -> dict[str, Any]:
        """Write counts and mean."""
        return {"counts": {str(s): n for s, n in zip(_LEVELS, self.counts, strict=True)}, "mean": self.mean}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ScoreScale:
        """Read what `to_json` wrote; MemoryFault where it cannot be the scale of any history."""
        by_score = value.get("counts")
        if not isinstance(by_score, Mapping) or set(by_score) != {str(s) for s in _LEVELS}:
            msg = "scale.counts: expected one count for each score from 1 to 5"
            raise MemoryFault(msg)
        counts = tuple(by_score[str(s)] for s in _LEVELS)
        if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts):
            msg = f"scale.counts: expected whole numbers of 0 or more, found {list(counts)}"
            raise MemoryFault(msg)
        return cls(counts, _mean(value.get("mean"), counts))


def _mean(mean: object, counts: tuple[int, ...]) -> float | None:
    if not any(counts):
        if mean is not None:
            msg = f"scale.mean: {mean!r}, but no score is counted"
            raise MemoryFault(msg)
        return None
    scores = [s for s, n in zip(_LEVELS, counts, strict=True) if n]
    if isinstance(mean, bool) or not isinstance(mean, int | float):
        msg = f"scale.mean: expected a number, found {mean!r}"
        raise MemoryFault(msg)
    # A score with a fraction is counted as the whole one next to it, so the mean may lie half a point off.
    if not max(1.0, min(scores) - 0.5) <= mean <= min(5.0, max(scores) + 0.5):
        msg = f"scale.mean: {mean:g} is not the mean of scores from {min(scores)} to {max(scores)}"
        raise MemoryFault(msg)
    return float(mean)


THREE_FOUR, FOUR_FIVE = "three_versus_four", "four_versus_five"


@dataclass(frozen=True, slots=True)
class Findings:
    """What a model read out of the rated turns; every text in the language of the prompt."""

    scoring_style: str
    three_versus_four: str | None
    """What lifts a reply from dissatisfied to satisfied; None where the history has no two sides of it."""
    four_versus_five: str | None
    """What makes a good reply a very good one; None likewise."""
    requirements: tuple[str, ...]
    preferred_format: str | None
    task_observations: tuple[tuple[str, str], ...]
    """Kind of task, and what was seen there."""

    @property
    def thresholds(self) -> Mapping[str, str | None]:
        """By key of the reply what makes the difference between two scores."""
        return {THREE_FOUR: self.three_versus_four, FOUR_FIVE: self.four_versus_five}

    def to_json(self) -> dict[str, Any]:
        """Write the findings with the keys of the reply that they were read from."""
        out: dict[str, Any] = {"scoring_style": self.scoring_style}
        out |= {key: text for key, text in self.thresholds.items() if text is not None}
        out["requirements"] = list(self.requirements)
        out["preferred_format"] = self.preferred_format or ""
        out["task_observations"] = [{"task": t, "observation": o} for t, o in self.task_observations]
        return out


class _Evidence(TypedDict):
    left_out: NotRequired[dict[str, int]]


class _StoredMemory(TypedDict):
    scale: dict[str, Any]
    conversations: int
    scenarios: tuple[str, ...]
    findings: dict[str, Any] | None
    evidence: NotRequired[_Evidence]


@dataclass(frozen=True, slots=True)
class UserMemory:
    """The memory of one block, made once and never changed by what is predicted from it."""

    scale: ScoreScale
    """Of the user's whole history; of other users where it is empty."""
    conversations: int
    """Rated conversations of the history."""
    scenarios: tuple[str, ...]
    """Those of the history, in its order."""
    findings: Findings | None
    """None where the user has rated nothing."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """How many rated turns the builder saw, and what was left out: `ShownHistory.to_json`."""

    @property
    def digest(self) -> str:
        """Changes with anything that the memory says."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Write the memory."""
        return {
            "scale": self.scale.to_json(),
            "conversations": self.conversations,
            "scenarios": list(self.scenarios),
            "findings": None if self.findings is None else self.findings.to_json(),
            "evidence": dict(self.evidence),
        }

    @classmethod
    def from_json(cls, value: object) -> UserMemory:
        """Read what `to_json` wrote; ValueError (MemoryFault) names what is wrong with it."""
        stored = read_as(value, _StoredMemory)
        scale, scenarios, written = (
            ScoreScale.from_json(stored["scale"]),
            stored["scenarios"],
            stored["findings"],
        )
        findings = None if written is None else read_findings(written, scale, scenarios)
        return cls(scale, stored["conversations"], scenarios, findings, {**stored.get("evidence", {})})


def findings_schema(scale: ScoreScale, scenarios: Sequence[str], hints: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of the builder's reply.

    A threshold is asked for only where the history has turns on both sides of it: what nobody can have seen
    would be made up. `hints` say by key of the reply what belongs there; also by `task` and `observation`.
    """

    def text(key: str) -> dict[str, Any]:
        return {"type": "string", "description": hints[key]}

    fields: dict[str, Any] = {key: text(key) for key in _threshold_keys(scale)}
    fields["scoring_style"] = text("scoring_style")
    fields["requirements"] = {"type": "array", "items": text("requirements")}
    fields["preferred_format"] = text("preferred_format")
    task = {"type": "string", "enum": list(scenarios), "description": hints["task"]}
    seen = closed_object({"task": task, "observation": text("observation")})
    fields["task_observations"] = {"type": "array", "items": seen}
    return closed_object(fields)


def _threshold_keys(scale: ScoreScale) -> list[str]:
    asked = {THREE_FOUR: scale.compares_three_four, FOUR_FIVE: scale.compares_four_five}
    return [key for key, there in asked.items() if there]


def read_findings(data: Mapping[str, Any], scale: ScoreScale, scenarios: Sequence[str]) -> Findings:
    """Check a builder's reply; MemoryFault names all that is wrong with it."""
    faults: list[str] = []

    def text(key: str, *, needed: bool = True) -> str:
        value = data.get(key)
        if not isinstance(value, str):
            faults.append(f"{key}: " + ("missing" if key not in data else "expected a text"))
            return ""
        if needed and not value.strip():
            faults.append(f"{key}: empty")
        return value.strip()

    keys = _threshold_keys(scale)
    thresholds = {key: text(key) for key in keys}
    style, form = text("scoring_style"), text("preferred_format", needed=False)
    requirements = _requirements(data.get("requirements"), faults)
    observations = _observations(data.get("task_observations"), scenarios, faults)
    if faults:
        raise MemoryFault("; ".join(faults))
    return Findings(
        style, thresholds.get(THREE_FOUR), thresholds.get(FOUR_FIVE), requirements, form or None, observations
    )


def _requirements(value: object, faults: list[str]) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        faults.append("requirements: expected a list of texts")
        return ()
    return tuple(dict.fromkeys(item.strip() for item in value if item.strip()))


def _observations(value: object, scenarios: Sequence[str], faults: list[str]) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, list):
        faults.append("task_observations: expected a list of {task, observation}")
        return ()
    observations: list[tuple[str, str]] = []
    for number, entry in enumerate(value):
        task = entry.get("task") if isinstance(entry, dict) else None
        seen = entry.get("observation") if isinstance(entry, dict) else None
        if task not in scenarios or not isinstance(seen, str):
            names = ", ".join(scenarios)
            faults.append(f"task_observations[{number}]: expected an observation and a task of {names}")
        elif seen.strip():
            observations.append((str(task), seen.strip()))
    return tuple(observations)


def statistics_text(scale: ScoreScale, conversations: int, language: str) -> str:
    """Say how a user uses the scale."""
    words = memory_words(language)
    if scale.mean is None or scale.strictness is None or scale.satisfied_share is None:
        return words["nothing"]
    return render(
        words["ratings"],
        {
            "turns": str(scale.turns),
            "conversations": str(conversations),
            "mean": f"{scale.mean:.2f}",
            "counts": _listed("count", scale.by_score, language),
            "share": f"{100 * scale.satisfied_share:.0f}",
            "strictness": words[scale.strictness],
        },
    )


def _listed(key: str, counts: Mapping[int, int], language: str) -> str:
    phrase = memory_words(language)[key]
    parts = [render(phrase, {"n": str(n), "score": str(score)}) for score, n in counts.items() if n]
    return ("、" if language == "zh" else ", ").join(parts)


def coverage_text(evidence: ShownHistory, language: str) -> str:
    """Say what of the history is shown, and what was left out."""
    words = memory_words(language)
    sentences = [words["all_shown"]]
    if evidence.left_out:
        values = {"of": str(sum(evidence.counts.values())), "shown": str(evidence.shown)}
        values["counts"] = _listed("left_out_score", evidence.left_out, language)
        sentences = [render(words["left_out"], values)]
    if evidence.texts_cut:
        sentences.append(words["texts_cut"])
    return ("" if language == "zh" else " ").join(sentences)


def grouped_turns(evidence: ShownHistory, language: str) -> str:
    """Write the shown turns, the highest score first, each group under its score."""
    words = memory_words(language)
    blocks = []
    for score, turns in evidence.groups.items():
        values = {"score": str(score), "shown": str(len(turns)), "given": str(evidence.counts[score])}
        blocks.append("\n".join((f"### {render(words['group'], values)}", *turns)))
    return "\n\n".join(blocks)


def memory_text(memory: UserMemory, language: str) -> str:
    """Write a memory as a judge reads it: one line for each thing that is known."""
    words, scale = memory_words(language), memory.scale
    lines = [words["nothing"]]
    if memory.findings is not None:
        lines = [statistics_text(scale, memory.conversations, language)]
        lines += _findings(memory.findings, words, "：" if language == "zh" else ": ")
        caution = {"none": "low_none", "sparse": "low_sparse"}.get(scale.low_evidence)
        if caution is not None:
            lines.append(words[caution])
        shown, of = memory.evidence.get("shown"), memory.evidence.get("of")
        if shown != of:
            lines.append(render(words["stands_on"], {"shown": str(shown), "of": str(of)}))
    elif scale.mean is None:
        lines.append(words["nobody"])
    else:
        counts = _listed("count", scale.by_score, language)
        values = {"turns": str(scale.turns), "mean": f"{scale.mean:.2f}", "counts": counts}
        lines.append(render(words["others"], values))
    return "\n".join(f"- {line}" for line in lines)


def _findings(findings: Findings, words: Mapping[str, str], colon: str) -> Iterator[str]:
    yield f"{words['scoring_style']}{colon}{as_json(findings.scoring_style)}"
    for key, text in findings.thresholds.items():
        shown = words[f"no_{key}"] if text is None else as_json(text)
        yield f"{words[key]}{colon}{shown}"
    if findings.requirements:
        yield f"{words['requirements']}{colon}{as_json(list(findings.requirements))}"
    if findings.preferred_format:
        yield f"{words['preferred_format']}{colon}{as_json(findings.preferred_format)}"
    for task, observation in findings.task_observations:
        head = render(words["task_observations"], {"task": as_json(task)})
        yield f"{head}{colon}{as_json(observation)}"
