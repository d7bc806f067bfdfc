"""`dialogauge tune compare OUT...`: tuned models beside each other, arms by dimensions (DynSess, Table 4)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import prod
from pathlib import Path
from typing import Any, Final

import orjson

from dialogauge.app.command import Measurement
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.sources import PythonInput
from dialogauge.app.tune.page import NOT_BY_PEOPLE
from dialogauge.app.tune.settings import TuneCompareOptions
from dialogauge.core import FileFault, Place, UsageError, digest
from dialogauge.core.files import shown_path
from dialogauge.core.json_keys import keys
from dialogauge.core.values import Value
from dialogauge.data import read_ratings
from dialogauge.report import Block, Callout, Cell, Count, Missing, Number, Page, Section, data_table
from dialogauge.stats import Comparison, Estimate, adjusted, mean_estimate
from dialogauge.studies.evidence import UNCHECKED_FIRST
from dialogauge.training import HELD_OUT_FILE, SCORED, By, TuneFolder, TuneManifest, mean_score, paired_gain

Row = Mapping[str, Any]
_Ratings = Mapping[tuple[str, str], Mapping[str, float]]
_BY: Final[Mapping[By, str]] = {"people": "people", "reward": "the judge", "second": "the second judge"}
_LEVELS: Final = {"grpo": "turn", "gsrpo": "session"}
"""By method what the reward is of; training on rows has none."""
_PLAYED_BY: Final = ("turns", "reply_tokens", "temperature", "max_length", "rubric", "judge", "simulator")
"""What must be the same for sessions to be paired."""


class TunedArm(Value):
    """One tuned model."""

    name: str
    method: str | None
    """None for a model as it was before."""
    level: str | None
    """What its reward was of, `turn` or `session`; None without a reward."""
    group: str
    """Its size: arms of another size are not held against each other."""
    personas: int
    sessions: int
    means: Mapping[By, Mapping[str, Estimate]]
    """By who scored and by dimension, clustered by persona; `mean` of all dimensions."""


@keys(comparison="comparison")
class ArmGain(Value):
    """An arm against the baseline of its size, by one who scored."""

    by: By
    arm: str
    baseline: str
    comparison: Comparison | None
    """Paired by session, clustered by persona; adjusted over the arms. None where they played otherwise."""
    why: str | None
    """The settings that differ, where there is no comparison."""


@keys(page=None)
class TunedArms(Value):
    """Tuned models beside each other."""

    starts: tuple[TunedArm, ...]
    """Models before the tuning, each where its arms share its sessions."""
    arms: tuple[TunedArm, ...]
    gains: tuple[ArmGain, ...]
    notes: tuple[str, ...] = field(default_factory=tuple)
    """What to know first."""

    @property
    def page(self) -> Page:
        """The page."""
        return Page("Tuned models", (Section("Arms", tuple(_blocks(self))),))


def _measure(options: TuneCompareOptions, python: PythonInput) -> CommandOutcome[TunedArms]:
    """Read the sessions of each folder, and people's ratings of them; compare within a size."""
    del python
    people = None if options.ratings_file is None else _people(options.ratings_file)
    arms, notes = dict[str, _ReadArm](), list[str]()
    for path in map(Path, options.inputs):
        read = _read_arm(path, people)
        if read.arm.name in arms:
            msg = f"two arms are called {read.arm.name!r}"
            raise UsageError(msg, hint="an arm is called like its folder was when it was tuned")
        arms[read.arm.name] = read
        notes += [UNCHECKED_FIRST] if read.manifest.unchecked else []
    if options.baseline is not None and options.baseline not in arms:
        msg = f"no arm is called {options.baseline!r}"
        raise UsageError(msg, hint=f"there are {', '.join(arms)}")
    gains = [gain for by in _BY for gain in _gains(arms, by, options.baseline)]
    of_arms = tuple(read.arm for read in arms.values())
    notes += _apart(of_arms)
    result = TunedArms(tuple(_starts(arms)), of_arms, tuple(gains), tuple(dict.fromkeys(notes)))
    return CommandOutcome(options=options, result=result)


class _ReadArm(Value):
    """A folder as it was read."""

    arm: TunedArm
    manifest: TuneManifest
    rows: Sequence[Row]
    before: Sequence[Row]

    @property
    def scale(self) -> tuple[float, float]:
        """Of the scores."""
        return next((g.scale for g in self.manifest.gains), (1.0, 5.0))


def _read_arm(path: Path, people: _Ratings | None) -> _ReadArm:
    """Read the sessions of a folder. Raises UsageError where there are none, FileFault where they are not."""
    manifest = TuneFolder(path).manifest()
    if manifest is None or not (path / HELD_OUT_FILE).is_file():
        msg = f"{shown_path(path)} holds no sessions with held-out personas"
        raise UsageError(msg, hint="give tune --held-out FILE (gsrpo, grpo) or --held-out-personas FILE")
    before, rows = _sessions(path / HELD_OUT_FILE, people)
    arm = TunedArm(
        rows[0]["candidate"],
        manifest.method,
        _LEVELS.get(manifest.method),
        _size(path),
        len({row["scenario"] for row in rows}),
        len(rows),
        {},
    )
    read = _ReadArm(arm, manifest, rows, before)
    return replace(read, arm=replace(arm, means=_all_means(rows, read.scale)))


def _starts(arms: Mapping[str, _ReadArm]) -> Iterator[TunedArm]:
    """Yield each model before, once for the arms that share its sessions."""
    shared: dict[tuple[str, Any, str], list[_ReadArm]] = {}
    for read in arms.values():
        if read.before:
            own = [[row["id"], row["messages"], *(row[SCORED[by]] for by in _BY)] for row in read.before]
            key = (read.arm.group, read.manifest.asked.get("model"), digest(own))
            shared.setdefault(key, []).append(read)
    for (group, *_), of in shared.items():
        alone = sum(other[0] == group for other in shared) == 1
        name = "before" if alone else f"before {', '.join(read.arm.name for read in of)}"
        rows, personas = of[0].before, len({row["scenario"] for row in of[0].before})
        yield TunedArm(name, None, None, group, personas, len(rows), _all_means(rows, of[0].scale))


def _gains(arms: Mapping[str, _ReadArm], by: By, baseline: str | None) -> Iterator[ArmGain]:
    """Yield each arm against the baseline of its size; what played otherwise is not compared."""
    of_arms = [read.arm for read in arms.values()]
    pairs = [
        (read, arms[base.name])
        for read in arms.values()
        if (base := _baseline(of_arms, read.arm, baseline)).name != read.arm.name
        and by in read.arm.means
        and by in base.means
    ]
    alike = [(a, b) for a, b in pairs if _unlike(a, b) is None]
    compared = iter(adjusted([paired_gain(b.rows, a.rows, by, None, a.scale)[0] for a, b in alike]))
    for a, b in pairs:
        why = _unlike(a, b)
        yield ArmGain(by, a.arm.name, b.arm.name, next(compared) if why is None else None, why)


def _unlike(arm: _ReadArm, baseline: _ReadArm) -> str | None:
    """Return in words by what settings two arms played otherwise; None where there is none."""
    one, other = (
        {**m.asked.get("settings", {}), **m.asked, **m.played} for m in (arm.manifest, baseline.manifest)
    )
    words = []
    for key in _PLAYED_BY:
        if key in one and key in other and one[key] != other[key]:
            plain = key not in ("judge", "simulator")
            words.append(f"{key} {one[key]}, not {other[key]}" if plain else f"another {key}")
    return f"played otherwise: {'; '.join(words)}" if words else None


def _baseline(arms: Sequence[TunedArm], arm: TunedArm, name: str | None) -> TunedArm:
    """Return the arm that is named, or the first of the same size."""
    of_size = [other for other in arms if other.group == arm.group]
    return next((other for other in of_size if other.name == name), of_size[0])


def _sessions(path: Path, people: _Ratings | None) -> tuple[list[Row], list[Row]]:
    """Return the sessions of the model before and of the tuned one, with what people say of them.

    Raises FileFault for a file that is none of sessions.
    """
    try:
        rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        keyed: list[Row] = [
            {**row, "people": (people or {}).get((row["id"], row["candidate"]))} for row in rows
        ]
        before, tuned = ([r for r in keyed if (r["candidate"] == "before") == own] for own in (True, False))
    except (ValueError, KeyError, TypeError) as error:
        msg = f"it holds something else than sessions: {error}"
        raise FileFault(msg, place=Place(shown_path(path))) from error
    if not tuned:
        msg = "it holds no session of the tuned model"
        raise FileFault(msg, place=Place(shown_path(path)))
    return before, tuned


def _people(path: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return by session and arm the mean rating of each dimension."""
    scores: dict[tuple[str, str], dict[str, list[float]]] = {}
    for rating in read_ratings(path).ratings:
        if rating.turn is None and not isinstance(rating.score, str):
            of = scores.setdefault((rating.conversation_id, rating.candidate or ""), {})
            of.setdefault(rating.dimension, []).append(rating.score)
    return {key: {name: statistics.fmean(of) for name, of in by.items()} for key, by in scores.items()}


def _all_means(rows: Sequence[Row], scale: tuple[float, float]) -> dict[By, dict[str, Estimate]]:
    return {by: of for by in _BY if (of := _means(rows, by, scale))}


def _means(rows: Sequence[Row], by: By, scale: tuple[float, float]) -> dict[str, Estimate]:
    """Return the mean of all dimensions, and of each; empty where nobody scored."""
    means = dict[str, Estimate]()
    for name in dict.fromkeys([None, *(name for row in rows for name in row[SCORED[by]] or ())]):
        scored = [(v, row["scenario"]) for row in rows if (v := mean_score(row, by, name)) is not None]
        if scored:
            values, personas = zip(*scored, strict=True)
            limits = min(scale[0], *values), max(scale[1], *values)
            means[name or "mean"] = mean_estimate(values, personas, limits=limits, unit="personas")
    return means


def _size(folder: Path) -> str:
    """Return how many parameters a model has, in words; read off the heads of its files."""
    count = 0
    for path in folder.glob("*.safetensors"):
        with path.open("rb") as file:
            head = orjson.loads(file.read(int.from_bytes(file.read(8), "little")))
        count += sum(prod(of["shape"]) for name, of in head.items() if name != "__metadata__")
    for size, letter in ((1e9, "B"), (1e6, "M")):
        if count >= size / 10:
            return f"{count / size:.1f} {letter}"
    return f"{count:,}"


def _apart(arms: Sequence[TunedArm]) -> Iterator[str]:
    """Say where the best by a judge is not the best by people; where nobody rated, what its gain is."""
    rated = [arm for arm in arms if "people" in arm.means and "reward" in arm.means]
    if not rated:
        yield NOT_BY_PEOPLE
        return
    by_judge, by_people = (
        max(rated, key=lambda arm: arm.means[by]["mean"].value or 0.0) for by in ("reward", "people")
    )
    if by_judge is not by_people:
        yield f"The best by the judge, {by_judge.name}, is not the best by people: that is {by_people.name}."


def _blocks(result: TunedArms) -> Iterator[Block]:
    """Yield what to know first, a table of arms by dimensions for each size, and the differences."""
    if result.notes:
        yield Callout(result.notes, "warn")
    for group in dict.fromkeys(arm.group for arm in result.arms):
        arms = [arm for arm in (*result.starts, *result.arms) if arm.group == group]
        columns = [(by, name) for by in _BY for name in _scores(arms, by)]
        heads = ["arm", "reward level", "personas", "sessions"]
        heads += [f"{name.replace('_', ' ')}, {_BY[by]}" for by, name in columns]
        rows: list[Sequence[Cell]] = []
        for arm in arms:
            label = arm.name if arm.method is None else f"{arm.name} ({arm.method})"
            about = (label, arm.level or "", Count(arm.personas), Count(arm.sessions))
            rows.append((*about, *(_mean(arm, by, name) for by, name in columns)))
        yield data_table(f"{group} parameters", heads, rows)
    differences: list[Sequence[Cell]] = []
    for gain in result.gains:
        value: Cell = Missing(gain.why or "")
        if gain.comparison is not None:
            of = gain.comparison.difference
            value = Number(of.value, 2, of.interval, signed=True)
        side = "" if gain.comparison is None else gain.comparison.side
        differences.append((gain.arm, gain.baseline, _BY[gain.by], value, side))
    if differences:
        heads = ["arm", "baseline", "by", "difference", "arm is"]
        yield data_table("Against the baseline, paired by persona", heads, differences)


def _scores(arms: Sequence[TunedArm], by: By) -> list[str]:
    """Return the scores to show; of a single dimension the mean is the same, and is left out."""
    names = list(dict.fromkeys(name for arm in arms for name in arm.means.get(by, ())))
    return names if len(names) != 2 else names[1:]


def _mean(arm: TunedArm, by: By, name: str) -> Cell:
    of = arm.means.get(by, {}).get(name)
    if of is None:
        return Missing("not rated")
    return Number(of.value, 2, of.interval, notes=(of.reason,) if of.reason else ())


ENTRY: Final = Measurement(
    name="compare",
    prints=TunedArms,
    measure=_measure,
    view=lambda outcome: _blocks(outcome.result),
)
