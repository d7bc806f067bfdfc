"""The checks of a judge on a page and on a terminal."""

from __future__ import annotations

from typing import Final

from dialogauge.report import (
    Block,
    Callout,
    Card,
    Cards,
    Cell,
    Column,
    DataTable,
    Fold,
    Items,
    Number,
    Percent,
    Prose,
    Section,
    Span,
    TableColumn,
    TableRow,
    Text,
    data_table,
    words,
)
from dialogauge.studies.planted.page import planted_section
from dialogauge.studies.trust.result import Calibration, Trust, TrustCase, TrustCheck, TrustFigure

_CASES: Final = 8
_CASE_CHARS: Final = 300
_TITLE: Final = "How far to trust these numbers"
_BAD: Final = ("flagged", "not ready")


def trust_section(trust: Trust) -> Section:
    """Lay out the checks, and the judge against people, as a part of a page."""
    lead = (
        "These checks look for known faults of judges. A check that finds nothing proves nothing; a flagged "
        "check says what to distrust. The thresholds are in the ",
        Span("[trust]", "code"),
        " table of the configuration file.",
    )
    cards = Cards(tuple(_card(check) for check in trust.checks))
    return Section(_TITLE, (*_planted(trust), cards, *_against_people(trust)), lead, "Trust", "trust")


def trust_brief(trust: Trust) -> tuple[Block, ...]:
    """Lay out the checks for a terminal: a line each, and the judge against people."""
    columns = (TableColumn("", "text"), TableColumn("", "text"), TableColumn("", "prose"))
    rows = [(_loud(c.status), c.title, c.sentence) for c in trust.checks]
    checks = data_table(_TITLE, columns, rows, captioned=False, headed=False)
    people = () if trust.calibration is None else _against_people(trust, loud=True)
    return (*_planted(trust), Section(_TITLE, (checks, *people)))


def _planted(trust: Trust) -> tuple[Section, ...]:
    return () if trust.planted is None else (planted_section(trust.planted),)


def _loud(status: str) -> str:
    return status.upper() if status in _BAD else status


def _status(status: str) -> Span:
    return Span(status, "warn" if status in _BAD else "tag")


def _card(check: TrustCheck) -> Card:
    # A sentence may name a command: `dialogauge trust RUN`.
    parts = check.sentence.split("`")
    prose = tuple(Span(part, "code") if at % 2 else part for at, part in enumerate(parts) if part)
    blocks: list[Block] = [Callout((prose,))]
    if check.figures:
        rows = [(f.name, _figure(f), f"n {f.n:,}") for f in check.figures]
        inside: list[Block] = [data_table(check.title, ("", "", ""), rows, captioned=False, headed=False)]
        if check.threshold is not None and check.threshold_name is not None:
            setting = Span(f"{check.threshold_name} = {check.threshold:g}", "code")
            inside.append(Callout((("threshold: ", setting),)))
        blocks.append(Fold("The figures", tuple(inside)))
    if check.cases:
        items = tuple(_case(c) for c in check.cases[:_CASES])
        blocks.append(Fold("Where it was seen", (Items(items, max(check.cases_total - _CASES, 0)),)))
    return Card(check.title, tuple(blocks), tags=(_status(check.status),))


def _figure(figure: TrustFigure) -> Cell:
    if figure.share:
        return Percent(figure.value, figure.interval)
    return Number(figure.value, interval=figure.interval)


def _case(case: TrustCase) -> Prose:
    place = case.conversation_id if case.turn is None else f"{case.conversation_id}, turn {case.turn}"
    text = case.text if len(case.text) <= _CASE_CHARS else f"{case.text[:_CASE_CHARS]} …"
    return Span(f"{place}: ", "soft"), text


def _against_people(trust: Trust, *, loud: bool = False) -> tuple[Section, ...]:
    calibration = trust.calibration
    blocks: tuple[Block, ...]
    if calibration is None:
        without = (
            "Nothing was compared dimension by dimension. With ",
            Span("--ratings FILE", "code"),
            " each dimension that people rated is compared with the judge’s dimension of the same name.",
        )
        blocks = (Callout((without,)),)
    else:
        kappa = trust.thresholds.calibration_kappa
        table = (_calibration_table(calibration, kappa, loud=loud),) if calibration.dimensions else ()
        blocks = (Callout((calibration.sentence,)), *table)
    return (Section("Against people", blocks),)


def _calibration_table(calibration: Calibration, kappa: float, *, loud: bool) -> DataTable:
    # A dimension without a kappa has no controls.
    controls = tuple(dict.fromkeys(name for d in calibration.dimensions for name in d.controls))
    title = (
        "Quadratic weighted kappa with its 95 % interval, clustered by user where users are known, else by "
        f"conversation, beside the kappa of controls that know nothing. Below {words.decimal(kappa)} a "
        "dimension is not ready."
    )
    heads: tuple[Column, ...] = (
        "dimension",
        TableColumn("", "text"),
        "kappa",
        "targets",
        "dialogues",
        *controls,
    )
    rows = [
        TableRow(
            (
                words.name(d.name),
                _loud(d.status) if loud else Text("", tags=(_status(d.status),)),
                Number(d.kappa, interval=d.interval),
                d.n,
                d.dialogues,
                *(Number(d.controls.get(name)) for name in controls),
            ),
            note=d.sentence if d.kappa is None else "",
        )
        for d in calibration.dimensions
    ]
    return data_table(title, heads, rows)
