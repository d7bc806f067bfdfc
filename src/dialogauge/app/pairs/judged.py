"""Training rows from judged runs: what people said of replies comes first, then the judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dialogauge.app.merging import references
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import UsageError
from dialogauge.runs.run import StoredRun
from dialogauge.stats import parse_rule
from dialogauge.studies.arena.stored import stored_evidence as arena_evidence
from dialogauge.studies.arena.study import ARENA
from dialogauge.studies.evidence import NOT_COMPARED, VERDICT, RunEvidence, evidence_of
from dialogauge.studies.judging.people import People, stored_people
from dialogauge.studies.judging.people_tally import LEVELS
from dialogauge.studies.replay.answers import ANSWER
from dialogauge.training import (
    APART,
    Fork,
    JudgedConversation,
    PersonRating,
    Provenance,
    Source,
    TrainingRow,
    Why,
    dpo_row,
    fork_of,
    judged_conversation,
    kto_rows,
    rank_for_labelling,
    reply_pairs,
    sft_row,
    unfit,
    weak_turn,
    worth_learning,
)

_ACTIVE_DEFAULT = 50
RESTS_ON: Final[Mapping[Source, str]] = {"people": "people's ratings", "judge": "the judge"}
UNCHECKED_WHY: Final = "rests on a judge that is not checked (--unchecked takes it)"

JudgedFork = tuple[JudgedConversation, Fork]
"""A weak turn, and the conversation that it is in."""


def about_row(run: StoredRun, name: str, talk: Conversation) -> dict[str, Any]:
    """Return what the provenance of every row says of its run and conversation."""
    manifest = run.manifest
    return {
        "user": talk.user_id,
        "persona": talk.scenario,
        "run": name,
        "run_digest": str(manifest.digests.get("data") or "") or None,
        "judge_digest": manifest.judge_digest,
    }


def why_unchecked(run: StoredRun) -> str:
    """Say why a judge that compared does not count, or one that searched; empty where it is checked."""
    if run.manifest.study == ANSWER:
        each: Mapping[str, Mapping[str, Any]] = run.summary.get("dimensions") or {"satisfaction": run.summary}
        faults = [d.get("unchecked_because") or NOT_COMPARED for d in each.values() if not d.get("checked")]
    elif run.manifest.study == ARENA:
        one = arena_evidence(run.summary)
        faults = [] if one.checked else [one.why]
    else:
        dimensions = evidence_of(run).dimensions.values()
        faults = [one.why for one in dimensions if not one.checked] if dimensions else [NOT_COMPARED]
    return faults[0] if faults else ""


@dataclass(frozen=True, slots=True)
class RatedRun:
    """A run, what people said of it, and what is checked of its judge."""

    name: str
    run: StoredRun
    people: People | None
    evidence: RunEvidence

    @classmethod
    def of(cls, name: str, run: StoredRun, *, unchecked: bool) -> RatedRun:
        """Look up what a run says of people and of its judge."""
        return cls(name, run, stored_people(run), evidence_of(run, unchecked=unchecked))

    def counts(self, kind: str, *, checked: bool = False) -> bool:
        """Say whether the judge's word makes rows of a kind; `checked`: without `--unchecked`."""
        levels = {"sft": (VERDICT,), "dpo": ("turn", "pair"), "kto": ("turn",)}.get(kind, ())
        names = [d.name for d in self.run.dimensions if d.level in levels]
        evidence = replace(self.evidence, unchecked=self.evidence.unchecked and not checked)
        return any(map(evidence.counts, [*names, VERDICT] if VERDICT in levels else names))

    def judged(self) -> Iterator[JudgedConversation]:
        """Yield the conversations with what people said, and the judge: what of it counts, if anything."""
        dimensions = [d for d in self.run.dimensions if self.evidence.counts(d.name)] or self.run.dimensions
        scales = {d.name: d.scale for d in dimensions}
        main = {level: None if self.people is None else self.people.main(level) for level in LEVELS}

        def person(row: Mapping[str, Any]) -> PersonRating | None:
            figure, rating = main.get(row["level"]), row.get("rating")
            if figure is None or rating is None:
                return None
            score = {rating["dimension"]: rating["score"], **rating.get("others", {})}.get(figure.dimension)
            if score is None:
                return None
            good = not parse_rule(figure.cut).holds(score)
            scale = None if isinstance(score, str) else figure.scale
            quality = float(good) if scale is None else scale.quality(score)
            return PersonRating(score, quality, good, f"{figure.dimension} {figure.scale} {figure.cut}")

        for conversation, rows in self.run.judged():
            yield replace(judged_conversation(conversation, rows, scales, person), run=self.name)

    def notes(self) -> Iterator[str]:
        """Say whose ratings are used, and what is known of the judge."""
        by = next((e.by for e in self.evidence.dimensions.values() if e.checked), None)
        judge = "its judge is not checked" if by is None else f"its judge is checked: {by}"
        if self.people is None:
            yield f"nobody rated this run, and {judge}"
            return
        used = [f for level in LEVELS if (f := self.people.main(level)) is not None]
        rules = (f"{f.what} of {f.n:,} {f.level}s, {f.rule} is bad" for f in used)
        if used:
            yield f"people's ratings come first ({'; '.join(rules)})"
            yield f"whether the judge agrees with people: {self.people.light.answer}"
        else:
            yield from () if self.people.figures else (self.people.light.sentence,)
            yield f"people's ratings say nothing of good and bad, and {judge}"


@dataclass(frozen=True, slots=True)
class RowsOfJudged:
    """Makes rows of judged runs, all together: replies to the same messages may stand in several."""

    options: PairOptions
    runs: Sequence[RatedRun]
    left_out: Why

    def judged(self) -> Iterator[JudgedConversation]:
        """Yield the conversations of all runs."""
        return (judged for run in self.runs for judged in run.judged())

    def _run_of(self, judged: JudgedConversation) -> RatedRun:
        return next(run for run in self.runs if run.name == judged.run)

    def row(
        self,
        data: Mapping[str, Any],
        judged: JudgedConversation,
        turn: int | None,
        source: Source,
        **more: Any,  # noqa: ANN401 - fields of Provenance
    ) -> TrainingRow:
        """Return a row with what it rests on."""
        figures = None if turn is None else judged.turn(turn)
        rating = judged.people.get(None) if turn is None else judged.rated_turns.get(turn)
        run, talk = self._run_of(judged), judged.conversation
        provenance = Provenance(
            conversation_id=talk.id,
            turn=turn,
            source=source,
            rating=None if rating is None else rating.score,
            judge=judged.judge,
            prompt_digest=judged.prompt_digest,
            verdict=judged.verdict,
            quality=judged.quality if figures is None else figures.quality,
            issues=() if figures is None else figures.issues,
            unchecked=source == "judge" and not run.counts(self.options.kind, checked=True),
            **about_row(run.run, run.name, talk),
            **more,
        )
        return TrainingRow(data, provenance, talk)

    def rows(self) -> Iterator[TrainingRow]:
        """Yield the rows of the kind that is asked for; of pairs those that need no better reply."""
        kinds = {"kto": self._kto, "sft": self._sft, "active": self._active, "dpo": self._pairs}
        return kinds[self.options.kind]()

    def _pairs(self) -> Iterator[TrainingRow]:
        """Pair replies to the same messages by people's ratings; of several runs also by the judge."""
        several, margin = len(self.runs) > 1, self.options.min_margin
        if not several and all(run.people is None for run in self.runs):
            return
        counts = (lambda judged: self._run_of(judged).counts("dpo")) if several else None
        least = APART if margin is None else margin
        for pair in reply_pairs(self.judged(), self.left_out, counts, min_margin=least):
            (better, turn), fork, worse = pair.better, pair.fork, pair.worse
            chosen, rejected = better.conversation, worse.conversation
            details = {"chosen_conversation_id": chosen.id, "chosen_turn": turn}
            yield self.row(
                dpo_row(fork, pair.chosen),
                worse,
                fork.turn,
                fork.source,
                chosen_from=RESTS_ON[fork.source],
                scores=pair.scores,
                chosen_user=chosen.user_id if chosen.user_id != rejected.user_id else None,
                model_chosen=chosen.candidate,
                model_rejected=rejected.candidate,
                details={**details, "chosen_run": better.run} if several else details,
            )

    def expect_pairs(self, rows: Sequence[TrainingRow]) -> None:
        """Raise UsageError where no pair came, not because replies tie, and nothing writes better replies."""
        several, options = len(self.runs) > 1, self.options
        others = len(options.inputs) > len(self.runs) or (several and bool(self.left_out))
        if rows or others or options.chosen_field is not None or "repair" in references(options):
            return
        msg = "a preference pair needs a better reply, and nothing supplies one: no ratings, model or column"
        hint = (
            "--model NAME --base-url URL has a model write it; --chosen-field KEY takes it from your records"
        )
        if several:
            msg = "no two of these runs hold different replies to the same messages"
            hint = "let both versions answer the same requests, and rate their replies"
        raise UsageError(msg, hint=hint)

    def forks(self, rows: Sequence[TrainingRow]) -> Iterator[JudgedFork]:
        """Yield the weak turns with a reply that can be bettered; not those that are rejected in a row."""
        paired = {(one.run, one.conversation_id, one.turn) for one in (row.provenance for row in rows)}
        for judged in self.judged():
            fork = fork_of(judged)
            if fork is None:
                liked = weak_turn(judged) == (None, "people")
                self.left_out["people were satisfied" if liked else "no weakest turn"] += 1
            elif fork.source == "judge" and not self._run_of(judged).counts("dpo"):
                self.left_out[UNCHECKED_WHY] += 1
            elif why := _unfit_to(judged, fork.turn):
                self.left_out[why] += 1
            elif (judged.run, fork.conversation_id, fork.turn) not in paired:
                yield judged, fork

    def bettered(self, fork: JudgedFork, chosen: str, chosen_from: str) -> TrainingRow:
        """Return the pair of a weak reply and a better one that was written for it."""
        judged, weak = fork
        model = judged.conversation.candidate
        data = dpo_row(weak, chosen)
        return self.row(data, judged, weak.turn, weak.source, chosen_from=chosen_from, model_rejected=model)

    def from_field(self, forks: Iterable[JudgedFork], field: str) -> Iterator[TrainingRow]:
        """Yield pairs whose better reply stands on the weak reply's own message, or on the conversation."""
        for judged, fork in forks:
            reply = judged.conversation.turn(fork.turn).reply[-1]
            values = (of.get(field) for of in (reply.extra, judged.conversation.metadata))
            chosen = next((v for v in values if isinstance(v, str) and v.strip()), None)
            if chosen is None:
                self.left_out[f"no {field!r} at the weakest turn or on the conversation"] += 1
            elif chosen.strip() == fork.rejected.strip():
                self.left_out[f"{field!r} is the weak reply itself"] += 1
            else:
                yield self.bettered((judged, fork), chosen, f"field {field}")

    def _kto(self) -> Iterator[TrainingRow]:
        """Yield labelled replies."""
        for judged in self.judged():
            rows = list(kto_rows(judged))
            self.left_out["turns neither clearly good nor bad"] += len(judged.turns) - len(rows)
            for turn, row, source in rows:
                if why := _unfit_to(judged, turn):
                    self.left_out[why] += 1
                else:
                    yield self.row(row, judged, turn, source)

    def _sft(self) -> Iterator[TrainingRow]:
        """Yield conversations to follow."""
        least = self.options.min_verdict
        for judged in self.judged():
            worth, source = worth_learning(judged, least)
            row = sft_row(judged)
            if worth is None:
                why: str | None = "no verdict (the rubric gives none, or the judgement failed)"
            elif not worth:
                why = "people were dissatisfied" if source == "people" else f"verdict below {least}"
            else:
                why = unfit(judged.conversation.messages) if row else "no answer of the assistant"
            if why is None and row is not None:
                yield self.row(row, judged, None, source)
            else:
                self.left_out[str(why)] += 1

    def _active(self) -> Iterator[TrainingRow]:
        """Yield what to have labelled next: nothing that people rated already."""
        unrated = {}
        for one in self.judged():
            if one.people:
                self.left_out["people rated it already"] += 1
            else:
                unrated[one.conversation.id] = one
        limit = self.options.limit or _ACTIVE_DEFAULT
        self.left_out["ranked lower"] += max(0, len(unrated) - limit)
        for item in rank_for_labelling(unrated.values(), limit):
            yield self.row(item.to_row(), item.judged, item.judged.weakest_turn, "people")


def _unfit_to(judged: JudgedConversation, turn: int) -> str | None:
    """Say why a conversation has no place in a row to the end of a turn; None where it has one."""
    return unfit(judged.conversation.messages[: judged.conversation.turn(turn).stop])
