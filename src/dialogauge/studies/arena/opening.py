"""What an arena says, in sentences: who leads and by how much, who cannot be told apart, and what else could
be the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dialogauge.report import words
from dialogauge.stats import Estimate, Ranking
from dialogauge.studies.arena.controls import LENGTH, Beside, PositionBias
from dialogauge.text import counted

_EVEN: Final = 0.5
"""How often a referee that knows nothing names the same winner."""
_NAMED: Final = 6
"""Agents that a sentence names."""
_RUNS: Final = 4
"""Groups of agents that it names."""


def opening(board: Ranking, position: PositionBias | None, beside: Sequence[Beside]) -> tuple[str, ...]:
    """Return the sentences that a careful reader would begin with.

    Args:
        board: The ranking.
        position: What a model said that was asked in both orders.
        beside: Other referees of the same meetings.
    """
    sentences = ["All agents have the same rating."]
    if {one.rank for one in board.standings} != {1}:
        leads = zip(board.groups, board.leads, strict=True)
        sentences = [s for group, lead in leads if lead is not None for s in _group(board, group, lead)]
    if position is not None and position.changed.value is not None:
        changed = share_of(position.changed)
        sentences.append(f"In the other order the judge named another winner in {changed} of the meetings.")
    return (*sentences, *_length(board, beside))


def _group(board: Ranking, names: Sequence[str], lead: Estimate) -> Iterator[str]:
    """Say of agents that votes link who leads, and who cannot be told apart."""
    first, *others = names
    why = next(one.rating.reason for one in board.standings if one.agent == first)
    if why is not None:
        yield f"{first} has the highest rating of {_list(names)}, and nothing says how sure that is: {why}."
        return
    equals = [name for name in others if (first, name) not in board.above]
    if len(equals) == len(others):
        yield f"These votes do not show who is best: {_list(names)} cannot be told apart at the top."
    elif equals:
        yield f"{first} has the highest rating, but {_list(equals)} cannot be told apart from it."
    else:
        yield f"{first} leads{_by(lead, others[0])}."
    runs = [run for run in _runs(board, others) if not set(run) <= set(equals)]
    if runs:
        more = f"; and so on, {counted(len(runs) - _RUNS, 'more group')}" if len(runs) > _RUNS else ""
        yield f"Cannot be told apart: {'; '.join(map(_list, runs[:_RUNS]))}{more}."
    elif len(others) > 1 and not equals:
        yield "The others can be told apart too."


def _by(lead: Estimate, second: str) -> str:
    if lead.value is None or lead.interval is None:
        return ""
    won = 1 / (1 + 10 ** (-lead.value / 400))
    return (
        f", {lead.value:,.0f} points {words.interval(lead.interval, 0)} above {second}: it wins about "
        f"{100 * won:.0f} % of their votes that have a winner"
    )


def _runs(board: Ranking, names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield neighbours of which no two are told apart, as long as they come; none within another."""
    reach = 0
    for start in range(len(names)):
        end = start + 1
        while end < len(names) and all((one, names[end]) not in board.above for one in names[start:end]):
            end += 1
        if end - start > 1 and end > reach:
            yield names[start:end]
        reach = max(reach, end)


def _list(names: Sequence[str]) -> str:
    return words.listing(names, _NAMED)


def _length(board: Ranking, beside: Sequence[Beside]) -> Iterator[str]:
    """Say what length is worth, or that it alone finds more winners than a coin would."""
    if board.longer is not None:
        ends = "" if board.longer.interval is None else f" {words.interval(board.longer.interval, 0)}"
        points = words.decimal(board.longer.value, 0)
        yield f"Length is taken out of these ratings: being twice as long is worth {points} points{ends}."
        return
    length = next((one for one in beside if one.name == LENGTH), None)
    if length is not None and length.agrees.interval is not None and length.agrees.interval[0] > _EVEN:
        side, share = length.what.split()[1], share_of(length.agrees)
        yield (
            f"The {side} side wins {share} of the votes that have a winner, so length may be "
            "part of it (--equal-length takes it out)."
        )


def share_of(of: Estimate) -> str:
    """Write a share with its interval."""
    ends = "" if of.interval is None else f" {words.percents(of.interval)}"
    return words.percent(of.value) + ends
