"""The page of a session of tests: what each assertion asked, what came of it, and what does not meet it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dialogauge.core.version import __version__
from dialogauge.door.quality import missed
from dialogauge.report import (
    Block,
    Page,
    Section,
    TableColumn,
    TableRow,
    Text,
    Transcript,
    TranscriptList,
    data_table,
    html_bytes,
)
from dialogauge.runs.directory import write_whole
from dialogauge.text import counted

_MOST: Final = 100
"""Turns and conversations that are shown of one assertion."""


def write_page(records: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the page of assertions: of each the test, the run, a sentence for each condition, the misses."""
    failed = [record for record in records if not all(met for met, _ in record["sentences"])]
    tests = {record["test"] for record in records}
    of = f"{counted(len(records), 'assertion')} in {counted(len(tests), 'test')}"
    lead = f"{of}: {len(failed):,} not met." if failed else f"{of}: all met."
    blocks: list[Block] = [Section("All", (_table(records),))]
    if failed:
        shown = tuple(transcript for record in failed for transcript in _missed(record))
        blocks.insert(0, Section("Not met", (_table(failed), TranscriptList("What does not meet it", shown))))
    page = Page("Conversations in tests", tuple(blocks), lead=lead, version=__version__)
    write_whole(path, html_bytes(page))


def _table(records: Iterable[Mapping[str, Any]]) -> Block:
    columns = (
        "test",
        TableColumn("met", "text"),
        TableColumn("condition", "prose"),
    )
    rows = [row for record in records for row in _rows(record)]
    return data_table("By test", columns, rows, captioned=False)


def _rows(record: Mapping[str, Any]) -> Iterator[TableRow]:
    for met, sentence in record["sentences"]:
        cells = (record["test"], Text("yes", tone="good") if met else Text("no", tone="worst"), sentence)
        yield TableRow(cells)


def _missed(record: Mapping[str, Any]) -> Iterator[Transcript]:
    for conversation, turn, reason in record["misses"][:_MOST]:
        for one in missed(Path(record["run"]), conversation, turn, reason):
            yield replace(one, facts=(record["test"],), folded=True)
