"""`dialogauge tune compare OUT...`: tuned models beside each other, arms by dimensions (DynSess, Table 4)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from math import prod
from pathlib import Path
from typing import Any, Final

import orjson

from dialogauge.app.command import Measurement
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.sources import PythonInput
from dialogauge.app.tune.page import NOT_BY_PEOPLE
from dialogauge.app.tune.settings import TuneCompareOptions
from dialogauge.core import FileFault, Place, UsageError
from dialogauge.core.files import shown_path
from dialogauge.core.json_keys import keys
from dialogauge.core.values import Value
from dialogauge.data import read_ratings
from dialogauge.report import Block, Callout, Cell, Missing, Number, Page, Section, data_table
from dialogauge.stats import Comparison, adjusted
from dialogauge.studies.evidence import UNCHECKED_FIRST
from dialogauge.training import HELD_OUT_FILE, SCORED, By, TuneFolder, mean_score, paired_gain

Row = Mapping[str, Any]
_BY: Final[Mapping[By, str]] = {"people": "people", "reward": "the judge", "second": "the second judge"}
_LEVELS: Final = {"dpo": "turn", "grpo": "turn", "dspo": "session", "gsrpo": "session"}
"""By method what the reward is of; SFT has none."""


class TunedArm(Value):
    """One tuned model."""

    name: str
    method: str
    level: str | None
    """What its reward was of, `turn` or `session`; None without a reward."""
    group: str
    """Its size: arms of another size are not held against each other."""
    sessions: int
    means: Mapping[By, Mapping[str, float]]
    """By who scored and by dimension; `mean` of all dimensions."""


@keys(comparison="comparison")
class ArmGain(Value):
    """An arm against the baseline of its size, by one who scored."""

    by: By
    arm: str
    baseline: str
    comparison: Comparison
    """Paired by session, clustered by persona; adjusted over the arms."""


@keys(page=None)
class TunedArms(Value):
    """Tuned models beside each other."""

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
    arms, rows, notes = list[TunedArm](), dict[str, list[Row]](), list[str]()
    scale = (1.0, 5.0)
    for path in map(Path, options.inputs):
        manifest = TuneFolder(path).manifest()
        if manifest is None or not (path / HELD_OUT_FILE).is_file():
            msg = f"{shown_path(path)} holds no sessions with held-out personas"
            raise UsageError(msg, hint="give tune --held-out FILE (gsrpo, grpo) or --held-out-personas FILE")
        own = _sessions(path / HELD_OUT_FILE, people)
        name = own[0]["candidate"]
        if name in rows:
            msg = f"two arms are called {name!r}"
            raise UsageError(msg, hint="an arm is called like its folder was when it was tuned")
        rows[name] = own
        means = {by: of for by in _BY if (of := _means(own, by))}
        group, level = _size(path), _LEVELS.get(manifest.method)
        arms.append(TunedArm(name, manifest.method, level, group, len(own), means))
        scale = next((g.scale for g in manifest.gains), scale)
        notes += [UNCHECKED_FIRST] if manifest.unchecked else []
    if options.baseline is not None and options.baseline not in rows:
        msg = f"no arm is called {options.baseline!r}"
        raise UsageError(msg, hint=f"there are {', '.join(rows)}")
    gains = list[ArmGain]()
    for by in _BY:
        pairs = [
            (arm.name, base.name)
            for arm in arms
            if (base := _baseline(arms, arm, options.baseline)).name != arm.name
            and by in arm.means
            and by in base.means
        ]
        compared = [paired_gain(rows[b], rows[a], by, None, scale)[0] for a, b in pairs]
        gains += [ArmGain(by, a, b, c) for (a, b), c in zip(pairs, adjusted(compared), strict=True)]
    notes += _apart(arms)
    return CommandOutcome(
        options=options, result=TunedArms(tuple(arms), tuple(gains), tuple(dict.fromkeys(notes)))
    )


def _baseline(arms: Sequence[TunedArm], arm: TunedArm, name: str | None) -> TunedArm:
    """Return the arm that is named, or the first of the same size."""
    of_size = [other for other in arms if other.group == arm.group]
    return next((other for other in of_size if other.name == name), of_size[0])


def _sessions(path: Path, people: Mapping[tuple[str, str], Mapping[str, float]] | None) -> list[Row]:
    """Return the sessions of the tuned model, with what people say of them.

    Raises FileFault for a file that is none of sessions.
    """
    try:
        rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        tuned = [row for row in rows if row["candidate"] != "before"]
        keyed: list[Row] = [
            {**row, "people": (people or {}).get((row["id"], row["candidate"]))} for row in tuned
        ]
    except (ValueError, KeyError, TypeError) as error:
        msg = f"it holds something else than sessions: {error}"
        raise FileFault(msg, place=Place(shown_path(path))) from error
    if not keyed:
        msg = "it holds no session of the tuned model"
        raise FileFault(msg, place=Place(shown_path(path)))
    return keyed


def _people(path: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return by session and arm the mean rating of each dimension."""
    scores: dict[tuple[str, str], dict[str, list[float]]] = {}
    for rating in read_ratings(path).ratings:
        if rating.turn is None and not isinstance(rating.score, str):
            of = scores.setdefault((rating.conversation_id, rating.candidate or ""), {})
            of.setdefault(rating.dimension, []).append(rating.score)
    return {key: {name: statistics.fmean(of) for name, of in by.items()} for key, by in scores.items()}


def _means(rows: Sequence[Row], by: By) -> dict[str, float]:
    """Return the mean of each dimension, and of all; empty where nobody scored."""
    dimensions = dict.fromkeys(name for row in rows for name in row[SCORED[by]] or ())
    values = {
        name: [v for row in rows if (v := mean_score(row, by, name)) is not None] for name in dimensions
    }
    whole = [v for row in rows if (v := mean_score(row, by)) is not None]
    means = {"mean": whole, **values} if whole else {}
    return {name: statistics.fmean(of) for name, of in means.items()}


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
    by_judge, by_people = (max(rated, key=lambda arm: arm.means[by]["mean"]) for by in ("reward", "people"))
    if by_judge is not by_people:
        yield f"The best by the judge, {by_judge.name}, is not the best by people: that is {by_people.name}."


def _blocks(result: TunedArms) -> Iterator[Block]:
    """Yield what to know first, a table of arms by dimensions for each size, and the differences."""
    if result.notes:
        yield Callout(result.notes, "warn")
    for group in dict.fromkeys(arm.group for arm in result.arms):
        arms = [arm for arm in result.arms if arm.group == group]
        columns = [
            (by, name)
            for by in _BY
            for name in dict.fromkeys(n for arm in arms for n in arm.means.get(by, ()))
        ]
        heads = ["arm", "reward level", *(f"{name.replace('_', ' ')}, {_BY[by]}" for by, name in columns)]
        rows: list[Sequence[Cell]] = []
        for arm in arms:
            cells = [_mean(arm, by, name) for by, name in columns]
            rows.append((f"{arm.name} ({arm.method})", arm.level or Missing("no reward"), *cells))
        yield data_table(f"{group} parameters", heads, rows)
    differences: list[Sequence[Cell]] = []
    for gain in result.gains:
        of = gain.comparison.difference
        value = Number(of.value, 2, of.interval, signed=True)
        differences.append((gain.arm, gain.baseline, _BY[gain.by], value, gain.comparison.side))
    if differences:
        heads = ["arm", "baseline", "by", "difference", "arm is"]
        yield data_table("Against the baseline, the same sessions", heads, differences)


def _mean(arm: TunedArm, by: By, name: str) -> Cell:
    value = arm.means.get(by, {}).get(name)
    return Missing("not rated") if value is None else Number(value, 2)


ENTRY: Final = Measurement(
    name="compare",
    prints=TunedArms,
    measure=_measure,
    view=lambda outcome: _blocks(outcome.result),
)
