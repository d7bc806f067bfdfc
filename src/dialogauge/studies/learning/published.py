"""Published results of MemoryBench: its tables made anew, and zeros in them that cannot be.

The file has of each partition and data set what all systems got together, and the mean of each system.
Of most it has sums of min-max and z scores too, and totals. Figures are made of the means, and every stored
sum and total is compared with them. The cases are not in it, so nothing has an interval.

Source: github.com/LittleDinoC/MemoryBench-code at 59d1b60, `configs/final_evaluate_summary_wo_details.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import sqrt
from operator import mul
from pathlib import Path
from typing import Final, TypedDict, TypeVar

import orjson

from dialogauge.core import FileFault, Place
from dialogauge.core.files import read_text, shown_path
from dialogauge.core.json_keys import keys
from dialogauge.core.shape import Misfit, read_as
from dialogauge.core.version import __version__
from dialogauge.data.tasks import DATASETS
from dialogauge.report import Block, Callout, Page, Section, words
from dialogauge.stats import Estimate
from dialogauge.studies.learning.partitions import (
    FIGURES,
    NORMS,
    PartitionFigures,
    PartitionScores,
    References,
    ScoreReference,
    figures_table,
    left_out_notes,
    means_table,
    partition_dots,
    undefined,
)
from dialogauge.text import counted

T = TypeVar("T")

_NAMES: Final = {
    "wo_memory": "Vanilla", "bm25": "BM25-M", "bm25_dialog": "BM25-S", "embedder": "Embed-M",
    "embedder_dialog": "Embed-S", "a_mem": "A-Mem", "mem0": "Mem0", "memoryos": "MemoryOS",
    "Open-Domain": "Open", "Academic&Knowledge": "Academic", "Legal": "Legal",
    "Long-Short": "LiSo", "Short-Long": "SiLo", "Long-Long": "LiLo", "Short-Short": "SiSo",
    "Locomo": "LoCoMo", "NFCats": "NF-CATS",
    "HelloBench-Creative&Design": "HelloBench-C.D.",
    "HelloBench-Academic&Knowledge-QA": "HelloBench-A.K.-QA",
    "HelloBench-Academic&Knowledge-Writing": "HelloBench-A.K.-Writing",
    "WritingBench-Creative&Design": "WritingBench-C.D.",
    "WritingBench-Academic&Engineering": "WritingBench-A.E.",
    "WritingBench-Politics&Law": "WritingBench-P.L.",
}  # fmt: skip
"""What the paper calls what the file names, in its order."""
TABLE_9: Final[Mapping[tuple[str, str], float]] = {("Vanilla", "WritingPrompts"): 0.2345}
"""Means that the paper prints in its Table 9, of systems that have 0 in the file."""
_ERRORS: Final = 5
"""A mean of 0 is doubted where it lies more than so many standard errors below all others."""
_RANGE: Final = ("dataset_min", "dataset_max", "dataset_mu", "dataset_sigma")
_TOTALS: Final = {"weighted_average": "minmax_by_case", "z_score": "z_by_case", "average": "minmax_by_set"}
"""Which figure each stored total is."""
_DOMAINS: Final = frozenset(dataset.domain for dataset in DATASETS.values())
_EQUAL: Final = 1e-9
_FAR: Final = 1e6
"""Where a range is 1: no score is as far."""
_HINT: Final = "give runs of `learn run`, or final_evaluate_summary.json of MemoryBench-code as it is"

_Sums = Mapping[str, Mapping[str, tuple[float, int, float]]]
"""By data set and system: sum, cases, mean."""


class _StoredPartition(TypedDict):
    average: Mapping[str, Mapping[str, float]]
    minmax_normalized_average: _Sums
    z_normalized_average: _Sums
    summary: Mapping[str, Mapping[str, float]]
    """By what it is, `dataset_min` or `z_score`, and data set or system."""


@dataclass(frozen=True, slots=True)
class PublishedMean:
    """What a system got on a data set of a partition, on the data set's own scale."""

    mean: float
    n: int


Means = Mapping[str, Mapping[str, PublishedMean]]
"""By system and data set."""


@dataclass(frozen=True, slots=True)
class OddZero:
    """A mean of exactly 0, where all others are far above it: answers that were not scored."""

    system: str
    dataset: str
    n: int
    others: tuple[float, float]
    """The least and the greatest mean of the other systems."""
    corrected: str | None
    """What the system is called where another mean stands in; None where none is known."""


@dataclass(frozen=True, slots=True)
class PublishedPartition:
    """What systems got on a partition."""

    name: str
    means: Means
    scores: PartitionScores
    without_corpus: PartitionScores | None
    """Of the data sets without a corpus, `Open*`; None where all are, or none is."""
    zeros: tuple[OddZero, ...]
    unsummed: tuple[str, ...]
    """Systems of which the file has means alone: the references are without their cases."""


@keys(partitions="partitions{name}")
@dataclass(frozen=True, slots=True)
class PublishedTables:
    """What a published file says, and what is wrong in it."""

    file: str
    partitions: tuple[PublishedPartition, ...]
    checked: int
    """Stored sums and totals."""
    differing: tuple[str, ...]
    """Those that do not follow from the means."""

    @property
    def systems(self) -> Sequence[str]:
        """All of them, in the paper's order."""
        return sorted({system for of in self.partitions for system in of.means}, key=_rank)

    @property
    def page(self) -> Page:
        """The page, as of today."""
        blocks, created = (*published_blocks(self), *_more(self)), datetime.now(UTC).date().isoformat()
        return Page("Published results", blocks, self.file, created, __version__)


def read_published(path: str | Path) -> PublishedTables:
    """Read `final_evaluate_summary.json`; for a doubtful 0 stands a mean of `TABLE_9`, where it has one.

    Raises FileFault where it cannot be read, or something in it is missing or of another form; it says where.
    """
    file, text = shown_path(path), read_text(path, "file of published results", FileFault, _HINT)
    checks: dict[str, bool] = {}
    try:
        kinds = read_as(orjson.loads(text), dict[str, dict[str, _StoredPartition]])
        stored = _ordered({_named(name): part for kind in kinds.values() for name, part in kind.items()})
        partitions = tuple(_partition(name, part, checks) for name, part in stored.items())
        if not partitions:
            what = "has no partition"
            raise Misfit(what)
    except (ValueError, KeyError) as error:
        why = f"a part of it lacks {error}" if isinstance(error, KeyError) else str(error)
        msg, line = f"the published results have another form: {why}", getattr(error, "lineno", None)
        raise FileFault(msg, place=Place(file, line), hint=_HINT) from error
    return PublishedTables(file, partitions, len(checks), tuple(n for n, same in checks.items() if not same))


def _named(key: str) -> str:
    return _NAMES.get(key, key)


def _ordered(named: Mapping[str, T]) -> dict[str, T]:
    return {name: named[name] for name in (*DATASETS, *_NAMES.values(), *named) if name in named}


def _partition(name: str, stored: _StoredPartition, checks: dict[str, bool]) -> PublishedPartition:
    """Put a partition together, and compare what is stored with what the means give."""
    means, references = dict[str, dict[str, PublishedMean]](), dict[str, ScoreReference]()
    summary, summed = stored["summary"], set[str]()
    for key, raw in stored["average"].items():
        sums = (stored["minmax_normalized_average"][key], stored["z_normalized_average"][key])
        counts = {system: n for system, (_, n, _) in sums[0].items()}
        if min((n for of in sums for _, n, _ in of.values()), default=0) < 1 or not raw:
            what = "counts no case"
            raise Misfit(what, f"{name}.{key}")
        dataset, (low, high, mu, sigma) = _named(key), (summary[of][key] for of in _RANGE)
        references[dataset] = reference = ScoreReference(low, high, mu, sigma, sum(counts.values()))
        for system, mean in raw.items():
            n = counts.get(system, max(counts.values()))
            means.setdefault(_named(system), {})[dataset] = PublishedMean(mean, n)
        for norm, of in zip(NORMS, sums, strict=True):
            for system, (total, n, _) in of.items():
                same = abs(reference.brought(raw[system], norm) - total / n) < _EQUAL
                checks[f"{norm} of {_named(system)} on {dataset} in {name}"] = same
        summed |= {_named(system) for system in counts}
    unsummed = tuple(system for system in means if system not in summed)
    references = _ordered(references)
    zeros = tuple(_zeros(means, references))
    for zero in zeros:
        if zero.corrected is not None:
            other = PublishedMean(TABLE_9[zero.system, zero.dataset], zero.n)
            means[zero.corrected] = {**means[zero.system], zero.dataset: other}
    means = dict(sorted(means.items(), key=lambda one: _rank(one[0])))
    scores = _scores(means, references)
    own = {of.system: of for of in scores.systems}
    for key, figure in _TOTALS.items():
        for system, value in summary.get(key, {}).items():
            made: float | None = getattr(own[_named(system)], figure).value
            same = made is not None and abs(made - value) < _EQUAL
            checks[f"{key} of {_named(system)} in {name}"] = same
    plain = {n: of for n, of in references.items() if n not in DATASETS or not DATASETS[n].corpus}
    starred = None if len(plain) in (0, len(references)) else _scores(means, plain)
    return PublishedPartition(name, means, scores, starred, zeros, unsummed)


def _rank(system: str) -> tuple[int, str]:
    """Return where a system stands: in the paper's order, a corrected one behind itself."""
    known = system.partition(",")[0]
    return [*_NAMES.values(), known].index(known), system


def _zeros(means: Means, references: References) -> Iterator[OddZero]:
    """Yield the zeros that cannot be."""
    for dataset, reference in references.items():
        of = {system: own[dataset] for system, own in means.items() if dataset in own}
        for system, mean in of.items():
            others = [other.mean for name, other in of.items() if name != system]
            if mean.mean or len(others) < 2 or min(others) <= _ERRORS * reference.sd / sqrt(mean.n):
                continue
            value = TABLE_9.get((system, dataset))
            corrected = None if value is None else f"{system}, {dataset} {value:g}"
            yield OddZero(system, dataset, mean.n, (min(others), max(others)), corrected)


def _scores(means: Means, references: References) -> PartitionScores:
    """Bring the means of systems into one figure each."""
    systems = []
    for system, of in means.items():
        own = {name: of[name] for name in references if name in of}
        missing = tuple(name for name in references if name not in of)
        sizes, estimates = [mean.n for mean in own.values()], list[Estimate]()
        for norm in NORMS:
            values = [references[name].brought(of.mean, norm) for name, of in own.items()]
            if not all(abs(score) < _FAR for score in values):
                what = "are far outside of the range of a data set"
                raise Misfit(what, f"scores of {system}")
            for weights in (sizes, [1] * len(own)):
                value = None if missing or not own else sum(map(mul, values, weights)) / sum(weights)
                estimates.append(undefined(sum(sizes), "the file has no cases", value))
        systems.append(PartitionFigures(system, sum(sizes), missing, *estimates))
    return PartitionScores(tuple(references), {}, references, tuple(systems))


def published_blocks(tables: PublishedTables) -> Iterator[Block]:
    """Lay out Tables 7 and 8 for a terminal, and first what is wrong in them."""
    for partition in tables.partitions:
        for zero in partition.zeros:
            yield Callout(tuple(_zero_words(zero, partition)), "warn")
    if tables.differing:
        first = words.listing(tables.differing, 5)
        yield Callout((f"Stored figures that do not follow from the means: {first}.",), "warn")
    sums = counted(tables.checked, "stored sum or total", "stored sums and totals")
    about = [f"{sums} compared with the means."]
    for partition in tables.partitions:
        if partition.unsummed:
            names = words.listing(partition.unsummed)
            about.append(f"{partition.name}: no sums of {names}; the ranges are without these cases.")
    yield Callout(tuple(about))
    scores = {partition.name: partition.scores for partition in tables.partitions}
    yield from left_out_notes(scores)
    quiet = {zero.corrected for of in tables.partitions for zero in of.zeros if zero.corrected}
    for title, figure in (("Table 7: min-max", "minmax_by_case"), ("Table 8: z", "z_by_case")):
        yield figures_table(f"{title}, each case once", scores, figure, systems=tables.systems, quiet=quiet)


def _zero_words(zero: OddZero, partition: PublishedPartition) -> Iterator[str]:
    """Say what a zero does to the figures of a partition."""
    low, high = (words.decimal(value, 4) for value in zero.others)
    cases = f"{zero.system} has 0 on all {counted(zero.n, 'case')} of {zero.dataset}"
    yield f"{partition.name}: {cases}, others {low} to {high}: as if nothing had been scored."
    names = (zero.system, zero.corrected)
    for of in partition.scores.systems:
        places = []
        for norm, figure in (("min-max", "minmax_by_case"), ("z", "z_by_case")):
            others = [getattr(o, figure).value for o in partition.scores.systems if o.system not in names]
            value, known = getattr(of, figure).value, [other for other in others if other is not None]
            if of.system in names and value is not None:
                place = f"place {1 + sum(other > value for other in known)} of {1 + len(known)}"
                places.append(f"{norm} {words.decimal(value, 4, signed=norm == 'z')}, {place}")
        if places:
            yield f"{of.system}: {'; '.join(places)}."


def _more(tables: PublishedTables) -> Iterator[Block]:
    """Lay out what the page has besides."""
    scores: dict[str, PartitionScores] = {}
    for of in tables.partitions:
        scores[of.name] = of.scores
        if of.without_corpus is not None:
            scores[f"{of.name}*"] = of.without_corpus
    domains = {name: of for name, of in scores.items() if name.rstrip("*") in _DOMAINS}
    rows = tables.systems
    both = figures_table("By domain", domains, "minmax_by_case", "z_by_case", systems=rows)
    lead = "As Tables 10 and 13. Open* is without LoCoMo and DialSim, which have a corpus."
    yield Section("Both scores", (both,), lead)
    raw = {
        of.name: {d: {s: own[d].mean for s, own in of.means.items() if d in own} for d in of.scores.datasets}
        for of in tables.partitions
    }
    corrected = {zero.corrected for of in tables.partitions for zero in of.zeros}
    means = means_table("Means", raw, [system for system in rows if system not in corrected])
    lead = "As Table 9, each on its own scale. Of several metrics the file has the merged grade alone."
    yield Section("By data set", (means,), lead)
    each = (figures_table(FIGURES[of], scores, of, systems=rows) for of in ("minmax_by_set", "z_by_set"))
    lead = "The mean of the means of data sets, whatever their size."
    yield Section("Each data set once", tuple(each), lead)
    lead = "There are no intervals: the file has no cases."
    yield Section("Partitions", (partition_dots(scores),), lead)
