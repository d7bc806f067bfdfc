"""The check of the simulated users on a page and on a terminal."""

from __future__ import annotations

from typing import Final

from dialogauge.report import (
    Block,
    Callout,
    Fold,
    Items,
    Number,
    Percent,
    Prose,
    Section,
    Span,
    TableColumn,
    TableRow,
    data_table,
    words,
)
from dialogauge.signals import UserFaultKind
from dialogauge.studies.simulator.check import SimulatorCase, SimulatorCheck
from dialogauge.studies.simulator.style import Style

_FAULTS: Final[dict[UserFaultKind, tuple[str, str]]] = {
    "speaks_as_other": ("speaks as the other side", "all"),
    "repeats_itself": ("repeats itself", "of several messages"),
    "goal_given_away": ("gives the goal away in the first message", "with a goal or facts"),
    "tells_unasked": ("tells what is to be asked for", "with facts"),
    "stops_early": ("stops early", "whose end is known"),
    "goes_on": ("goes on after taking leave", "with a goal, or with a service"),
    "never_objects": ("never objects", "with a failure before an impatient user"),
    "unused_facts": ("facts never used, mean share", "with facts or a persona"),
}
"""What a fault is called, and the sessions in which it is looked for."""


def simulator_section(check: SimulatorCheck) -> Section:
    """Lay out the faults with shares, counts and quotes, and the style beside real users."""
    lead = (
        "Scores of simulated sessions hold for users like these. The rules below look for known faults of "
        "simulators. A fault that they do not see may be there all the same: of messages that speak as the "
        "other side, they saw 14 of 40 whose author did not know the rules."
    )
    about = f"{check.sessions:,} sessions of {check.users:,} simulated users. Intervals are by user."
    heads = ("fault", "sessions with it", "of", TableColumn("sessions", "prose"), "n/a", "times")
    rows, seen = [], []
    for rate in check.faults:
        name, where = _FAULTS[rate.kind]
        share, cases = Percent(rate.share.value, rate.share.interval), tuple(map(_case, rate.cases))
        cells = (name, share, rate.share.n, where, rate.left_out, rate.cases_total)
        rows.append(TableRow(cells, note=cases[0] if cases else ""))
        if cases:
            seen.append(Section(name.capitalize(), (Items(cases, rate.cases_total - len(cases)),)))
    blocks: list[Block] = [Callout((about,)), data_table("Faults of the users", heads, rows, captioned=False)]
    blocks += [Fold("Where it was seen", tuple(seen))] if seen else []
    blocks += [] if check.style is None else [_style_section(check.style)]
    return Section("The simulated users", tuple(blocks), lead, "Simulated users", "simulator")


def simulator_brief(check: SimulatorCheck) -> Section:
    """Lay out the same for a terminal: of each fault one quote."""
    whole = simulator_section(check)
    return Section(whole.title, tuple(b for b in whole.blocks if not isinstance(b, Fold)), whole.lead)


def _case(case: SimulatorCase) -> Prose:
    place = f"{case.conversation_id} ({case.candidate})" if case.candidate else case.conversation_id
    place += "" if case.fault.turn is None else f", turn {case.fault.turn}"
    detail = case.fault.detail
    # Of a message that says another again the detail is the turn of that one.
    about = f"turn {detail}" if detail.isdigit() else words.name(detail)
    behind = f" ({about})" if detail else ""
    return Span(f"{place}: ", "soft"), f"“{case.fault.quote}”", Span(behind, "soft")


def _style_section(style: Style) -> Section:
    times = style.times_as_long
    sentence = (
        f"Simulated users write {words.decimal(times.value)} times as long {words.interval(times.interval)} "
        f"as the users of {style.real}."
    )
    heads = ("of each message", "simulated", "real", "difference, in standard deviations")
    rows = []
    for figure in style.figures:
        value, interval = figure.difference.value, figure.difference.interval
        difference = Number(value, interval=interval, signed=True)
        rows.append((words.name(figure.name), Number(figure.simulated), Number(figure.real), difference))
    note = (
        f"{style.messages:,} simulated and {style.real_messages:,} real messages. Length is the geometric "
        "mean in words; all others are shares."
    )
    table = data_table("Simulated beside real users", heads, rows, captioned=False)
    return Section("Beside real users", (Callout((sentence,)), table, Callout((note,))))
