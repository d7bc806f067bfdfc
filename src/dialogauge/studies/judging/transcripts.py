"""The conversations that a page shows in full, and the turns to read first: text beside judgements."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import accumulate
from typing import Any, Final, NamedTuple

from dialogauge.core import Conversation, DimensionSpec, Turn, digest_text
from dialogauge.core.values import Value
from dialogauge.report import (
    Finding,
    Scored,
    Text,
    Tone,
    Transcript,
    TranscriptCall,
    TranscriptList,
    TranscriptMessage,
    TranscriptTurn,
    page_bytes,
    words,
)
from dialogauge.runs import StoredRun
from dialogauge.runs.records import own_scores
from dialogauge.studies.judging.findings import FindingsSummary
from dialogauge.studies.judging.sampling import LISTED, Case, Sampler, Survey
from dialogauge.studies.judging.summary import DimensionSummary
from dialogauge.text import counted, has_chinese

_TONES: Final[Mapping[str, Tone]] = {
    "excellent": "best",
    "good": "good",
    "borderline": "middle",
    "poor": "worst",
}
ID_CHARS: Final = 64
_QUOTE_CHARS: Final = 240
_LINE_CHARS: Final = 80
"""Of a quote that stands on one line with what it shows."""
_LONG: Final = 2_000
"""Characters of a message that folds away."""
_STEP_CHARS: Final = 400
_MAX_NOTES: Final = 6
_WHOLE_TEXT: Final = 10**6


class _Cut(NamedTuple):
    """Where messages, calls with their results, and conversations are cut."""

    text: int
    """Characters of a message."""
    step: int
    """Characters of the arguments of a call, and of what it returned."""
    turns: int
    """Of a conversation."""


_CUTS: Final = (
    _Cut(_WHOLE_TEXT, _WHOLE_TEXT, 10_000),
    *(_Cut(chars, chars, turns) for chars, turns in ((20_000, 1_000), (5_000, 100), (1_500, 40))),
    *(_Cut(chars, _STEP_CHARS, 40) for chars in (1_500, 1_000, 700, 500)),
    *(_Cut(chars, chars, turns) for chars, turns in ((350, 40), (250, 30), (180, 20), (120, 10), (80, 5))),
)
"""The first that leaves room for all is taken."""
_FILTERS: Final = ("finding", "verdict", "scenario", "candidate", "language")
_OPTIONS: Final = 60
"""A filter that has more is left out."""
_RATED: Final = "people’s rating, lowest first"
_LONGEST: Final = "turns, most first"
_FIRST: Final = 12
"""Turns to read first."""
_ROOM: Final = 2_300_000
"""Bytes of all transcripts and policies together, so that a page has at most 3 MB; what does not fit is left
out, the last to read first."""
_TURN_BYTES: Final = 420
"""What a turn takes beside its text."""
_STEP_BYTES: Final = 140
"""What a call takes beside its text."""
_FOLD_BYTES: Final = 450
"""What a text takes that folds away, with its beginning."""
_MARKUP: Final = 1.15
"""Of a text with Markdown, over the text."""

_NO_TEXT: Final = "The text of this conversation was not at hand when the page was made."

Row = Mapping[str, Any]
Key = tuple[str, str | None]
_Quote = tuple[str, str]
"""Words, and the criterion that they show."""


def verdict_of(case: Case) -> Text:
    """Return the verdict in its colour; a star marks one on an incomplete set of scores."""
    if not case.verdict:
        return Text("no verdict", tone="none")
    return Text(f"{case.verdict}{' *' if case.partial else ''}", tone=tone_of(case.verdict))


def tone_of(verdict: str) -> Tone:
    """Return the colour of a verdict; a rubric's own verdicts have no order that is known here."""
    return _TONES.get(verdict, "plain")


def anchor_of(key: Key) -> str:
    """Name the place of a conversation on the page: the same in every run that holds it."""
    digest = digest_text("\x1f".join(filter(None, key)))
    return f"c-{digest[:12]}"


class ShownConversations(Value):
    """What a page shows of the conversations."""

    survey: Survey
    """Which conversations, those to read first at the head."""
    weak_turns: tuple[Transcript, ...]
    """The turns to read first, each a transcript of one turn with the reason."""
    transcripts: TranscriptList
    """As many of the conversations as a page has room for."""
    policies: Mapping[str, Counter[str]] = field(default_factory=dict)
    """Their system prompts that were the agents' policies, each with how many of them by scenario."""


class TranscriptWriter(Value):
    """Writes conversations, from their rows and their text."""

    dimensions: Mapping[str, Sequence[DimensionSpec]]
    """By level."""
    titles: Mapping[str, str]
    """Kinds of findings in plain words."""
    rows: Mapping[Key, Sequence[Row]]
    conversations: Mapping[Key, Conversation]
    graded: bool = True
    """Whether the judge gives grades."""
    verdicts: bool = True
    """Whether it gives verdicts."""
    own_policy: bool = False
    """Whether it was shown the agent's own system prompt as its policy, where there is one."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Of the criteria, whose quotes are marked in the text."""
    cut_at: _Cut | None = None
    """Where texts and conversations are cut; None shows all."""

    def transcript(self, case: Case) -> Transcript:
        """Write a conversation turn by turn."""
        conversation, head = self._conversation(case.key), self._head(case.key)
        by_turn, quotes = self._turn_rows(case.key), self._quotes(case.key)
        turns = conversation.turns if conversation else ()
        scenario = conversation.scenario if conversation else None
        shown = turns if self.cut_at is None else turns[: self.cut_at.turns]
        policy = self._own_policy(case.key)
        length = "absent" if case.failure == "absent" else counted(len(turns), "turn")
        # On a page each system prompt stands once, since many conversations share it.
        opening = policy if self.cut_at is None else ""
        instructions = (TranscriptTurn(None, (TranscriptMessage("system", opening, clamped=True),)),)
        return Transcript(
            case.conversation_id,
            (
                *(instructions if opening else ()),
                *(
                    self._turn(t, by_turn.get(t.number), case.weakest_turn, quotes.get(t.number, ()))
                    for t in shown
                ),
            ),
            anchor_of(case.key),
            verdict=verdict_of(case) if self.graded and self.verdicts else None,
            facts=tuple(
                filter(None, (scenario, case.candidate, length, case.rated, *_outcomes(head, conversation)))
            ),
            reason=", ".join(self.kinds(case)[:3]),
            context=self._text(conversation.context if conversation else None),
            failure=_failure(head),
            scores=self._scores(head),
            rationale=self._rationale(head),
            findings=tuple(_findings(head, self.titles)),
            turns_left_out=len(turns) - len(shown),
            note="" if conversation else _NO_TEXT,
        )

    def unjudged(self, title: str, conversation: Conversation) -> Transcript:
        """Write a conversation of which nothing is said turn by turn."""
        turns = tuple(self._turn(turn, None, None) for turn in conversation.turns)
        context, facts = self._text(conversation.context), (counted(len(turns), "turn"),)
        return Transcript(title, turns, facts=facts, context=context)

    def turn(self, key: Key, number: int | None, reason: str = "") -> Transcript | None:
        """Write one turn that is to be read, the reason first; None where it was not judged."""
        row = self._turn_rows(key).get(number) if number is not None else None
        if row is None:
            return None
        conversation = self._conversation(key)
        turn = next((t for t in conversation.turns if t.number == number), None) if conversation else None
        messages = () if turn is None else tuple(self._messages(turn, clamped=True))
        findings = sorted(_findings(row, self.titles), key=lambda one: one.text != reason)
        if findings and not findings[0].quoted and (not reason or findings[0].text == reason):
            # In another language than the page's the kind is said first, in plain English.
            reason = f"{findings[0].source}." if findings[0].source else findings[0].text
            findings[0] = replace(findings[0], source="")
        elif title := _title_of(row, reason, self.titles):
            reason = f"{title}."
        anchor, scores = anchor_of(key), self._scores(row)
        lowest = "" if reason else self._lowest(row)
        # What is said already in the title is not said again.
        reasoned = tuple(replace(s, reason="" if lowest and s.reason in lowest else s.reason) for s in scores)
        beneath = any(s.reason for s in scores)
        return Transcript(
            cut(key[0], ID_CHARS),
            (
                TranscriptTurn(
                    number,
                    messages,
                    reasoned if beneath else (),
                    tag="weakest turn",
                    rationale=self._rationale(row),
                ),
            ),
            link=f"{anchor}-{number}",
            reason=reason or lowest or "The judge names it the weakest turn of its conversation.",
            facts=tuple(filter(None, (f"turn {number}", key[1], *self._domain(row)))),
            scores=() if beneath else scores,
            findings=tuple(filter(None, (_on_a_line(finding, reason) for finding in findings))),
            folded=False,
        )

    def size(self, key: Key, cut_at: _Cut, number: int | None = None) -> int:
        """Return about how many bytes a conversation takes on the page, or its turn of that number alone."""
        conversation = self._conversation(key)
        turns = conversation.turns[: cut_at.turns] if conversation else ()
        turns = turns if number is None else tuple(turn for turn in turns if turn.number == number)
        texts = [text[: cut_at.text] for turn in turns for text in (turn.user_text, turn.reply_text)]
        steps = [text[: cut_at.step] for turn in turns for text in _step_texts(turn)]
        texts += steps + [text for row in self.rows.get(key, ()) for text in _notes(row).values()]
        bytes = sum(map(page_bytes, texts))
        beside = _TURN_BYTES * (len(turns) + 2) + _STEP_BYTES * len(steps)
        return round(_MARKUP * bytes) + beside + _FOLD_BYTES * sum(len(text) > _STEP_CHARS for text in texts)

    def length(self, key: Key) -> int:
        """Return how many turns a conversation has; 0 where its text is not at hand."""
        conversation = self._conversation(key)
        return len(conversation.turns) if conversation else 0

    def kinds(self, case: Case) -> tuple[str, ...]:
        """Return what was found in a conversation, in words; of a judge with kinds only these."""
        if self.graded:
            return tuple(map(words.name, case.kinds))
        return tuple(self.titles[kind] for kind in case.kinds if kind in self.titles)

    def group(self, case: Case, name: str) -> tuple[str, ...]:
        """Return what a reader can choose a conversation by."""
        if name == "finding":
            return self.kinds(case)
        if name == "verdict":
            return (case.verdict,) if self.graded and case.verdict else ()
        rows = self.rows.get(case.key, ())
        values = (row.get(name) or row["details"].get(name) for row in rows)
        return tuple(dict.fromkeys(str(value) for value in values if value))[:1]

    def _quotes(self, key: Key) -> Mapping[int, list[_Quote]]:
        """Return the quotes of criteria by turn."""
        quotes: dict[int, list[_Quote]] = {}
        for e in (e for row in self.rows.get(key, ()) for e in row["evidence"]):
            if e.get("criterion") in self.weights:
                quotes.setdefault(e["turn"], []).append((e["quote"], e["criterion"]))
        return quotes

    def _turn(
        self, turn: Turn, row: Row | None, weakest: int | None, quotes: Sequence[_Quote] = ()
    ) -> TranscriptTurn:
        return TranscriptTurn(
            turn.number,
            tuple(self._messages(turn, quotes=quotes)),
            self._scores(row),
            tuple(_findings(row, self.titles)),
            _failure(row),
            tag="weakest turn" if turn.number == weakest else "",
            without_reply=not turn.has_reply,
            facts=self._domain(row),
            rationale=self._rationale(row),
        )

    def _messages(
        self, turn: Turn, *, clamped: bool = False, quotes: Sequence[_Quote] = ()
    ) -> Iterator[TranscriptMessage | TranscriptCall]:
        """Yield what the user said, every call with its own result, and the reply."""
        if turn.number or turn.user_text:
            yield self._message("user", turn.user_text, clamped=clamped)
        steps = list(reversed(turn.tool_steps))
        for message in turn.steps:
            if message.text and message.role != "tool":
                yield TranscriptMessage("tool", f"{message.role}: {self._text(message.text)}")
            unasked = bool(steps) and steps[-1].call is None and steps[-1].result is message
            for _ in range(len(message.tool_calls) + unasked):
                step = steps.pop()
                name, arguments = ("", "") if step.call is None else (step.call.name, step.call.arguments)
                most = None if self.cut_at is None else self.cut_at.step
                result = None if step.result is None else cut(step.result.text, most)
                if step.call is None:
                    wrong = "a result that no call asked for"
                else:
                    wrong = "no result came back" if step.result is None else ""
                yield TranscriptCall(name, cut(arguments, most), result, wrong)
        if turn.has_reply:
            reply = self._message("assistant", turn.reply_text, clamped=clamped)
            if quotes:
                from dialogauge.studies.judging.marks import marks_in  # of whole sessions alone

                reply = replace(reply, marks=marks_in(reply.text, quotes, self.weights))
            yield reply

    def _message(self, role: str, text: str, *, clamped: bool) -> TranscriptMessage:
        return TranscriptMessage(role, self._text(text), clamped=clamped or len(text) > _LONG)

    def _conversation(self, key: Key) -> Conversation | None:
        return self.conversations.get(key) or self.conversations.get((key[0], None))

    def _head(self, key: Key) -> Row | None:
        return next((r for r in self.rows.get(key, ()) if r["level"] == "conversation"), None)

    def _turn_rows(self, key: Key) -> dict[int, Row]:
        return {r["turn"]: r for r in self.rows.get(key, ()) if r["turn"] is not None}

    def _scores(self, row: Row | None) -> tuple[Scored, ...]:
        """Return what people said of a target, and beside it what the judge did."""
        if row is None:
            return ()
        scores = own_scores(row) if row["scores"] else {}
        shown, notes = self.dimensions.get(row["level"], ()) if scores else (), _notes(row)
        judged = (
            Scored(d.name, words.score(scores.get(d.name)), reason=self._text(notes.get(d.name)))
            for d in shown
        )
        return (*self._rated(row), *judged)

    def _rated(self, row: Row) -> Iterator[Scored]:
        """Yield what people said of a target, or what came of it."""
        if rating := row.get("rating"):
            conversation = self._conversation((row["conversation_id"], row["candidate"]))
            raters = {r.rater for r in conversation.ratings} if conversation else set()
            by = f"{rating['raters']:,} people" if rating["raters"] > 1 else "a person"
            if rating["dimension"] == "reward" or raters == {"environment"}:
                by = "the outcome"
            yield Scored(rating["dimension"], words.score(rating["score"]), by)
            for name, score in rating.get("others", {}).items():
                yield Scored(name, words.score(score), by)

    def _lowest(self, row: Row) -> str:
        """Return what the judge said of the dimension with the lowest score, if it gave reasons."""
        notes, scores = _notes(row), own_scores(row)
        qualities = {
            d.name: d.scale.quality(score)
            for d in self.dimensions.get(row["level"], ())
            if not isinstance(score := scores.get(d.name, ""), str) and notes.get(d.name)
        }
        lowest = min(qualities, key=lambda name: qualities[name], default=None)
        if lowest is None:
            return ""
        return f"{words.name(lowest)} {words.score(scores[lowest])}: {cut(notes[lowest], _QUOTE_CHARS)}"

    def _domain(self, row: Row | None) -> tuple[str, ...]:
        """Return the domain whose policy the judge was shown, where it was one by domain."""
        if row is None or self._own_policy((row["conversation_id"], row["candidate"])):
            return ()
        domain = row["details"].get("domain")
        return (f"domain: {domain}",) if domain else ()

    def _own_policy(self, key: Key) -> str:
        """Return the system prompt that the judge was shown as the agent's policy."""
        conversation = self._conversation(key) if self.own_policy else None
        return "" if conversation is None else conversation.instructions

    def policies(self, keys: Iterable[Key]) -> Mapping[str, Counter[str]]:
        """Return the system prompts that were the policies, each with its scenarios, the commonest first."""
        policies: dict[str, Counter[str]] = {}
        for key in keys:
            if policy := self._own_policy(key):
                scenario = getattr(self._conversation(key), "scenario", None)
                policies.setdefault(policy, Counter())[scenario or ""] += 1
        return dict(sorted(policies.items(), key=lambda item: -item[1].total()))

    def _rationale(self, row: Row | None) -> str:
        """Return what the judge said of a target beside its scores; nothing that its notes say already."""
        rationale = (row and row["rationale"]) or ""
        notes = () if row is None else _notes(row).values()
        return "" if notes and all(note in rationale for note in notes) else self._text(rationale)

    def _text(self, text: str | None) -> str:
        return cut(text or "", None if self.cut_at is None else self.cut_at.text)


def read_sample(
    run: StoredRun,
    survey: Survey,
    dimensions: Sequence[DimensionSummary],
    findings: FindingsSummary | None = None,
    beside: Callable[[TranscriptWriter], TranscriptWriter] = lambda writer: writer,
) -> ShownConversations:
    """Read the text of what a survey of the run's rows shows; `findings` name the turns to read first.

    What is known of single turns from elsewhere is put `beside` it.
    """
    first = () if findings is None else tuple(place.conversation_id for place in findings.first)
    examples = () if findings is None else {kind.example.conversation_id for kind in findings.kinds}
    survey = survey.choose(first, examples, _unlisted(run, survey, dimensions, {*first, *examples}))
    cases = {case.key: case for case in (*survey.shown, *survey.weak)}
    by_id = {id: key for key in reversed(cases) for id in key[:1]}
    places = [(case.key, case.weakest_turn, "") for case in survey.weak]
    if findings is not None:
        # Of each conversation its first: whoever opens it sees the others there.
        turns = {f.conversation_id: f for f in reversed(findings.first)}
        ids = list(dict.fromkeys(first))[:_FIRST]
        places = [(by_id.get(id, (id, None)), turns[id].turn, turns[id].reason) for id in ids]
    wanted = {*cases, *(key for key, _, _ in places)}
    # Of a dimension that the judge never scores, n/a beside every turn says nothing.
    verdicts = any(case.verdict for case in survey.listed)
    writer = beside(writer_of(run, wanted, [d for d in dimensions if d.n], findings, verdicts=verdicts))
    policies = writer.policies(case.key for case in survey.shown)
    cut_at, shown = _fitting(writer, survey.shown, places, _ROOM - sum(map(page_bytes, policies)))
    writer = replace(writer, cut_at=cut_at)
    weak = (writer.turn(*place) for place in places)
    groups = {name: [writer.group(case, name) for case in shown] for name in _FILTERS}
    filters = [name for name, values in groups.items() if 1 < len(set().union(*values)) <= _OPTIONS]
    rated = [_RATED] if any(case.rating is not None for case in shown) else []
    orders = (*rated, _LONGEST, *(f"{words.name(d.name)}, weakest first" for d in dimensions))
    transcripts = (
        replace(
            writer.transcript(case),
            ranks=tuple(_ranks(case, writer, dimensions))[1 - len(rated) :],
            groups=tuple(groups[name][at] for name in filters),
        )
        for at, case in enumerate(shown)
    )
    talks = TranscriptList("Conversations", tuple(transcripts), orders, tuple(filters))
    return ShownConversations(replace(survey, shown=shown), tuple(filter(None, weak)), talks, policies)


def _unlisted(
    run: StoredRun, survey: Survey, dimensions: Sequence[DimensionSpec], ids: Collection[str]
) -> tuple[Case, ...]:
    """Return the cases of those ids that are not among the conversations that a survey lists."""
    missing = set(ids) - {case.conversation_id for case in survey.listed} if survey.total > LISTED else None
    if not missing:
        return ()
    sampler = Sampler(dimensions)
    for row in run.rows_of(missing):
        sampler.add(row)
    return sampler.result().listed


def writer_of(
    run: StoredRun,
    wanted: Collection[Key],
    dimensions: Sequence[DimensionSpec],
    findings: FindingsSummary | None = None,
    *,
    verdicts: bool,
) -> TranscriptWriter:
    """Return a writer of conversations of a run, by id and candidate; `verdicts` says if there are any."""
    ids = {key[0] for key in wanted}
    by_level: dict[str, list[DimensionSpec]] = {}
    for dimension in dimensions:
        by_level.setdefault(dimension.level, []).append(dimension)
    titles = {} if findings is None else {kind.kind: kind.title for kind in findings.kinds}
    rows = _rows_of(run.rows_of(ids), wanted)
    by_key: dict[Key, Conversation] = {}
    for conversation in run.conversations(ids):
        by_key[conversation.id, conversation.candidate] = conversation
        by_key.setdefault((conversation.id, None), conversation)
    return TranscriptWriter(
        by_level,
        titles,
        rows,
        by_key,
        graded=findings is None,
        verdicts=verdicts,
        own_policy=bool(run.manifest.judge.get("settings", {}).get("own_policy")),
        weights=run.manifest.facts.get("criteria", {}),
    )


def _fitting(
    writer: TranscriptWriter, cases: Sequence[Case], turns: Sequence[tuple[Key, int | None, str]], room: int
) -> tuple[_Cut, tuple[Case, ...]]:
    """Return where to cut texts so that all conversations have room beside single turns, and which have."""
    for cut_at in _CUTS:
        left = room - sum(writer.size(key, cut_at, number) for key, number, _ in turns)
        ends = list(accumulate(writer.size(case.key, cut_at) for case in cases))
        if not ends or ends[-1] <= left:
            break
    return cut_at, tuple(cases[: bisect_right(ends, left)])


def _ranks(
    case: Case, writer: TranscriptWriter, dimensions: Sequence[DimensionSummary]
) -> Iterator[float | None]:
    yield case.rating
    yield -writer.length(case.key)
    for dimension, score in zip(dimensions, case.scores, strict=True):
        yield None if score is None or isinstance(score, str) else round(dimension.scale.quality(score), 4)


def _step_texts(turn: Turn) -> Iterator[str]:
    for message in turn.steps:
        yield from (f"{call.name}{call.arguments}" for call in message.tool_calls)
        yield message.text


def _notes(row: Row) -> Mapping[str, str]:
    """Return the judge's reasons by dimension."""
    notes = row["details"].get("notes")
    return notes if isinstance(notes, Mapping) else {}


def _outcomes(head: Row | None, conversation: Conversation | None) -> Iterator[str]:
    """Yield what came of a conversation that the judge has no row of: beside one it stands as a rating."""
    if head is None and conversation is not None:
        for rating in conversation.ratings:
            if rating.turn is None and rating.rater == "environment":
                yield f"{words.name(rating.dimension)} {words.score(rating.score)}"


def _rows_of(rows: Iterable[Row], wanted: Collection[Key]) -> dict[Key, list[Row]]:
    by_key: dict[Key, list[Row]] = {}
    for row in rows:
        key = (row["conversation_id"], row["candidate"])
        if key in wanted and row["repeat"] == 1:
            by_key.setdefault(key, []).append(row)
    return by_key


def _findings(row: Row | None, titles: Mapping[str, str]) -> list[Finding]:
    """Return what is wrong with a target, each on one line with its quote where the judge paired them."""
    if row is None:
        return []
    named = {one["note"]: one["name"] for one in row["details"].get("signals", ()) if one.get("note")}
    evidence = {e.get("signal") or e["quote"]: e for e in reversed(row["evidence"])}
    findings = []
    for issue in row["issues"][:_MAX_NOTES]:
        kind = named.get(issue, "")
        e = evidence.pop(kind, None)
        findings.append(
            Finding(
                cut(issue, _QUOTE_CHARS),
                titles.get(kind, "") if has_chinese(issue) else "",
                None if e is None else _elsewhere(row, e["turn"]),
                quote="" if e is None else cut(e["quote"], _QUOTE_CHARS),
            )
        )
    # A finding in a turn stands beside that turn; of a judge that names kinds nothing else is shown.
    others = [
        e
        for e in row["evidence"]
        if any(e is one for one in evidence.values())
        and (not e.get("signal") or (row["level"] == "turn" and (not titles or e["signal"] in titles)))
    ]
    for e in others[:_MAX_NOTES]:
        source = titles.get(e.get("signal", "")) or e.get("signal") or e.get("criterion") or ""
        turn, quote = _elsewhere(row, e["turn"]), cut(e["quote"], _QUOTE_CHARS)
        findings.append(Finding(quote, cut(source, ID_CHARS), turn, quoted=True))
    return findings


def _title_of(row: Row, note: str, titles: Mapping[str, str]) -> str:
    """Return in plain English what a note in another language says; empty for one in English."""
    if not has_chinese(note):
        return ""
    kinds = (one["name"] for one in row["details"].get("signals", ()) if note and one.get("note") == note)
    return titles.get(next(kinds, ""), "")


def _elsewhere(row: Row, turn: int) -> int | None:
    """Return the turn of a quote, where it is not that of the row."""
    return None if turn == row["turn"] else turn


def _on_a_line(finding: Finding, reason: str) -> Finding | None:
    """Return a finding with its quote in one line; without its words where they are the reason already."""
    quote = finding.text if finding.quoted else finding.quote
    line = " ".join(quote.replace("*", " ").replace("#", " ").split())
    line = line if len(line) <= _LINE_CHARS else f"{line[: _LINE_CHARS - 1]}…"
    if finding.quoted:
        return replace(finding, text=line)
    if finding.text == reason:
        return Finding(line, finding.source, finding.turn, quoted=True) if line else None
    return replace(finding, quote=line)


def _failure(row: Row | None) -> str:
    failure = None if row is None else row["failure"]
    return cut(f"{failure['kind']}: {failure['message']}", _QUOTE_CHARS) if failure else ""


def cut(text: str, limit: int | None) -> str:
    """Cut a text, and say how much is missing."""
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … ({len(text) - limit:,} more characters)"
