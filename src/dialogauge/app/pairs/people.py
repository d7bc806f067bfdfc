"""Training rows from a folder of `annotate`: people's choices between two replies, and better replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dialogauge.annotate.answers import ItemAnswers, standing_answers
from dialogauge.annotate.plan import AssignmentPlan, PlannedItem
from dialogauge.annotate.task import HIDDEN
from dialogauge.app.annotate.collect import stored_answers
from dialogauge.app.annotate.folder import PlanFiles
from dialogauge.app.pairs.comparisons import majority, mostly
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import StoreError, UsageError
from dialogauge.core.files import shown_path
from dialogauge.data import Mask
from dialogauge.runs.privacy import OPEN, new_salt
from dialogauge.training import (
    Provenance,
    TrainingRow,
    Why,
    corrected_row,
    dpo_row,
    fork_at,
    pair_of_dialogues,
    unfit,
)


def people_rows(files: PlanFiles, options: PairOptions, left_out: Why) -> Iterator[TrainingRow]:
    """Yield the rows that rest on what was imported into a folder, masked if they are to be.

    Of a pair the reply that more than half of its raters chose is the better one. Nothing that follows a
    reply is in its row.

    Raises:
        UsageError: Rows of another kind are asked for.
        StoreError: Nothing was imported yet, or the folder cannot be read.
    """
    plan = files.read_plan()
    folder = shown_path(files.folder)
    kinds = ("dpo",) if plan.pairs else ("dpo", "sft")
    if options.kind not in kinds:
        what = "choices between two" if plan.pairs else "better replies"
        msg = f"{folder} holds {what}, which give no rows of the kind {options.kind}: {', '.join(kinds)}"
        hint = f"for the others judge the log (`judge LOG --ratings {folder}`), and give that run"
        raise UsageError(msg, hint=hint)
    by_item: dict[str, dict[str, ItemAnswers]] = {}
    for (item, rater), one in standing_answers(stored_answers(files)).items():
        by_item.setdefault(item, {})[rater] = one
    if not by_item:
        msg = f"nothing was imported into {folder} yet"
        raise StoreError(msg, hint=f"dialogauge annotate import {folder} FILES...")
    mask = Mask(options.redact, options.hash_ids, new_salt()) if options.privacy != OPEN else None
    items = plan.by_id
    for name, conversations in files.read_items():
        first = conversations[0]
        ids = {} if mask is None else mask.names(first.id, first.user_id)
        talks = conversations if mask is None else tuple(map(mask.conversation, conversations))
        rated = _Rated(plan, items[name], talks, by_item.get(name, {}), mask)
        if not plan.pairs:
            yield from rated.corrections(options.kind, left_out, ids)
        elif isinstance(row := rated.duel(), str):
            left_out[row] += 1
        else:
            yield row


@dataclass(frozen=True, slots=True)
class _Rated:
    """One item, and what people said of it."""

    plan: AssignmentPlan
    item: PlannedItem
    conversations: tuple[Conversation, ...]
    """With the mask on."""
    answers: Mapping[str, ItemAnswers]
    """By rater."""
    mask: Mask | None

    def duel(self) -> TrainingRow | str:
        """Return the pair of the reply that most raters chose and the other one, or why there is none."""
        name = self.plan.questions[0].name
        choices = {
            rater: one.answers[None, name].winner
            for rater, one in self.answers.items()
            if (None, name) in one.answers
        }
        better = majority([str(choice) for choice in choices.values()])
        if not choices:
            return "nobody chose between the two"
        if better not in ("a", "b"):
            return better
        chosen, rejected = self.conversations if better == "a" else reversed(self.conversations)
        made = pair_of_dialogues(chosen, rejected, segments=False)
        if isinstance(made, str):
            return made
        by, other = self.item.candidate, self.item.other_candidate
        if better == "b":
            by, other = other, by
        first = [self.item.left[rater] == better for rater in choices if rater in self.item.left]
        votes = Counter(choices.values())
        provenance = Provenance(
            chosen_from=f"people's choice{f': {by}' if by else ''}",
            model_chosen=by,
            model_rejected=other,
            chosen_first=mostly(first),
            details={"item": self.item.id, "votes": {side: votes[side] for side in ("a", "b", "tie")}},
            **self._about(rejected, made.turn),
        )
        return TrainingRow(made.row(provenance), provenance, rejected)

    def corrections(self, kind: str, left_out: Why, ids: Mapping[str, str]) -> Iterator[TrainingRow]:
        """Yield a row for each better reply that differs from the reply and from the others."""
        conversation, mask = self.conversations[0], self.mask
        seen: set[tuple[int, str]] = set()
        better = [
            (turn, rater, a) for rater, one in self.answers.items() for turn, a in one.corrections.items()
        ]
        for turn, rater, answer in sorted(better, key=lambda each: each[:2]):
            note, fork = answer.note or "", fork_at(conversation, turn, "people")
            text: str = note if mask is None else mask.value(note, ids)
            if fork is None or text.strip() in ("", fork.rejected.strip()) or (turn, text) in seen:
                left_out["a better reply that says the same"] += 1
            elif self.plan.blind and HIDDEN in text:
                left_out[f"a better reply with {HIDDEN}, the mark of a hidden name"] += 1
            elif why := unfit(conversation.messages[: conversation.turn(turn).stop]):
                left_out[why] += 1
            else:
                seen.add((turn, text))
                scores = (a.score for (t, _), a in self.answers[rater].answers.items() if t == turn)
                who = rater if mask is None else mask.id("user", rater)
                source = Provenance(
                    chosen_from="a rater's better reply",
                    rating=next(scores, None),
                    model_rejected=self.item.candidate,
                    details={"item": self.item.id, "rater": who},
                    **self._about(conversation, turn),
                )
                row = corrected_row(fork, text) if kind == "sft" else dpo_row(fork, text)
                yield TrainingRow(row, source, conversation)

    def _about(self, conversation: Conversation, turn: int) -> dict[str, Any]:
        """Return what all rows of the item rest on."""
        who = {"user": conversation.user_id, "persona": conversation.scenario}
        return {"conversation_id": conversation.id, "turn": turn, "source": "people", **who}
