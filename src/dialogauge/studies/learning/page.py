"""A run of memory systems on a page and on a terminal: scores by room, recall, cost, and their controls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.core.version import __version__
from dialogauge.data.tasks import DATASETS
from dialogauge.report import (
    Block,
    Callout,
    Cell,
    Column,
    Count,
    DotPlot,
    DotRow,
    Missing,
    Number,
    Page,
    Percent,
    Section,
    Span,
    TableColumn,
    data_table,
    p_value,
    words,
)
from dialogauge.runs import Row, StoredRun
from dialogauge.stats import Comparison
from dialogauge.studies.judging.page import run_page, settings_section
from dialogauge.studies.judging.report import unjudged_section
from dialogauge.studies.judging.shown import show_conversation
from dialogauge.studies.learning.controls import CONTROL_WORDS, control_of
from dialogauge.studies.learning.figures import (
    BEFORE,
    CONTROLS,
    NO_MODEL,
    OF_RUN,
    LearnResult,
    LearnSet,
    SystemFigures,
    learn_result,
)
from dialogauge.studies.learning.judged import PLANTED
from dialogauge.studies.learning.learned import (
    action_tables,
    cost_table,
    curve,
    effect_table,
    example_section,
    number,
    set_curves,
    step_tables,
)
from dialogauge.studies.learning.memories import MemoryCost
from dialogauge.studies.learning.partitions import figures_table, left_out_notes, partition_dots
from dialogauge.studies.learning.taught import ratings_table, taught_tables
from dialogauge.studies.learning.teaching import TRAINING
from dialogauge.text import counted

_SETTINGS: Final = (
    *(
        "inputs",
        "candidate",
        "systems",
        "protocol",
        "action",
        "logs_file",
        "part",
        "rounds",
        "batch",
        "steps",
    ),
    *("k", "context_tokens", "sample", "options", "disputed_file", "norm_from", "twins", "planted", "hours"),
    *("system_timeout", "seed"),
)
_WHOLE_SHARE: Final = 0.995
"""Of the memory: who gives less has left something out."""
_ALL_SHARE: Final = 0.8
"""Of the memory: who gives more than this gives everything, and retrieves nothing."""


def learn_page(run: StoredRun, result: LearnResult) -> Page:
    """Lay out a run."""
    sections: list[Section] = []
    for figures in result.sets:
        dots = tuple(
            DotRow(f"{s.name} ({s.room})", s.score.value, s.score.interval, "quiet" if s.control else "plain")
            for s in _by_room(figures)
        )
        plot = (DotPlot(f"{_metric(figures)} by system", dots),) if figures.metric else ()
        blocks = (*plot, *set_curves(figures, _metric(figures)), *_set_blocks(figures))
        anchor = f"set-{len(sections)}"
        sections.append(Section(figures.dataset, blocks, _lead_of(figures), anchor=anchor))
    if result.partitions:
        curves = (curve(f"{n} along the steps", of, "min-max") for n, of in result.partition_steps.items())
        drawn = (partition_dots(result.partitions), *curves, *_partition_blocks(result))
        sections.append(Section("Partitions", drawn, anchor="partitions"))
    if result.costs:
        lead = "What was taken in counts over all memories of a system. The steps of one memory count once."
        blocks = (cost_table(result), _memory_table(result.costs), *_vendor_tables(run))
        sections.append(Section("Quality against cost", blocks, lead, short="Cost", anchor="cost"))
    if more := (*effect_table(result), *_taught(result)):
        sections.append(Section("Feedback", more, anchor="feedback"))
    sections += [
        *example_section(run),
        unjudged_section(run, (row for row in run.rows() if _answer(row)), "Answers"),
        settings_section(run.manifest, _SETTINGS),
    ]
    asked = sum(s.asked for figures in result.sets for s in figures.systems)
    if not asked and result.taught:
        led = sum(of.dialogues for of in result.taught)
        return run_page(run, sections, (Span(f"{led:,}", "strong"), " dialogues with users who teach"))
    apart, who = f". {_planted_words(result)}".strip(), Span(result.answerer, "strong")
    by = (
        (" answers, written by ", who) if result.answerer != NO_MODEL else (" answers, made without a model",)
    )
    return run_page(run, sections, (Span(f"{asked:,}", "strong"), *by, apart))


def stored_page(run: StoredRun) -> Page:
    """Return the page of a finished run."""
    return learn_page(run, learn_result(run.rows(), run, run.manifest.pending_units))


def _answer(row: Row) -> bool:
    return row["candidate"] not in PLANTED and not row["details"].get(TRAINING)


def _taught(result: LearnResult) -> Iterator[Block]:
    if result.taught:
        yield from taught_tables(result.taught)


def shown_answer(run: StoredRun, id: str, turn: int | None) -> tuple[Block, ...]:
    """Return the answers to a task, the right one, and what each system recalled for its own.

    Of a training dialogue, the words and what its user made of each reply.
    """
    transcripts, rows = show_conversation(run, id, turn), list[Sequence[Cell]]()
    if led := [row for row in run.rows_of([id]) if row["details"].get(TRAINING)]:
        return (*transcripts, ratings_table(led))
    for row in filter(_answer, run.rows_of([id])):
        details, by_step = row["details"], f" at step {step}" if (step := row["details"]["step"]) else ""
        places = [_place_of(*one) for one in details.get("retrieved", ())]
        places += [f"failed: {row['failure']['message']}"] if row["failure"] else []
        earned, recall = (
            Missing() if (v := details.get(key)) is None else Number(v, 3) for key in ("score", "recall")
        )
        rows.append((f"{row['candidate']}{by_step}", earned, recall, ", ".join(places) or Missing("nothing")))
    gold = next((talk.task for talk in run.conversations([id])), {})
    right = gold.get("answer", gold.get("golden_answer"))
    answer = () if right is None else (Callout((f"Right answer: {right}",)),)
    columns = ("system", "score", "evidence given", TableColumn("recalled", "text"))
    return (*transcripts, *answer, data_table("What was recalled", columns, rows))


def _place_of(dialogue: str, place: str | int | None) -> str:
    """Name where an item is from: by the id of its message, else by its dialogue."""
    if isinstance(place, str):
        return place
    return dialogue if place is None else f"message {place + 1} of {dialogue}"


@keys(result=INSIDE)
@dataclass(frozen=True)
class ComparedSystems:
    """Systems of several runs beside each other."""

    result: LearnResult

    @property
    def page(self) -> Page:
        """The page, as of today."""
        today, of = datetime.now(UTC).date().isoformat(), self.result
        drawn = ((one.dataset, tuple(set_curves(one, _metric(one)))) for one in of.sets)
        curves = (Section(f"{name} along the steps", blocks) for name, blocks in drawn if blocks)
        return Page("Memory systems", (*curves, *learn_blocks(of)), "", today, __version__)


def learn_blocks(result: LearnResult) -> Iterator[Block]:
    """Lay out a run for a terminal."""
    for figures in result.sets:
        if figures.metric is None:
            yield Callout((f"{figures.dataset}: {_lead_of(figures)}",), "info")
        yield from _set_blocks(figures)
    yield from _partition_blocks(result)
    yield from action_tables(result)
    yield from effect_table(result)
    if result.costs:
        yield cost_table(result)
        yield _memory_table(result.costs)
    yield from _taught(result)
    if apart := _planted_words(result):
        yield Callout((apart,), "info")
    if result.pending:
        note = f"{counted(result.pending, 'answer')} not given yet: the same command goes on."
        yield Callout((note,), "warn")


def _partition_blocks(result: LearnResult) -> Iterator[Block]:
    """Lay out what data sets come to together, by the references of one run."""
    if result.partitions:
        by = "this run" if result.normed_by is None else result.normed_by
        for figures in (("minmax_by_case", "minmax_by_set"), ("z_by_case", "z_by_set")):
            norm = "min-max" if figures[0] == "minmax_by_case" else "z"
            title = f"Partitions, {norm} by all systems of {by}"
            yield figures_table(title, result.partitions, *figures, quiet=CONTROLS)
        yield from left_out_notes(result.partitions)
        for name, of in result.partition_steps.items():
            yield from step_tables(f"{name}, min-max", of)


def _planted_words(result: LearnResult) -> str:
    """Say that planted answers are there and count nowhere; nothing where there are none."""
    answers = counted(result.planted, "planted answer")
    return f"In no figure: {answers}, which measure a judge." if result.planted else ""


_RUBRICS: Final = {
    "limitgen": "limitation",
    "checklist": "checklist",
    "criteria": "criteria",
    "grade": "grade",
}
"""Of what data sets a rubric scores."""


def _lead_of(figures: LearnSet) -> str:
    if figures.metric is None:
        known = DATASETS.get(figures.dataset)
        rubric = _RUBRICS.get(known.metric if known else "", "NAME")
        return f"A model has to score these replies: dialogauge judge RUN --rubric {rubric}."
    merged = " The score is a plain mean of metrics, which no model has merged." if figures.unmerged else ""
    unsure = all(pair.side == "too few to tell" for pair in figures.pairs) and bool(figures.pairs)
    few = f" There are too few {figures.unit} to tell systems apart." if unsure else ""
    return f"Score: {_metric(figures)}, 0 to 1. Intervals are by {figures.unit}.{few}{merged}"


def _metric(figures: LearnSet) -> str:
    return _METRIC_NAMES.get(str(figures.metric), words.name(str(figures.metric)))


_METRIC_NAMES: Final = {
    "locomo": "F1 of LoCoMo",
    "token_f1": "F1 of words",
    "rouge_l": "ROUGE-L",
    "rouge_l_distinct": "ROUGE-L of distinct words",
    "meteor_exact_stem": "METEOR, exact and stem",
    "judge": "mean of JuDGE's metrics",
    "readability": "mean of readability",
    "report": "mean of ROUGE-L and BERTScore",
}


def _set_blocks(figures: LearnSet) -> Iterator[Block]:
    """Lay out a data set: scores, categories, recall and room, comparisons, steps, and what is to be said."""
    if figures.metric is not None:
        yield _score_table(figures)
        if any(len(s.categories) > 1 for s in figures.systems):
            yield _category_table(figures)
    if any(s.items or s.recall.n for s in figures.systems):
        yield _room_table(figures)
    if figures.pairs:
        yield _pair_table(figures.pairs)
        shown = {control_of(one.name.partition(OF_RUN)[0]) for one in figures.systems}
        if notes := tuple(f"{one} {text}." for one, text in CONTROL_WORDS.items() if one in shown):
            yield Callout(notes, "info")
    if figures.steps:
        yield from step_tables(figures.dataset, figures.steps)
    if notes := tuple(_notes(figures)):
        yield Callout(notes, "warn")


def _by_room(figures: LearnSet) -> list[SystemFigures]:
    """Return systems by room: first the controls, then each room with its best system first."""
    rooms: dict[str, list[SystemFigures]] = {}
    for system in figures.systems:
        rooms.setdefault("" if system.control else system.room, []).append(system)

    def rank(system: SystemFigures) -> float:
        return 0.0 if system.control or system.score.value is None else -system.score.value

    return [one for room in sorted(rooms) for one in sorted(rooms[room], key=rank)]


def _score_table(figures: LearnSet) -> Block:
    looked = any(s.undisputed is not None for s in figures.systems)
    nowhere = any(s.abstained.n for s in figures.systems)
    heads: list[Column] = ["system", TableColumn("room", "text"), "answers", "failed", _metric(figures)]
    heads += ["undisputed only"] if looked else []
    heads += [f"{'chooses' if figures.options else 'says'} that nothing tells"] if nowhere else []
    rows: list[Sequence[Cell]] = []
    for s in _by_room(figures):
        more = [number(s.undisputed)] if looked else []
        more += [number(s.abstained)] if nowhere else []
        failed = Count(sum(s.failed.values()))
        rows.append((s.name, s.room, Count(s.asked), failed, number(s.score), *more))
    return data_table(f"{figures.dataset}: scores, the highest of each room first", heads, rows)


def _category_table(figures: LearnSet) -> Block:
    names = list(dict.fromkeys(name for s in figures.systems for name in s.categories))
    rows: list[Sequence[Cell]] = [
        (s.name, *(number(s.categories.get(name)) for name in names)) for s in _by_room(figures)
    ]
    if figures.ceilings:
        rows.append(("gold that nobody disputes", *(Percent(figures.ceilings.get(name)) for name in names)))
    return data_table(f"{figures.dataset}: by category", ["system", *names], rows)


def _room_table(figures: LearnSet) -> Block:
    heads = ["system", "evidence given", "sessions of evidence", "items", "tokens", "share of memory"]
    kinds = sorted({kind for s in figures.systems for kind in s.recall_by_kind})
    heads += [f"evidence in {kind} items" for kind in kinds]
    rows: list[Sequence[Cell]] = [
        (
            s.name,
            number(s.recall),
            number(s.session_recall),
            Number(s.items, 1),
            Number(s.tokens, 0),
            Percent(s.share),
            *(number(s.recall_by_kind.get(kind)) for kind in kinds),
        )
        for s in _by_room(figures)
    ]
    return data_table(f"{figures.dataset}: recall and room, means of an answer", heads, rows)


def _pair_table(pairs: Sequence[Comparison]) -> Block:
    rows: list[Sequence[Cell]] = []
    for one in pairs:
        p, gain = p_value(one.p_holm, at_floor=one.at_floor), number(one.difference, signed=True)
        rows.append((f"{one.a} less {one.b}", gain, p, one.side))
    columns = ("systems", "difference", "p (Holm)", TableColumn("the first is", "text"))
    return data_table("Case by case", columns, rows)


def _memory_table(costs: Mapping[str, MemoryCost]) -> Block:
    heads = ["system", "memories", "dialogues", "messages", "kB", "growth"]
    rows: list[Sequence[Cell]] = [
        (
            name,
            Count(cost.memories),
            Count(cost.dialogues),
            Count(cost.messages),
            Missing("not saved") if cost.bytes is None else Number(cost.bytes / 1000, 0),
            Number(cost.growth, 2),
        )
        for name, cost in costs.items()
    ]
    title = "Taken in; growth is the time a message takes in the last quarter, over that in the first"
    return data_table(title, heads, rows)


def _vendor_tables(run: StoredRun) -> Iterator[Block]:
    """Yield a table of the packages of vendors, as rows have them: those not asked any more, too."""
    of = {row["candidate"]: about for row in run.rows() if (about := row["details"].get("system"))}
    heads = ("package", "settings_digest", "settings", "model", "embedder")
    if of:
        columns = [TableColumn(words.name(head), "text") for head in ("system", *heads)]
        rows = [(name, *(_plain(about[head]) for head in heads)) for name, about in of.items()]
        yield data_table("Packages of vendors, with their settings and models", columns, rows)


def _plain(value: str | Mapping[str, object]) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _notes(figures: LearnSet) -> Iterator[str]:
    """Say what keeps figures from being what they seem."""
    if figures.systems and all(s.share is None and not s.failed for s in figures.systems):
        yield "No memory holds anything of these tasks: give their corpus, or dialogues with --logs."
    for s in figures.systems:
        failed = sum(s.failed.values()) - s.unfinished
        if s.unfinished:
            done = s.asked - s.unfinished
            yield f"{s.name} is not finished at {done:,} of {s.asked:,}: its hours are over."
        if failed:
            yield (
                f"{s.name} failed on {failed:,} of {s.asked:,}: a failure is no score, and never 0. "
                f"The first: {s.first_failure}."
            )
        if s.room not in ("nothing", "evidence", "weights") and s.items == 0 and s.share is not None:
            bounded = s.room == "everything" or s.room.endswith("tokens")
            why = ": an item that does not fit into its room is left out" if bounded else ""
            yield f"{s.name} gave nothing at all{why}."
        elif s.room == "everything" and s.share is not None and s.share < _WHOLE_SHARE:
            yield f"{s.name} gave {s.share:.0%} of the memory: the rest does not fit into its room."
        retrieves = not s.control and s.room not in BEFORE.values()
        if retrieves and s.share is not None and s.share > _ALL_SHARE:
            yield f"{s.name} gave {s.share:.0%} of its memory: that is nearly everything, and no retrieval."
        for category, ceiling in figures.ceilings.items():
            earned = s.categories.get(category)
            if earned is not None and earned.value is not None and earned.value > ceiling:
                yield f"{s.name} is above the ceiling of {category} ({earned.value:.3f} of {ceiling:.3f})."
    scores = {s.room: s.score.value for s in figures.systems if s.control}
    nothing, evidence = scores.get("nothing"), scores.get("evidence")
    if nothing and evidence and nothing > evidence / 2:
        yield f"Without a memory {nothing:.3f} is earned, and by the evidence {evidence:.3f}: few need one."
    steps = {name.partition(OF_RUN)[0] for name in figures.steps}
    if "none" not in steps and not any(s.room == "nothing" for s in figures.systems):
        yield "Nothing was asked without a memory: what the questions earn by themselves is unknown."
