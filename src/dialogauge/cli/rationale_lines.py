"""What `dialogauge satisfaction` prints of a judge's reasons and rationales."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.bench.satisfaction import RationaleCheck
    from dialogauge.bench.satisfaction.rationale_result import RationaleCase, TermUse

__all__ = ["rationale_lines"]

_LONGEST = 160
_TITLES = {"core": "core", "not_core": "real but not core", "off_task": "off-task"}


def rationale_lines(check: RationaleCheck) -> Iterator[str]:
    """Write the confusion table, where the rationales' terms come from, and examples of each kind."""
    judged = counted(check.judged, "turn")
    yield f"reasons and rationales: {judged}, {check.without_rationale:,} without a rationale"
    yield from _table(check)
    yield from _agreement(check)
    yield from _terms(check)
    yield from _kinds(check)


def _table(check: RationaleCheck) -> Iterator[str]:
    used = [b for b in check.table if any(row[b] for row in check.table.values())]
    if not used:
        return
    width = max(len("the user's, the judge's"), *(len(name) for name in check.table)) + 2
    yield f"  {'the user, the judge':<{width}}" + "".join(f"{name:>{len(name) + 2}}" for name in used)
    for name, row in check.table.items():
        if any(row.values()):
            yield f"  {name:<{width}}" + "".join(f"{row[b]:>{len(b) + 2},}" for b in used)


def _agreement(check: RationaleCheck) -> Iterator[str]:
    found = check.agreement
    if not found.n or found.agreed is None:
        yield "  no turn has a reason of both"
        return
    between = "" if found.interval is None else f" [{found.interval[0]:z.3f}, {found.interval[1]:z.3f}]"
    kappa = "-" if found.kappa is None else f"{found.kappa:z.3f}"
    always = "" if found.constant is None else f", always {found.constant_reason} {found.constant:z.3f}"
    yield (
        f"  the user's own reason in {found.agreed:z.3f}{between} of {found.n:,} turns that both call "
        f"dissatisfied; kappa {kappa}; controls: shuffled {found.shuffled:z.3f}{always}"
    )


def _terms(check: RationaleCheck) -> Iterator[str]:
    yield (
        f"  terms of {check.use.rationales:,} rationales ({check.not_comparable:,} not comparable): "
        f"{_use(check.use)}"
    )
    if check.chance is not None:
        yield f"  by chance, with the history of another user: {_use(check.chance)}"


def _use(use: TermUse) -> str:
    if not use.terms:
        return "none"
    return (
        f"{use.here / use.terms:.1%} of this conversation, {use.sources_only / use.terms:.1%} of the user's "
        f"other scenarios alone ({use.of_sources / use.terms:.1%} at home there), "
        f"{use.off_task:,} rationales off-task"
    )


def _kinds(check: RationaleCheck) -> Iterator[str]:
    from dialogauge.bench.satisfaction import KINDS

    for kind, meaning in KINDS.items():
        yield f"  {_TITLES[kind]}: {check.kinds[kind]:,} ({meaning})"
        for case in check.examples[kind]:
            yield from _case(case)
    yield f"  missed: {check.missed:,} (the user is dissatisfied and the judge is not)"


def _case(case: RationaleCase) -> Iterator[str]:
    yield (
        f"    {case.turn_id}: the user {case.user_score:g}, {case.user_reason}; "
        f"the judge {case.judge_score}, {case.judge_reason}"
    )
    text = " ".join(case.rationale.split())
    yield f"      {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}"
    if case.kind == "off_task":
        yield f"      of other scenarios: {', '.join(case.of_sources)}"
