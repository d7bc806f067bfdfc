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
    Missing,
    Number,
    Page,
    Point,
    Section,
    data_table,
)
from dialogauge.training import LogLine, TuneManifest

FIGURES: Final[Mapping[str, str]] = {
    "loss": "Loss",
    "margin": "Margin: reward of the winner less that of the loser",
    "reward_chosen": "Reward of the winner",
    "reward_rejected": "Reward of the loser",
    "accuracy": "Share of pairs in which the winner has the higher reward",
    "kl": "Divergence from the model before, nats of a token",
    "length": "Tokens of a character in a dialogue",
    "learning_rate": "Learning rate",
}
"""By name in the log: what it is. Others stand under their own name."""
_ENDED: Final[Mapping[str, str]] = {
    "finished": "It came to its last step.",
    "interrupted": "It was interrupted; the same command continues from its last checkpoint.",
    "running": "It is not finished; the same command continues from its last checkpoint.",
    "error": "It ended with an error; the same command continues from its last checkpoint.",
    "guard": "A guard stopped it.",
}


def tune_brief(manifest: TuneManifest) -> Iterator[Block]:
    """Yield how a tuning ended, and its figures on held-out rows."""
    if manifest.ended != "finished":
        yield Callout((" ".join([_ENDED[manifest.ended], manifest.why or ""]).strip(),), "warn")
    loser = manifest.after.get("reward_chosen")
    if loser is not None and loser < 0:
        yield Callout(("The winners became less likely than before; the losers fell further.",), "warn")
    if manifest.after:
        rows: list[Sequence[Cell]] = [
            (FIGURES.get(name, name), _number(manifest.before.get(name)), _number(value))
            for name, value in manifest.after.items()
        ]
        yield data_table("Held-out rows, before and after", ["figure", "before", "after"], rows)
    if manifest.counts:
        counts: list[Sequence[Cell]] = [(name, Count(n)) for name, n in manifest.counts.items()]
        yield data_table("What was trained on", ["what", "number"], counts)


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
    for name in dict.fromkeys(name for line in chosen for name in line.figures):
        values = [(line.step, v) for line in chosen if (v := line.figures.get(name)) is not None]
        low, high = (f((v for _, v in values), default=0.0) for f in (min, max))
        if low == high:
            continue
        room = (high - low) / 20
        axis = Axis(0.0, 1.0) if name == "accuracy" else Axis(low - room, high + room)
        title = FIGURES.get(name, name) + (", held-out rows" if held_out else "")
        points = tuple(Point(float(step), value) for step, value in values)
        yield Card(title, (Curve(title, points, Axis(0.0, last, "step", whole=True), axis),))


def _number(value: float | None) -> Cell:
    return Missing("not measured") if value is None else Number(value, 3)
