"""The page of a tuning: what it was made from, figures before and after, and curves along its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Card,
    Cards,
    Cell,
    Count,
    Curve,
    Definitions,
    Number,
    Page,
    Point,
    Section,
    data_table,
)
from dialogauge.stats import Estimate
from dialogauge.studies.evidence import UNCHECKED_FIRST
from dialogauge.training import SHARED_PERSONAS, LogLine, TuneManifest

FIGURES: Final[Mapping[str, str]] = {
    "loss": "Loss",
    "margin": "Margin: reward of the winner less that of the loser",
    "reward_chosen": "Reward of the winner",
    "reward_rejected": "Reward of the loser",
    "accuracy": "Share of pairs in which the winner has the higher reward",
    "kl": "Divergence from the model before, nats of a token",
    "length": "Tokens of a character in a dialogue",
    "learning_rate": "Learning rate",
    "reward": "Reward: mean score of the sessions less costs",
    "second": "Mean score by the second judge, which is no reward",
    "clip_share": "Share of tokens at which the clip holds back",
    "truncated": "Share of replies that the cap cut off",
    "repeated": "Share of replies that repeat an earlier one",
    "length_pays": "Correlation of score and length within groups",
    "skipped": "Groups left out: without spread, or with too few scores",
    "failed": "Sessions without a score",
    "dropped": "Sessions whose oldest turns did not fit",
}
"""By name in the log: what it is. Others stand under their own name."""
_ENDED: Final[Mapping[str, str]] = {
    "finished": "It came to its last step.",
    "interrupted": "It was interrupted; the same command continues from its last checkpoint.",
    "running": "It is not finished; the same command continues from its last checkpoint.",
    "error": "It ended with an error; the same command continues from its last checkpoint.",
    "guard": "A guard stopped it; the model is that of before this step, and older checkpoints are kept.",
}


NOT_BY_PEOPLE: Final = (
    "A gain by a judge is no gain by people: in DynSess the model with the best automatic score, 4.46, had "
    "3.35 from people, below the 3.37 of another."
)
_JUDGES: Final[Mapping[str, str]] = {"reward": "the reward", "second": "the second judge"}


def tune_brief(manifest: TuneManifest) -> Iterator[Block]:
    """Yield how a tuning ended, what it was worth to play with, and its figures on held-out rows."""
    if manifest.ended != "finished":
        yield Callout((" ".join([_ENDED[manifest.ended], manifest.why or ""]).strip(),), "warn")
    yield from _gains(manifest)
    after = {name: of.value or 0.0 for name, of in manifest.after.items()}
    if round(after.get("reward_chosen", 0.0), 2) < 0:
        more = "; the losers fell further" if after["margin"] > 0 else ""
        yield Callout((f"The winners became less likely than before{more}.",), "warn")
    if shared := manifest.counts.get(SHARED_PERSONAS):
        text = f"{shared:,} held-out rows are of personas that are trained on: others may gain less."
        yield Callout((text,), "warn")
    if manifest.after:
        rows: list[Sequence[Cell]] = [
            (FIGURES.get(name, name), _estimate(manifest.before[name]), _estimate(of))
            for name, of in manifest.after.items()
        ]
        yield data_table("Held-out rows, before and after", ["figure", "before", "after"], rows)
    if manifest.counts:
        counts: list[Sequence[Cell]] = [(name, Count(n)) for name, n in manifest.counts.items()]
        yield data_table("What was trained on", ["what", "number"], counts)


def _gains(manifest: TuneManifest) -> Iterator[Block]:
    """Yield what sessions with held-out personas came to; a fall by the second judge is said first."""
    gains = manifest.gains
    for of in (g.comparison for g in gains if g.judge == "second" and g.dimension is None):
        if (fall := of.difference.value or 0.0) < 0:
            sure = "" if of.side == "below" else ", not distinguishable from no change"
            yield Callout((f"The second judge gives less than before: {fall:+.2f}{sure}.",), "warn")
    if manifest.unchecked:
        yield Callout((UNCHECKED_FIRST,), "warn")
    if not gains:
        return
    rows: list[Sequence[Cell]] = []
    for g in gains:
        of, judge = g.comparison, f"{_JUDGES[g.judge]}: {g.name}"
        gain = Number(of.difference.value, 2, of.difference.interval, signed=True)
        figures = (Number(of.figure_b, 3), Number(of.figure_a, 3), gain, of.side)
        counts = Count(of.difference.clusters), Count(g.failed)
        rows.append((judge, g.dimension or "mean", *figures, *counts))
    heads = ["judge", "score", "before", "after", "gain", "after is", "personas", "failed"]
    yield data_table("Sessions with held-out personas", heads, rows)
    yield Callout((NOT_BY_PEOPLE,))


def tune_page(manifest: TuneManifest, lines: Sequence[LogLine]) -> Page:
    """Return the page of a tuning."""
    asked = {"method": manifest.method, "model": manifest.model, "data": manifest.data}
    settings = {**asked, **manifest.asked.get("settings", {}), **manifest.versions}
    made = Definitions(tuple((name.replace("_", " "), str(value)) for name, value in settings.items()))
    curves = (*_curves(lines, held_out=True), *_curves(lines, held_out=False))
    sections = [
        Section("Result", tuple(tune_brief(manifest))),
        Section("Along the steps", (Cards(curves, wide=True),) if curves else ()),
        Section("Settings", (made,)),
    ]
    return Page(f"Tuning: {manifest.method}", tuple(s for s in sections if s.blocks))


def _curves(lines: Sequence[LogLine], *, held_out: bool) -> Iterator[Card]:
    """Yield a curve for each figure that changes along the steps."""
    chosen = [line for line in lines if line.held_out == held_out]
    last = float(max((line.step for line in chosen), default=1))
    figures = dict.fromkeys(name for line in chosen for name in line.figures)
    for name in figures:
        values = [(line.step, v) for line in chosen if (v := line.figures.get(name)) is not None]
        low, high = (f((v for _, v in values), default=0.0) for f in (min, max))
        if low == high:
            continue
        room = (high - low) / 20
        axis = Axis(0.0, 1.0) if name == "accuracy" else Axis(low - room, high + room)
        played = name == "length" and "reward" in figures
        title = ("Tokens of a reply" if played else FIGURES.get(name, name)) + (
            ", held-out rows" if held_out else ""
        )
        points = tuple(Point(float(step), value) for step, value in values)
        yield Card(title, (Curve(title, points, Axis(0.0, last, "step", whole=True), axis),))


def _estimate(of: Estimate) -> Number:
    return Number(of.value, 3, of.interval, notes=(of.reason,) if of.reason else ())
