"""A judging run as JUnit XML, which build servers show: a case for each gate and each conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from dialogauge.core import InputError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.studies.judging.gate import GateResult
from dialogauge.text import counted

_NOT_XML: Final = lazy_pattern("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_chunks(
    name: str,
    rows: Iterable[Mapping[str, Any]],
    gates: Mapping[str, GateResult],
    stopped: str | None = None,
    faults: Iterable[InputError] = (),
) -> Iterator[bytes]:
    """Write the cases one by one.

    A gate that is not met is a failure. A conversation is an error where a judgement of it failed, and is
    skipped where there was nothing to judge; what the judge named in it is its output. A record that could
    not be read is an error too. The counts of the
    suite are left out, as JUnit allows: readers count the cases.

    Args:
        name: Of the run.
        rows: As of `judgements.jsonl`, those of a conversation one after the other.
        gates: By expression, what came of it.
        stopped: Why the run ended early: an error of its own.
        faults: Records and ratings that could not be read.
    """
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield _line(f"<testsuites><testsuite name={_attribute(name)}>")
    if stopped is not None:
        yield _case("run", "finished", f"<error message={_attribute(stopped)}/>")
    for fault in faults:
        where = "input" if fault.place is None else str(fault.place)
        yield _case("input", where, f"<error message={_attribute(str(fault))}/>")
    for expression, gate in gates.items():
        inside = "" if gate.met else f"<failure message={_attribute(gate.sentence)}/>"
        yield _case("gates", expression, inside)
    for (id, candidate), group in groupby(rows, key=lambda row: (row["conversation_id"], row["candidate"])):
        label = str(id) if candidate is None else f"{id} ({candidate})"
        yield _case("conversations", label, _outcome(list(group)))
    yield _line("</testsuite></testsuites>")


def _outcome(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what stands in the case of a conversation."""
    failures = [row["failure"] for row in rows if row["failure"] is not None]
    wrong = [f for f in failures if f["kind"] != "absent"]
    inside = ""
    if wrong:
        text = f"{counted(len(wrong), 'judgement')} failed: {wrong[0]['message']}"
        inside = f"<error type={_attribute(wrong[0]['kind'])} message={_attribute(text)}/>"
    elif failures and len(failures) == len(rows):
        inside = f"<skipped message={_attribute(failures[0]['message'])}/>"
    named = [
        f"turn {row['turn']}: {signal['note']}"
        for row in rows
        if row["turn"] is not None
        for signal in (row["details"] or {}).get("signals", ())
    ]
    return inside + (f"<system-out>{escape(_clean(chr(10).join(named)))}</system-out>" if named else "")


def _case(group: str, name: str, inside: str) -> bytes:
    return _line(f'<testcase classname="dialogauge.{group}" name={_attribute(name)}>{inside}</testcase>')


def _attribute(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;"})


def _clean(text: str) -> str:
    """Replace what XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _line(text: str) -> bytes:
    return f"{text}\n".encode()
