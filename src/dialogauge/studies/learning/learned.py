"""What systems learnt, laid out: curves, actions, the effect of feedback, quality against cost, examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dialogauge.core import Conversation
from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Card,
    Cards,
    Cell,
    Column,
    Count,
    Curve,
    CurveLine,
    DataTable,
    Items,
    Missing,
    Number,
    Point,
    RowGroup,
    Section,
    Span,
    TableColumn,
    TableRow,
    data_table,
    p_value,
    words,
)
from dialogauge.runs import StoredRun
from dialogauge.stats import Comparison, Estimate
from dialogauge.studies.learning.curves import LearningCurve
from dialogauge.studies.learning.figures import CONTROLS, OF_RUN, LearnResult, LearnSet, is_quiet
from dialogauge.studies.learning.judged import PLANTED
from dialogauge.studies.learning.teaching import TRAINING


def number(estimate: Estimate | None, *, signed: bool = False) -> Cell:
    """Write an estimate with its interval, or a dash."""
    if estimate is None or estimate.value is None:
        return Missing()
    return Number(estimate.value, 3, estimate.interval, signed=signed)


def curve(title: str, curves: Mapping[str, LearningCurve], score: str) -> Curve:
    """Draw systems along the steps in one picture, controls and twins dashed."""
    lines = []
    for name, of in curves.items():
        points = [Point(n, one.value, one.interval, one.n) for n, one in of.points if one.value is not None]
        lines.append(CurveLine(name, tuple(points), "quiet" if is_quiet(name) else "plain"))
    points = [point for line in lines for point in line.points]
    drawn = [
        end for line in lines if line.emphasis != "quiet" for p in line.points for end in p.interval or ()
    ]
    heights = [0.0, *drawn, *(point.y for point in points)]
    steps = [point.x for point in points] or [0.0]
    along = Axis(min(steps), max(steps), "step", whole=True)
    return Curve(title, (), along, Axis(min(heights), max(heights) or 1.0, score), lines=tuple(lines))


def step_tables(title: str, curves: Mapping[str, LearningCurve]) -> Iterator[Block]:
    """Lay out systems along the steps: scores, slopes with the best and the last step, and forgetting."""
    numbers = sorted({step for of in curves.values() for step, _ in of.points})
    rows: list[Sequence[Cell] | TableRow] = []
    slopes, beside, lost = list[Sequence[Cell]](), list[Sequence[Cell]](), list[Sequence[Cell]]()
    for name, of in curves.items():
        known = dict(of.points)
        cells = (name, *(number(known.get(step)) for step in numbers))
        rows.append(TableRow(cells, "quiet" if is_quiet(name) else "plain"))
        if (slope := of.slope) is not None and of.best is not None:
            ends = (of.best, number(known[of.best]), number(known.get(numbers[-1])))
            slopes.append((name, *_course(slope, "rises", "falls"), *ends))
        beside += ((name, twin.b, *_course(twin, "rises more", "rises less")) for twin in of.beside_twins)
        if (gone := of.forgetting) is not None and gone.lost.n:
            shares = number(gone.lost), Number(gone.by_chance, 3), number(gone.above, signed=True)
            lost.append((name, Count(gone.lost.n), *shares))
    yield data_table(f"{title}: along the steps", ["system", *map(str, numbers)], rows)
    if slopes:
        heads: list[Column] = ["system", "change per step", "p (Holm)", TableColumn("the score", "text")]
        heads = [*heads, "best step", "score there", "score at the last"]
        yield data_table(
            f"{title}: change along the steps; the best step is chosen after the fact", heads, slopes
        )
    if beside:
        heads = ["system", TableColumn("its twin", "text"), "change per step less the twin's", "p (Holm)"]
        heads = [*heads, TableColumn("the score", "text")]
        yield data_table(f"{title}: change along the steps, beside the twins", heads, beside)
        yield Callout(("Where a twin rises as its system does, what the twin lacks is not the cause.",))
    if lost:
        heads = ["system", "right earlier", "lost at the last step", "lost by chance", "lost above chance"]
        yield data_table(f"{title}: forgetting, of answers that an earlier step had right", heads, lost)
    elif any(of.forgetting for of in curves.values()):
        yield Callout((f"{title}: no earlier step had an answer right (a score of .5), so none was lost.",))


def _course(slope: Comparison, above: str, below: str) -> tuple[Cell, Cell, Cell]:
    """Write a slope, its p-value, and in words where it goes."""
    course = {"above": above, "below": below}.get(slope.side, slope.side)
    return number(slope.difference, signed=True), p_value(slope.p_holm, at_floor=slope.at_floor), course


def action_tables(result: LearnResult) -> Iterator[Block]:
    """Lay out systems by the action of the dialogues that they hold, a run each; as Table 15."""
    for of in result.sets if result.actions else ():
        scores = {s.name: s.score for s in of.systems}
        yield _action_table(of.dataset, result.actions, scores, of.pairs)
    for name, partition in result.partitions.items() if result.actions else ():
        for title, attribute in (("min-max", "minmax_by_case"), ("z", "z_by_case")):
            scores = {one.system: getattr(one, attribute) for one in partition.systems}
            yield _action_table(f"{name}, {title}", result.actions, scores, ())
    if result.actions:
        yield Callout(
            ("Actions differ in how many dialogues have them: the table of what was taken in says how many.",)
        )


def _action_table(
    title: str, actions: Sequence[str], scores: Mapping[str, Estimate], pairs: Sequence[Comparison]
) -> Block:
    apart = {(pair.a, pair.b): pair.difference for pair in pairs}
    both = [tuple(actions)] if len(actions) == 2 and pairs else []
    rows = []
    for system in dict.fromkeys(name.partition(OF_RUN)[0] for name in scores):
        names = [f"{system}{OF_RUN}{action}" for action in actions]
        gains = [number(apart.get((names[0], names[1])), signed=True) for _ in both]
        cells = (system, *(number(scores.get(name)) for name in names), *gains)
        rows.append(TableRow(cells, "quiet" if system in CONTROLS else "plain"))
    heads = ["system", *actions, *(f"{a} less {b}" for a, b in both)]
    return data_table(f"{title}: by the action of the dialogues", heads, rows)


def effect_table(result: LearnResult) -> Iterator[Block]:
    """Lay out answers behind no dialogue, the task's own, and another task's; as Table 11."""
    rows: list[Sequence[Cell]] = []
    for of in result.sets:
        scores = {s.name: s.score for s in of.systems}
        gains = {(pair.a, pair.b): pair.difference for pair in of.pairs}
        for name in scores:
            plain, comma, run = name.partition(OF_RUN)
            condition, colon, system = plain.partition(": ")
            if condition == "own":
                three = f"without{comma}{run}", name, f"other-case{colon}{system}{comma}{run}"
                means = (number(scores.get(one)) for one in three)
                differences = (number(gains.get((name, three[n])), signed=True) for n in (0, 2))
                led_by = system + comma + run or "the log"
                rows.append((of.dataset, led_by, Count(scores[name].n), *means, *differences))
    if rows:
        heads: list[Column] = ["data set", TableColumn("dialogues of", "text"), "answers", "no dialogue"]
        heads = [*heads, "own dialogue", "another task's", "own less none", "own less another's"]
        yield data_table(
            "Effect of feedback: the same question behind no dialogue, its own, or another task's",
            heads,
            rows,
        )
        what = "What a task's own dialogue gives above another's comes from what it says of this task."
        yield Callout((what,))
    for dataset, by_system in result.kinds.items():
        for name, split in by_system.items():
            yield _kinds_table(f"{dataset}, {name}: by the feedback in its dialogue; groups overlap", split)


def _kinds_table(title: str, split: Mapping[str, Comparison]) -> Block:
    rows: list[Sequence[Cell]] = [
        (name, Count(of.difference.n), number(of.difference, signed=True), p_value(of.p_holm), of.side)
        for name, of in split.items()
    ]
    heads: list[Column] = ["feedback", "answers", "own less none", "p (Holm)"]
    return data_table(title, [*heads, TableColumn("with the dialogue", "text")], rows)


def cost_table(result: LearnResult) -> Block:
    """Lay out quality against what it takes to take in a dialogue, to recall, and to answer."""
    heads = ["system", "score", "ms to take in", "calls to take in", "tokens to take in"]
    heads += ["ms to recall", "calls to recall", "tokens to recall"]
    heads += ["s to answer", "calls to answer", "tokens to answer"]
    groups = []
    for of in result.sets:
        rows = []
        for s in of.systems:
            took = result.costs.get(s.name)
            ingest: tuple[Cell, ...] = (None, None, None)
            if took is not None:
                ingest = Number(1000 * took.seconds_a_dialogue, 1), Number(took.calls_a_dialogue, 2)
                ingest += (Number(took.tokens_a_dialogue, 0),)
            recall = Number(s.retrieve_ms, 1), Number(s.retrieve_calls, 2), Number(s.retrieve_tokens, 0)
            answer = Number(s.answer_s, 3), Number(s.answer_calls, 2), Number(s.answer_tokens, 0)
            cells = (s.name, number(s.score), *ingest, *recall, *answer)
            rows.append(TableRow(cells, "quiet" if is_quiet(s.name) else "plain"))
        groups.append(RowGroup(tuple(rows), of.dataset))
    columns = tuple(TableColumn(head, "number" if n else "text") for n, head in enumerate(heads))
    title = "Quality against cost: means of a dialogue taken in, and of an answer"
    return DataTable(title, columns, tuple(groups))


def example_section(run: StoredRun) -> Iterator[Section]:
    """Show what was recalled, and why, for three answers of each system whose memory says so.

    Of equal scores, and of answers without one, the first comes first.
    """
    chosen: dict[str, list[tuple[int, float, str]]] = {}
    for row in run.rows():
        if (
            row["details"].get("given")
            and not row["details"].get(TRAINING)
            and row["candidate"] not in PLANTED
        ):
            place = (row["details"]["step"], -(row["details"].get("score") or 0.0), row["conversation_id"])
            chosen.setdefault(row["candidate"], []).append(place)
    ids: dict[tuple[str, str], None] = {}
    for system, places in chosen.items():
        last = max(step for step, *_ in places)
        of = sorted((place for place in places if place[0] == last), key=lambda place: place[1])
        ids |= {(system, of[n][2]): None for n in (0, len(of) // 2, len(of) - 1)}
    talks = {(str(c.candidate), c.id): c for c in run.conversations({id for _, id in ids})}
    rows = {(row["candidate"], row["conversation_id"]): row for row in run.rows_of({id for _, id in ids})}
    parts = []
    for system in chosen:
        own = [key for key in ids if key[0] == system and key in talks]
        cards = tuple(_example(rows[key]["details"], talks[key]) for key in own)
        parts.append(Section(system, (Cards(cards, wide=True),)))
    if parts:
        lead = "The best, the middle and the worst answer of each system at the last step, by score."
        yield Section("What was used", tuple(parts), lead, short="Examples", anchor="examples")


def _example(details: Mapping[str, Any], talk: Conversation) -> Card:
    """Show a question, the answer to it, and each item that was given for it."""
    asked = next((m.text for m in reversed(talk.messages) if m.role == "user"), "")
    answer = talk.messages[-1].text if talk.messages[-1].role == "assistant" else "no reply"
    items = tuple(
        (f"{one['why']}, ", Span(f"{one['kind']}, {one['from'] or 'of no dialogue'}: ", "soft"), one["text"])
        for one in details["given"]
    )
    score = f"score {words.decimal(details.get('score'), 3)}"
    return Card(asked, (Callout((("Answer: ", Span(answer, "quote")),)), Items(items)), score)


def set_curves(figures: LearnSet, score: str) -> Iterator[Block]:
    """Draw a data set along the steps; nothing of a single step, or of replies that a model has to score."""
    if figures.steps and figures.metric is not None:
        yield curve(f"{figures.dataset} along the steps", figures.steps, score)
