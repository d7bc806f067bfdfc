"""What there is to learn from: the tasks of files in the layout of MemoryBench's Tables 1, 2, 5 and 6.

The totals that the paper prints stand beside the sums of its own rows, which differ for three partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import Final

from dialogauge.agents.memory import about_tokens
from dialogauge.core import UsageError
from dialogauge.core.version import __version__
from dialogauge.data.tasks import (
    DATASETS,
    PARTITIONS,
    LoggedDialogue,
    TaskFile,
    TaskRecord,
    sample_tasks,
    split_tasks,
    unlike_published,
)
from dialogauge.llm import pretrained
from dialogauge.report import (
    Block,
    Callout,
    Cell,
    Column,
    Count,
    DataTable,
    Missing,
    Number,
    Page,
    RowGroup,
    TableColumn,
    TableRow,
    data_table,
)
from dialogauge.studies.learning.kinds import KINDS, reply_kinds
from dialogauge.studies.learning.scoring import by_dataset
from dialogauge.text import counted

_LONG: Final = 600
"""Tokens above which an input or output is long."""
_ANSWERS: Final = ("answer", "golden_answer", "ground_truth", "abstract")
_PRINTED: Final = {
    "Open": (10_037, 1_478),
    "Legal": (5_206, 1_201),
    "Academic": (4_836, 1_212),
    "LiSo": (9_364, 1_250),
    "SiLo": (4_718, 713),
    "LiLo": (2_100, 1_178),
    "SiSo": (1_500, 750),
}
"""Cases and samples of each partition, as Tables 5 and 6 print them."""


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks of one data set."""

    name: str
    domain: str
    """`Open`, `Legal`, `Academic`; empty where nobody says."""
    form: str
    """`LiSo`, `SiLo`, `LiLo`, `SiSo`, as published; empty where nobody says."""
    languages: Sequence[str]
    cases: int
    published: Sequence[int]
    """Of the whole set: in Table 2, and in Tables 5 and 6 where these say otherwise; empty for other sets."""
    input_tokens: float
    """Mean of question and corpus."""
    output_tokens: float | None
    """Mean of the right answers; None where the data has none, only what to score by."""
    sampled: int
    train: int
    test: int

    @property
    def measured(self) -> str:
        """The form as these tasks have it: a mean above 600 tokens is long; `Li` or `Si` without answers."""
        size = "Li" if self.input_tokens > _LONG else "Si"
        return size if self.output_tokens is None else size + ("Lo" if self.output_tokens > _LONG else "So")


@dataclass(frozen=True, slots=True)
class TaskPartition:
    """One of the seven partitions."""

    name: str
    sets: Sequence[TaskSet]
    """Of those that are here."""
    absent: Sequence[str]
    printed_cases: int
    printed_samples: int
    summed_cases: Sequence[int]
    """What the paper's rows sum to; with DialSim twice: 300 questions of each (Table 5), 1,000 (Table 2)."""


@dataclass(frozen=True, slots=True)
class TaskTables:
    """What files of tasks hold."""

    tokenizer: str
    sets: Sequence[TaskSet]
    partitions: Sequence[TaskPartition]
    """Those of which a data set is here."""
    corpora: int
    dialogues: int
    """In the logs that were read along."""
    dialogues_with_words: int
    """Of these, with a second message of the user."""
    replies: int
    """In these dialogues."""
    feedback: Mapping[str, int]
    """Replies by the kind of feedback on them: clicks, words, what is read off the log."""
    unlike_published: Sequence[str]
    """Sentences on counts that are not the published ones."""
    without_gold: int
    without_question: int
    """Tasks that are left out: their question is not in the files."""
    unknown_evidence: int
    """Tasks whose evidence is not in their corpus."""

    @property
    def page(self) -> Page:
        """The page, as of today."""
        lead = f"Tokens are counted by {self.tokenizer}; above {_LONG} is long."
        today = datetime.now(UTC).date().isoformat()
        return Page("Tasks", tuple(task_blocks(self)), lead, today, __version__)


def task_tables(
    file: TaskFile, logs: Sequence[LoggedDialogue] = (), tokenizer: str | None = None
) -> TaskTables:
    """Count what there is, by data set and partition; without the folder of a tokenizer, three bytes a token.

    Raises `MissingExtra` without transformers, `UsageError` for a folder without a tokenizer.
    """
    count, kinds = about_tokens, [of for one in logs for of in reply_kinds(one)]
    if tokenizer is not None:
        cut = pretrained("AutoTokenizer", tokenizer, UsageError, local=True)
        count = lambda text: len(cut(text, add_special_tokens=False)["input_ids"])  # noqa: E731
    sizes = {
        name: sum(count(m.text) for session in sessions for m in session.messages)
        for name, sessions in file.corpora.items()
    }
    here = by_dataset(file.tasks)
    sets = {name: _task_set(here[name], sizes, count) for name in {**DATASETS, **here} if name in here}
    return TaskTables(
        tokenizer or "bytes/3",
        tuple(sets.values()),
        tuple(_partition(name, sets) for name, names in PARTITIONS.items() if sets.keys() & set(names)),
        len(file.corpora),
        len(logs),
        sum(len(one.conversation.turns) > 1 for one in logs),
        len(kinds),
        Counter(kind for of in kinds for kind in of),
        unlike_published(file.tasks),
        file.without_gold,
        file.without_question,
        len(file.unknown_evidence),
    )


def _task_set(tasks: Sequence[TaskRecord], sizes: Mapping[str, int], count: Callable[[str], int]) -> TaskSet:
    first, known = tasks[0], DATASETS.get(tasks[0].dataset)
    answers = [next((t.gold[k] for k in _ANSWERS if isinstance(t.gold.get(k), str)), None) for t in tasks]
    outputs = [count(answer) for answer in answers if answer is not None]
    inputs = [sum(count(m.text) for m in t.messages) + sizes.get(t.corpus or "", 0) for t in tasks]
    sample = sample_tasks(tasks, known.most) if known else sample_tasks(tasks)
    train, test = split_tasks(sample)
    return TaskSet(
        first.dataset,
        (known.domain if known else first.domain) or "",
        (known.form if known else first.form) or "",
        sorted({task.language for task in tasks}),
        len(tasks),
        known.cases if known else (),
        fmean(inputs),
        fmean(outputs) if outputs else None,
        len(sample),
        len(train),
        len(test),
    )


def _partition(name: str, sets: Mapping[str, TaskSet]) -> TaskPartition:
    names = PARTITIONS[name]
    cases = [DATASETS[n].cases for n in names]
    return TaskPartition(
        name,
        [sets[n] for n in names if n in sets],
        [n for n in names if n not in sets],
        *_PRINTED[name],
        sorted({sum(n[-1] for n in cases), sum(n[0] for n in cases)}),
    )


def task_blocks(tables: TaskTables) -> Iterator[Block]:
    """Lay out what there is: Table 1, Table 2, Tables 5 and 6, and what differs from what is published."""
    yield _kinds(tables)
    if tables.dialogues:
        counts = ((*one, Count(tables.feedback.get(one[0], 0), tables.replies)) for one in KINDS.items())
        rows = [(kind, ", ".join(groups), count) for kind, groups, count in counts]
        yield data_table("Feedback in the logs", ("kind", TableColumn("is", "text"), "replies"), rows)
    yield _sets(tables)
    yield from _partitions(tables.partitions)
    notes = list(tables.unlike_published)
    other = [one.name for one in tables.sets if one.form and not one.form.startswith(one.measured)]
    if other:
        notes.append(f"Measured by {tables.tokenizer}, the form is not the stated one: {', '.join(other)}.")
    if tables.without_gold:
        notes.append(f"{counted(tables.without_gold, 'task')} without anything to hold an answer against.")
    if tables.without_question:
        notes.append(f"{counted(tables.without_question, 'task')} without a question, left out.")
    if tables.unknown_evidence:
        notes.append(
            f"{counted(tables.unknown_evidence, 'task')} with evidence that its corpus does not have."
        )
    if notes:
        yield Callout(tuple(notes), "warn")


def _kinds(tables: TaskTables) -> Block:
    """Lay out which memory the files can test, as Table 1 does."""
    seen = tables.feedback
    counts = {
        "corpora": tables.corpora,
        "dialogues": tables.dialogues,
        "with words": tables.dialogues_with_words,
        "likes, dislikes": seen.get("like", 0) + seen.get("dislike", 0),
        "copies": seen.get("copy", 0),
        "cases": sum(one.cases for one in tables.sets),
    }
    forms = "; ".join(sorted({one.form or one.measured for one in tables.sets}))
    rows: list[Sequence[Cell]] = [("these files", forms, *map(Count, counts.values()))]
    rows.append(("MemoryBench, printed", "LiSo; LiLo; SiLo; SiSo", *["yes"] * 5, Count(20_000)))
    columns: list[Column] = ["", TableColumn("forms", "text"), *counts]
    return data_table("Kinds of memory and feedback (Table 1)", columns, rows)


def _sets(tables: TaskTables) -> Block:
    """Lay out the data sets by form, as Table 2 does."""
    texts, numbers = ("data set", "domain", "language"), ("cases", "published", "input", "output")
    columns = (*(TableColumn(title, "text") for title in texts), *map(TableColumn, numbers))
    groups: dict[str, list[TableRow]] = {}
    for one in sorted(tables.sets, key=lambda one: one.form):
        cells: list[Cell] = [one.name, one.domain, ", ".join(one.languages), Count(one.cases)]
        cells.append(Count(one.published[0]) if one.published else Missing())
        cells.append(Number(one.input_tokens, 0))
        cells.append(Missing("no answer") if one.output_tokens is None else Number(one.output_tokens, 1))
        groups.setdefault(one.form, []).append(TableRow((*cells, one.measured)))
    return DataTable(
        f"Data sets (Table 2), tokens by {tables.tokenizer}",
        (*columns, TableColumn("measured", "text")),
        tuple(RowGroup(tuple(rows), form or "no form stated") for form, rows in groups.items()),
    )


def _partitions(partitions: Sequence[TaskPartition]) -> Iterator[Block]:
    """Lay out samples and splits by domain and by form, as Tables 5 and 6 do."""
    columns = ("data set", "cases", "published", "sampled", "train", "test")
    wide = tuple(TableColumn(title, "number" if n else "text") for n, title in enumerate(columns))
    for title, by_domain in (("By domain (Table 5)", True), ("By form (Table 6)", False)):
        groups = [
            _group(one) for one in partitions if (one.name in ("Open", "Legal", "Academic")) is by_domain
        ]
        if groups:
            yield DataTable(title, wide, tuple(group for group, _ in groups))
            yield Callout(tuple(note for _, note in groups))


def _group(one: TaskPartition) -> tuple[RowGroup, str]:
    """Return the rows of a partition, and what is to be said of it."""
    rows = [
        TableRow(
            (s.name, Count(s.cases), Count(s.published[-1]), Count(s.sampled), Count(s.train), Count(s.test))
        )
        for s in one.sets
    ]
    sums = (sum(getattr(s, key) for s in one.sets) for key in ("cases", "sampled", "train", "test"))
    cases, *drawn = map(Count, sums)
    printed: Cell = Count(one.printed_cases, notes=("as printed",))
    rows.append(TableRow(("total", cases, printed, *drawn), "strong"))
    notes = [f"Printed: {one.printed_cases:,} cases, {one.printed_samples:,} sampled."]
    if one.printed_cases not in one.summed_cases:
        less, *more = (f"{n:,}" for n in one.summed_cases)
        also = f", or to {more[0]} with 1,000 for each DialSim" if more else ""
        notes.append(f"The paper's own rows sum to {less}{also}.")
    if one.name == "LiSo":
        notes.append("It prints LoCoMo there with 199 cases and 25 samples, and needs 1,986 and 250.")
    if one.absent:
        notes.append(f"Not here: {', '.join(one.absent)}".removesuffix(".") + ".")
    return RowGroup(tuple(rows), one.name), f"{one.name}. {' '.join(notes)}"
