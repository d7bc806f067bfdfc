"""A judging run as JUnit XML, which build servers show: a case for each gate and each conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from dialogauge.core import InputError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.studies.judging.gate import GateResult
from dialogauge.text import counted

_Trouble = tuple[str, str, str]
"""An element of a case, its type (empty where it has none) and its message."""
_NOT_XML: Final = lazy_pattern("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_chunks(
    name: str,
    rows: Iterable[Mapping[str, Any]],
    gates: Mapping[str, GateResult],
    stopped: str | None = None,
    faults: Iterable[InputError] = (),
    seconds: Mapping[tuple[str, str | None], float] = MappingProxyType({}),
) -> Iterator[bytes]:
    """Write a suite with its cases, valid by the schema of Maven Surefire.

    A gate that is not met is a failure. A conversation is an error where a judgement of it failed, and is
    skipped where there was nothing to judge; what the judge named in it is its output. A record that could
    not be read is an error too.

    Args:
        name: Of the run.
        rows: As of `judgements.jsonl`, those of a conversation one after the other.
        gates: By expression, what came of it.
        stopped: Why the run ended early: an error of its own.
        faults: Records and ratings that could not be read.
        seconds: How long conversations were judged, by id and candidate; all else took no time.
    """

    def cases() -> Iterator[tuple[bytes, str]]:
        """Yield each case, and the name of what is wrong with it; an empty one where nothing is."""
        if stopped is not None:
            yield _case("run", "finished", ("error", "stopped", stopped))
        for fault in faults:
            where = "input" if fault.place is None else str(fault.place)
            yield _case("input", where, ("error", "unreadable", str(fault)))
        for expression, gate in gates.items():
            yield _case("gates", expression, None if gate.met else ("failure", "gate", gate.sentence))
        for key, group in groupby(rows, key=lambda row: (row["conversation_id"], row["candidate"])):
            label, of = str(key[0]) if key[1] is None else f"{key[0]} ({key[1]})", list(group)
            yield _case("conversations", label, _trouble(of), seconds.get(key, 0.0), "\n".join(_notes(of)))

    counts = Counter[str]()
    with TemporaryFile() as body:  # the counts stand before the cases
        for case, wrong in cases():
            counts[wrong] += 1
            body.write(case)
        body.seek(0)
        yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
        yield _line(
            f'<testsuite name={_attribute(name)} time="{sum(seconds.values()):.3f}" tests="{counts.total()}" '
            f'errors="{counts["error"]}" skipped="{counts["skipped"]}" failures="{counts["failure"]}">'
        )
        yield from body
        yield _line("</testsuite>")


def _trouble(rows: Sequence[Mapping[str, Any]]) -> _Trouble | None:
    """Return what is wrong with a conversation."""
    failures = [row["failure"] for row in rows if row["failure"] is not None]
    wrong = [f for f in failures if f["kind"] != "absent"]
    if wrong:
        text = f"{counted(len(wrong), 'judgement')} failed: {wrong[0]['message']}"
        return "error", wrong[0]["kind"], text
    absent = bool(failures) and len(failures) == len(rows)
    return ("skipped", "", failures[0]["message"]) if absent else None


def _notes(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what the judge named in the turns of a conversation."""
    for row in rows:
        if row["turn"] is not None:
            for signal in (row["details"] or {}).get("signals", ()):
                yield f"turn {row['turn']}: {signal['note']}"


def _case(
    group: str, name: str, trouble: _Trouble | None, seconds: float = 0.0, output: str = ""
) -> tuple[bytes, str]:
    element, kind, message = trouble or ("", "", "")
    of = f" type={_attribute(kind)}" if kind else ""
    inside = f"<{element}{of} message={_attribute(message)}/>" if element else ""
    inside += f"<system-out>{escape(_clean(output))}</system-out>" if output else ""
    about = f'classname="dialogauge.{group}" name={_attribute(name)} time="{seconds:.3f}"'
    return _line(f"<testcase {about}>{inside}</testcase>"), element


def _attribute(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;"})


def _clean(text: str) -> str:
    """Replace what XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _line(text: str) -> bytes:
    return f"{text}\n".encode()
