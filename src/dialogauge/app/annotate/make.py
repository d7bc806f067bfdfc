"""Plans made: conversations in, a folder with the plan, the guideline and a page for each rater out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Final

from dialogauge.annotate.guideline import guideline_page
from dialogauge.annotate.label_studio import label_studio_config, label_studio_tasks
from dialogauge.annotate.page import rating_page
from dialogauge.annotate.plan import (
    USUAL,
    AssignmentPlan,
    Eligible,
    PlanRequest,
    assignment_plan,
    usual_shared,
)
from dialogauge.annotate.questions import RatingQuestion, preference_question, questions_of
from dialogauge.annotate.task import Shown, blindfold, rater_task
from dialogauge.app.annotate.folder import PlanFiles
from dialogauge.app.annotate.settings import AnnotateMakeOptions
from dialogauge.app.outputs import spare, stem
from dialogauge.app.sources import JUDGED, Source, field_map, is_run, open_source, shown_notes
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, UsageError
from dialogauge.core.settings import narrowed, recorded
from dialogauge.core.unit import conversation_digest, digest, words_digest
from dialogauge.data import Mask
from dialogauge.report import html_bytes
from dialogauge.rubrics import load_rubric
from dialogauge.runs import OPEN, open_run
from dialogauge.runs.privacy import mask_for_reading, mask_of, new_salt
from dialogauge.runs.records import conversation_to_json, json_document, json_line
from dialogauge.text import counted
from dialogauge.training import JudgedConversation, judged_conversation, rank_for_labelling

_DEFAULT: Final = "survey"
_OF_ACTIVE: Final = frozenset({"reason", "quality", "uncertainty"})
"""Beside the messages of what `pairs --kind active` writes."""


@dataclass(frozen=True, slots=True)
class MadePlan:
    """What was made."""

    plan: AssignmentPlan
    folder: Path
    faults: tuple[InputError, ...]
    notes: tuple[str, ...]


def make_plan(options: AnnotateMakeOptions) -> MadePlan:
    """Choose items, divide them among raters, and write the plan, the guideline and the pages.

    The same command again writes the same; a folder with another plan is left as it is.

    Raises:
        UsageError: What is asked for excludes itself, or the folder holds something else.
    """
    rubric = None if options.pairs and options.rubric is None else load_rubric(options.rubric or _DEFAULT)
    questions: tuple[RatingQuestion, ...] = (preference_question(options.language),)
    if rubric is not None:
        questions = questions_of(rubric, options.language, pairs=options.pairs)
    files = PlanFiles(Path(options.out))
    spare([files.folder, files.plan], options)
    files.expect_free()
    pool = _read(options)
    of_rubric = {}
    if rubric is not None:
        of_rubric = {"id": rubric.id, "version": rubric.version, "digest": digest(dict(rubric.content))}
    about = {
        "rubric": of_rubric,
        "inputs": {"conversations": pool.size, "digest": digest(pool.digests)},
        "settings": recorded(options),
    }
    eligible = pool.pairs_of() if options.pairs else pool.eligible
    if not eligible:
        raise pool.nothing(options)
    some = options.choose not in (None, "all")
    each = USUAL if options.each is None and some else options.each
    shared = options.shared
    if shared is None:
        shared = usual_shared(len(eligible), options.raters, each)
    request = narrowed(PlanRequest, options, way=options.choose, each=each, shared=shared)
    number, _ = request.chosen_of(len(eligible))
    ranked = _ranked(options, pool, number)
    plan = assignment_plan(eligible, request, questions, about, ranked, pool.reasons)
    continued = files.expect_same(plan)
    shown = _shown(options, pool, plan)
    files.write_plan(plan)
    kept = {name: [conversation_to_json(replace(c, ratings=())) for c in of] for name, of in shown.items()}
    files.write(files.items, (json_line({"item": name, "conversations": c}) for name, c in kept.items()))
    files.write(files.guideline, html_bytes(guideline_page(plan)))
    for rater in plan.raters:
        task = rater_task(plan, rater, shown)
        files.write(files.page(rater.name), [rating_page(task).encode("utf-8", "replace")])
        if options.label_studio:
            tasks = json_document(label_studio_tasks(task))
            files.write(files.label_studio(f"{rater.name}.json"), [tasks])
    if options.label_studio:
        config = label_studio_config(plan.questions).encode("utf-8", "replace")
        files.write(files.label_studio("config.xml"), [config])
    notes = (*pool.notes, *_notes(plan, request, pool, shown))
    if continued:
        notes = (*notes, "the plan was there already: its pages are written again, and no rating is touched")
    return MadePlan(plan, files.folder, tuple(pool.faults), notes)


@dataclass(slots=True)
class _Pool:
    """What the input offers; without texts."""

    eligible: list[Eligible] = field(default_factory=list)
    judged: list[JudgedConversation] = field(default_factory=list)
    """Of a run: behind their ids stand their positions."""
    reasons: dict[int, str] = field(default_factory=dict)
    """Position -> why it was chosen before."""
    states: dict[str, list[Eligible]] = field(default_factory=dict)
    """What is asked -> the conversations that answer it."""
    words: dict[int, str] = field(default_factory=dict)
    both: list[tuple[int, int]] = field(default_factory=list)
    """The positions of each pair."""
    digests: list[str] = field(default_factory=list)
    of_replies: bool = False
    """Whether what follows the prefix is one reply each, as of `replay`."""
    faults: list[InputError] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Conversations that were read."""
        return len(self.digests)

    def add(self, outcome: _Outcome, c: Conversation, state: str | None) -> None:
        """Take a conversation, and by name what it answers; None: the same as those that begin alike."""
        position, judged = self.size, outcome.judged
        self.digests.append(conversation_digest(c))
        turns = tuple(turn.number for turn in c.replied_turns if turn.stop > c.prefix)
        if not turns:
            self.left_out["without a reply"] += 1
            return
        digests = {str(turn or ""): words_digest(c, turn) for turn in (None, *turns)} if outcome.exact else {}
        item = Eligible(position, c.id, c.candidate, c.scenario, turns, digests=digests)
        self.of_replies = self.of_replies or (c.prefix > 0 and len(turns) == 1)
        self.eligible.append(item)
        self.words[position] = words_digest(c)
        self.states.setdefault(_request_of(c) if state is None else state, []).append(item)
        if judged is not None:
            name = f"{c.id}\0{position}"
            self.judged.append(replace(judged, conversation=replace(c, id=name, messages=())))
        elif c.metadata.keys() >= _OF_ACTIVE:
            self.reasons[position] = str(c.metadata["reason"])

    def pairs_of(self) -> list[Eligible]:
        """Return every two conversations of different candidates that answer the same."""
        out = []
        for items in self.states.values():
            ordered = sorted(items, key=lambda item: (item.candidate or "", item.position))
            for a, b in combinations(ordered, 2):
                if a.candidate == b.candidate:
                    continue
                if self.words[a.position] == self.words[b.position]:
                    self.left_out["pairs of the same words"] += 1
                    continue
                turns = a.turns if self.of_replies else ()
                pair = replace(a, position=len(self.both), turns=turns, other_id=b.conversation_id)
                digests = {name: one.digests[""] for name, one in (("a", a), ("b", b)) if one.digests}
                out.append(replace(pair, other_candidate=b.candidate, digests=digests))
                self.both.append((a.position, b.position))
        return out

    def nothing(self, options: AnnotateMakeOptions) -> UsageError:
        """Return what is raised where there is nothing to rate."""
        if options.pairs:
            msg = "no two conversations of different candidates answer the same request"
            hint = (
                "give one file (or run) for each candidate, with the same ids; conversations that name "
                "their `candidate` and begin with the same messages; or a replay run"
            )
            return UsageError(msg, hint=hint)
        return UsageError("the input holds no conversation with a reply")


def _request_of(conversation: Conversation) -> str:
    """Return a digest of all that comes before the first reply, tool steps included."""
    messages = []
    for message in conversation.messages:
        if message.role == "assistant" and not message.tool_calls:
            break
        messages.append(message.to_openai())
    return digest(messages)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One conversation of the input as it came, or what could not be read."""

    of: Conversation | InputError
    judged: JudgedConversation | None = None
    """Of a run."""
    mask: Mask | None = None
    """Hides what pages are not to show."""
    exact: bool = True
    """Whether the words are those of the log: a run with a mask on has others."""


def _outcomes(options: AnnotateMakeOptions, notes: list[str]) -> Iterator[_Outcome]:
    """Yield what the inputs hold; of several that are compared each has its own name as its candidate."""
    if not (options.pairs and len(options.inputs) > 1):
        yield from _of_inputs(options.inputs, options, notes)
        return
    for name in options.inputs:
        for outcome in _of_inputs((name,), options, notes):
            if isinstance(outcome.of, Conversation) and outcome.of.candidate is None:
                yield replace(outcome, of=replace(outcome.of, candidate=stem(name)))
            else:
                yield outcome


def _of_inputs(inputs: Sequence[str], options: AnnotateMakeOptions, notes: list[str]) -> Iterator[_Outcome]:
    if len(inputs) == 1 and is_run(inputs[0]):
        with open_run(inputs[0], OPEN, studies=JUDGED) as run:
            mask = mask_for_reading(run.database, options.privacy)
            scales = {d.name: d.scale for d in run.dimensions}
            for conversation, rows in run.judged():
                judged = judged_conversation(conversation, rows, scales)
                yield _Outcome(conversation, judged, mask, exact=mask_of(run.database) is None)
        return
    source: Source = open_source(inputs, format=options.format, mapping=field_map(options), strict=False)
    hides = options.privacy != OPEN
    mask = Mask(options.redact, options.hash_ids, new_salt()) if hides else None
    for one in source:
        fault = one if mask is None or isinstance(one, Conversation) else mask.fault(one)
        yield _Outcome(fault, None, mask)
    notes += shown_notes(source.notes, mask)


def _read(options: AnnotateMakeOptions) -> _Pool:
    """Read all that could be rated, without texts."""
    pool, notes = _Pool(), list[str]()
    by_id = options.pairs and len(options.inputs) > 1
    for outcome in _outcomes(options, notes):
        if isinstance(outcome.of, InputError):
            pool.faults.append(outcome.of)
        elif options.choose == "active" and outcome.of.ratings:
            pool.left_out["rated by people already"] += 1
            pool.digests.append(conversation_digest(outcome.of))
        else:
            answers = outcome.of.prefix > 0  # to the same messages, or the same persona, under the same id
            pool.add(outcome, outcome.of, outcome.of.id if by_id or answers else None)
    pool.notes = tuple(notes)
    return pool


def _ranked(options: AnnotateMakeOptions, pool: _Pool, number: int) -> list[tuple[int, str]]:
    """Return the positions of what is to be rated first, by the judge."""
    if options.choose not in ("active", "mixed"):
        return []
    if options.pairs or not pool.judged:
        what = "pairs have none" if options.pairs else "the input has none"
        msg = f"--choose {options.choose} goes by the scores of a judge, and {what}"
        hint = "say --choose random" if options.pairs else "give a run: dialogauge judge INPUT -o RUN"
        raise UsageError(msg, hint=hint)
    ranking = rank_for_labelling(pool.judged, number)
    return [(int(item.judged.conversation.id.rpartition("\0")[2]), item.reason) for item in ranking]


def _shown(options: AnnotateMakeOptions, pool: _Pool, plan: AssignmentPlan) -> Shown:
    """Read the texts of the items."""
    places: dict[int, list[str]] = {}
    for item in plan.items:
        for position in pool.both[item.position] if options.pairs else [item.position]:
            places.setdefault(position, []).append(item.id)
    shown: dict[int, Conversation] = {}
    read = ((o.of, o.mask) for o in _outcomes(options, []) if isinstance(o.of, Conversation))
    for position, (conversation, mask) in enumerate(read):
        if position in places:
            if conversation_digest(conversation) != pool.digests[position]:
                msg = f"the input changed while it was read, at {conversation.id!r}"
                raise UsageError(msg, hint="run the command again")
            shown[position] = conversation if mask is None else mask.conversation(conversation)
    out: dict[str, tuple[Conversation, ...]] = {}
    for item in plan.items:
        both = pool.both[item.position] if options.pairs else (item.position,)
        out[item.id] = tuple(shown[position] for position in both)
    return out


def _notes(plan: AssignmentPlan, request: PlanRequest, pool: _Pool, shown: Shown) -> Iterator[str]:
    """Say what of the plan is not as it might be thought."""
    for why, number in pool.left_out.items():
        yield f"{number:,} left out: {why}"
    if len(plan.shared) < request.shared:
        yield f"{len(plan.shared):,} items are shared, not {request.shared:,}: there are no more"
    own = [len(rater.items) - len(plan.shared) for rater in plan.raters]
    if request.each is not None and min(own) < request.each:
        some = f"{min(own):,} to {max(own):,} items of their own"
        yield f"raters have {some}, not {request.each:,}: there are no more"
    if any(item.weight is None for item in plan.items):
        yield "chosen by the judge's scores alone: means of these ratings say nothing of all conversations"
    if not plan.shared and len(plan.raters) > 1:
        yield "no item is shared, so nothing will show how far raters agree (leave out --shared 0)"
    fold = blindfold(plan)
    texts = {id: [m.text for c in both for m in c.messages] for id, both in shown.items()}
    open_names = {id: names for id, of in texts.items() if (names := fold.left_open(of))}
    if open_names:
        words = ", ".join(sorted({repr(name) for names in open_names.values() for name in names}))
        where = counted(len(open_names), "item")
        yield f"names that are ordinary words stay in the texts: {words}, in {where}"
