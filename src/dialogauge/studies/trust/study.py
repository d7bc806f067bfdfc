"""The trust study: the checks of a finished run made anew, and a sample judged without its scenario."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Final

from dialogauge.core import InputError, Judge, Judged, Usage, WorkUnit, conversation_digest, digest
from dialogauge.core.json_keys import as_json
from dialogauge.core.judgement import row_json
from dialogauge.core.protocols import Request
from dialogauge.data import RatingTable
from dialogauge.report import Page
from dialogauge.runs import Ending, Row, StoredRun, Study, standing
from dialogauge.stats.reading import table_of
from dialogauge.studies.planted.blind_spots import BlindSpots
from dialogauge.studies.simulator.style import StyleSample
from dialogauge.studies.trust.look import kept_from, look_into
from dialogauge.studies.trust.result import Trust, TrustCheck, TrustThresholds
from dialogauge.studies.trust.scenario import Variant, check_scenario

TRUST: Final = "trust"


@dataclass(frozen=True, slots=True)
class JudgedVariant:
    """One target of a conversation that was judged under another scenario."""

    variant: Variant
    judged: Judged

    @property
    def failed(self) -> bool:
        """Whether there is no judgement."""
        return self.judged.failed

    @property
    def usage(self) -> Usage:
        """What judging it took."""
        return self.judged.usage

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write it as a row of `judgements.jsonl` with the `variant` beside it: `without` or `another`."""
        row = row_json(self.variant.conversation, self.judged, repeat=unit.repeat, judge=unit.judge)
        return {**row, "variant": self.variant.kind}


@dataclass(frozen=True, slots=True)
class TrustResult:
    """The checks, and the summary of the run that they belong to."""

    trust: Trust
    summary: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the run's `summary.json` with the checks in it."""
        return {**self.summary, "trust": as_json(self.trust)}


@dataclass
class TrustStudy(Study[TrustResult]):
    """Adds its checks to a run; see `runs.Study` for the parts."""

    hosts: Collection[str]
    """The kinds of run that it knows to check."""
    render: Callable[[StoredRun], Page]
    """Makes the page of the run."""
    _: KW_ONLY
    thresholds: TrustThresholds = field(default_factory=TrustThresholds)
    ratings: RatingTable | None = None
    """To calibrate against; None keeps what the run found before."""
    judge: Judge | None = None
    """The judge of the run, where variants are to be judged."""
    variants: Sequence[Variant] = ()
    planted: BlindSpots | None = None
    """What was found by planting faults; None keeps what the run found before."""
    real_users: StyleSample | None = None
    """Real users to hold simulated ones against; None keeps what the run found before."""
    unreadable: Sequence[InputError] = ()
    """Records of their file that are no conversations."""
    seed: int = 0
    _by_key: dict[str, Variant] = field(default_factory=dict)

    name = TRUST

    @property
    def works_on(self) -> Collection[str]:
        """Runs of judgements."""
        return self.hosts

    @property
    def judge_digest(self) -> str:
        """Another than that of the run's judge: variants are none of its judgements."""
        return digest([TRUST, None if self.judge is None else self.judge.digest])

    @property
    def expected(self) -> int:
        """One unit for each variant."""
        return len(self.variants)

    def plan(self) -> Sequence[WorkUnit]:
        """Return a unit for each variant; they can be drawn again from the run, and are not kept."""
        name = "" if self.judge is None else self.judge.name
        units = [
            WorkUnit(
                TRUST,
                None,
                conversation_digest(variant.conversation),
                self.judge_digest,
                seed=self.seed,
                part=variant.kind,
                judge=name,
                position=position,
            )
            for position, variant in enumerate(self.variants, start=1)
        ]
        self._by_key = {unit.key: v for unit, v in zip(units, self.variants, strict=True)}
        return units

    async def run(self, unit: WorkUnit) -> tuple[JudgedVariant, ...]:
        """Judge one variant."""
        variant = self._by_key[unit.key]
        if self.judge is None:
            return ()
        request = Request(
            variant.conversation.blinded(),
            repeat=unit.repeat,
            seed=unit.seed,
            standing=standing(unit.earlier),
        )
        judged = await self.judge.judge(request)
        return tuple(JudgedVariant(variant, row) for row in judged)

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> TrustResult:
        """Make the checks anew; what was found with calls before, and is not asked for again, stays."""
        kept = kept_from(run)
        if self.variants:
            kept = replace(kept, scenario=self._scenario(rows, run, ending, kept.scenario))
        earlier = 0 if kept.planted is None else kept.planted.judged
        if self.planted is not None and self.planted.judged >= earlier:
            kept = replace(kept, planted=self.planted)
        trust = look_into(run, table_of(run.rows()), self.thresholds, self.ratings, kept, self.real_users)
        return TrustResult(trust, run.directory.read_json("summary"))

    def _scenario(
        self, rows: Iterator[Row], run: StoredRun, ending: Ending, earlier: TrustCheck | None
    ) -> TrustCheck | None:
        """Compare variants and run; what broke off does not take the place of a check of more."""
        before = run.rows_of({v.conversation.id for v in self.variants})
        names, scales = [d.name for d in run.dimensions], [d.scale for d in run.dimensions]
        span = max((s.high - s.low for s in scales), default=1.0)
        check = check_scenario(before, rows, names, span=span, missing=ending.pending)
        if ending.pending and check.n <= (0 if earlier is None else earlier.n):
            return earlier
        return check

    def page(self, result: TrustResult, run: StoredRun) -> Page:
        """Return the page of the run, with the checks."""
        del result
        return self.render(run)
