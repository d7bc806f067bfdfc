"""What `dialogauge replay` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from dialogauge.cli.terminal import plain, print_json
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.replay.collect import Collected
    from dialogauge.app.replay.compare import Compared
    from dialogauge.app.replay.run_all import Ran
    from dialogauge.app.replay.score import Scored
    from dialogauge.app.replay.select import Selected
    from dialogauge.studies.replay import Pairing
    from dialogauge.studies.replay.comparison import ViewResult

_FAULTS_SHOWN = 20


def print_faults(faults: Sequence[Exception]) -> None:
    """Print what could not be used, on standard error."""
    for fault in faults[:_FAULTS_SHOWN]:
        typer.echo(f"dialogauge: {plain(str(fault))}", err=True)
    if len(faults) > _FAULTS_SHOWN:
        typer.echo(f"dialogauge: ... and {len(faults) - _FAULTS_SHOWN:,} more", err=True)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, harmless for a terminal."""
    for line in lines:
        typer.echo(plain(line))


def print_run(found: Ran, *, as_json: bool) -> None:
    """Print what the parts of a whole benchmark came to."""
    collected, scored = found.collected, found.scored
    print_faults([*found.selected.faults, *(f for f in collected.faults if f not in found.selected.faults)])
    if as_json:
        print_json(None if found.compared is None else found.compared.to_json())
        return
    print_lines(select_lines(found.selected))
    print_lines(["", *collect_lines(collected)])
    if scored is not None:
        print_lines(["", *score_lines(scored)])
    if found.compared is not None:
        print_lines(["", *compare_lines(found.compared)])


def select_lines(found: Selected) -> Iterator[str]:
    """Write the data card, and the mix of ratings against the whole."""
    from dialogauge.studies.replay import selected_on_gold
    from dialogauge.studies.replay.page import card_lines

    yield from (f"  {note}" for note in found.notes)
    for name, value in card_lines(found.items):
        yield f"{name:<14}{value}"
    yield ""
    card = found.items.card
    yield f"{'rated':<14}" + "".join(f"{score:>9}" for score in range(1, 6)) + f"{'mean':>9}"
    for label, mix in (("chosen", card["gold"]), ("all turns", card["gold_of_all"])):
        total = sum(mix["counts"].values()) or 1
        shares = "".join(f"{n / total:>9.1%}" for n in mix["counts"].values())
        yield f"{label:<14}{shares}{mix['mean']:>9.3f}"
    if selected_on_gold(found.items.rule):
        yield (
            "WARNING: the turns were chosen by how their users rated them. What candidates gain over the "
            "original replies is in part selection and regression to the mean; --rule stratified does not."
        )
    if found.path is not None:
        yield f"item set: {found.path}"


def collect_lines(found: Collected) -> Iterator[str]:
    """Write what became of each candidate's replies."""
    for name, tally in found.tallies.items():
        told = "".join(f", {n:,} {kind.replace('_', ' ')}" for kind, n in tally.failures.items())
        yield f"{name}: {tally.replied:,} of {counted(tally.requested, 'reply', 'replies')}{told}"
    yield from _usage(found.usage)
    yield from _ended(found)


def score_lines(found: Scored) -> Iterator[str]:
    """Write what was scored."""
    yield f"original: {counted(found.reference, 'reply', 'replies')} scored by {found.judge}"
    for name, (scored, failed) in found.candidates.items():
        yield f"{name}: {counted(scored, 'reply', 'replies')} scored" + (
            f", {failed:,} failed" if failed else ""
        )
    yield from _usage(found.usage)
    yield from _ended(found)


def _usage(usage: Any) -> Iterator[str]:  # noqa: ANN401 - a usage
    if usage.calls or usage.cached:
        cost = "unknown" if usage.cost is None else f"{usage.cost:.4f}"
        yield (
            f"{counted(usage.calls, 'call')}, {usage.cached:,} cached, {usage.prompt_tokens:,} + "
            f"{usage.completion_tokens:,} tokens, cost {cost}"
        )


def _ended(found: Collected | Scored) -> Iterator[str]:
    if found.error is not None:
        yield f"ended early: {found.error}"
    elif found.ended == "interrupted":
        yield "interrupted; the same command goes on from here"


def compare_lines(found: Compared) -> Iterator[str]:
    """Write the leaderboard of every view, the pairs of the raw view, lengths and warnings."""
    from dialogauge.studies.replay.page import MEANINGS, warnings_of

    yield (
        f"{counted(found.present, 'item')}, scored by {found.evaluator['name']}; "
        f"{counted(len(found.candidates), 'candidate')} and the original replies"
    )
    for view, result in found.comparison.views.items():
        yield ""
        yield f"{view}: {MEANINGS[view]}"
        yield from _board(result)
        yield from _pairs(result)
        yield from _controls(result)
    yield ""
    yield from _lengths(found)
    yield f"self-preference: {found.comparison.views['raw'].self_preference.words}"
    for warning in warnings_of(found.comparison, found.items, found.failures, found.evaluator):
        yield f"WARNING: {warning}"
    if found.files:
        yield f"report: {found.files[-1]}"


def _board(result: ViewResult) -> Iterator[str]:
    width = max(18, *(len(name) for name in result.aggregates))
    heads = ("micro", "task", "block", "SAT", "DSAT")
    yield (
        f"  {'':<{width}}{'user macro':>12}{'95 % by users':>18}"
        + "".join(f"{h:>8}" for h in heads)
        + f"{'n':>9}"
    )
    for name, a in result.aggregates.items():
        cells = "".join(f"{_number(v):>8}" for v in (a.micro, a.task_macro, a.block_macro, a.sat, a.dsat))
        failed = f", {a.failed:,} failed" if a.failed else ""
        mean = f"{_number(a.user_macro):>12}{_interval(a.primary.interval):>18}"
        yield f"  {name:<{width}}{mean}{cells}{a.n:>9,}{failed}"
    yield f"  {'(every reply a 5)':<{width}}{_number(result.ceiling):>12}"


def _pairs(result: ViewResult) -> Iterator[str]:
    for pair in result.pairs:
        yield f"  {_pair(pair)}"


def _pair(pair: Pairing) -> str:
    items = pair.items
    counts = f"{items.wins:,} won, {items.ties:,} tied, {items.losses:,} lost"
    c, delta = pair.comparison, f"difference {_difference(pair)}"
    return f"{pair.a} against {pair.b}: {counts}; {delta}, p {_number(c.p_holm)}: {c.side}"


def _difference(pair: Pairing) -> str:
    found = pair.difference
    return f"{_number(found.value, sign=True)} {_interval(found.interval)}"


def _controls(result: ViewResult) -> Iterator[str]:
    by_length = {p.a: p for p in result.length.pairs}
    for dealt in result.shuffled:
        length = by_length.get(dealt.name)
        told = "-" if length is None else _difference(length)
        ends = "-" if dealt.low is None or dealt.high is None else f"[{dealt.low:z.3f}, {dealt.high:z.3f}]"
        yield f"  controls of {dealt.name}: by reply length alone {told}; dealt at random {ends}"


def _lengths(found: Compared) -> Iterator[str]:
    for name, f in found.comparison.lengths.items():
        mean = "-" if f.mean is None else f"{f.mean:,.0f}"
        ratio = "" if f.ratio is None else f", {f.ratio:z.2f} of the original"
        yield (
            f"length: {name} {mean} characters{ratio}; score with length {_number(f.within)}, "
            f"difference with difference {_number(f.against_original)}"
        )


def _number(value: float | None, *, sign: bool = False) -> str:
    if value is None:
        return "-"
    return f"{value:+z.3f}" if sign else f"{value:z.3f}"


def _interval(ends: tuple[float, float] | None) -> str:
    return "-" if ends is None else f"[{ends[0]:z.3f}, {ends[1]:z.3f}]"
