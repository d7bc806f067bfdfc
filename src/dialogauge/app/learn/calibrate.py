"""`learn calibrate`: how often users like, dislike and copy, by how satisfied they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dialogauge.app.command import Measurement
from dialogauge.app.learn.settings import LearnCalibrateOptions
from dialogauge.app.learn.tasks import logs_in
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.sources import PythonInput
from dialogauge.core.files import shown_path
from dialogauge.data.tasks import read_scores
from dialogauge.report import Block, Callout, Number, Page, data_table
from dialogauge.stats.actions import LLM_SCORES, calibrate, calibrate_two, shares_of
from dialogauge.text import counted

_TABLE_3: Final = "Table 3 of MemoryBench"


@dataclass(frozen=True, slots=True)
class ScoreActions:
    """How likely each action is at one score, from 0 to 1."""

    score: int
    share: float
    """Of the score among all."""
    like: float
    dislike: float
    copy: float
    """Of a long output, apart from the others; a short one is never copied."""
    nothing: float
    """Neither a like nor a dislike."""


@dataclass(frozen=True, slots=True)
class ActionTable:
    """A model of actions that was fitted to scores."""

    source: str
    """Where the scores are from, and how many they are, if that is known."""
    like_scale: float
    """c_L; of two scores the chance that the higher one is liked."""
    dislike_scale: float
    """c_D; of two scores the chance that the lower one is disliked."""
    scores: Sequence[ScoreActions]

    @property
    def page(self) -> Page:
        """The table as a page."""
        return Page("Actions of users", tuple(_blocks(self)))


def _calibrate(options: LearnCalibrateOptions, python: PythonInput) -> CommandOutcome[ActionTable]:
    """Fit the model to the scores; UsageError for rates that it cannot give."""
    del python
    source, shares = _TABLE_3, dict(LLM_SCORES)
    if options.scores_file is not None:
        shares, count = read_scores(logs_in(options.scores_file))
        source = (f"{counted(count, 'score')} of " if count else "") + shown_path(options.scores_file)
    shares, (likes, dislikes) = shares_of(shares), options.middle
    rates = (options.like_rate, options.dislike_rate)
    if len(shares) == 2:
        model = calibrate_two(shares, rates, (max(shares), min(shares)))
    else:
        model = calibrate(shares, rates, options.k, (likes, dislikes))
    rows = [
        ScoreActions(s, shares.get(s, 0.0), at.like, at.dislike, at.copy(long=True), at.nothing)
        for s, at in sorted(model.table.items())
    ]
    table = ActionTable(source, model.like_scale, model.dislike_scale, rows)
    return CommandOutcome(options=options, result=table)


def _blocks(table: ActionTable) -> Iterator[Block]:
    columns = ["score", "share %", "like %", "dislike %", "copy %", "nothing %"]
    shares = [(one.score, (one.share, one.like, one.dislike, one.copy, one.nothing)) for one in table.scores]
    yield data_table(
        "What users do, by satisfaction (Table 4)",
        columns,
        [(str(score), *(Number(100 * share, 3) for share in of)) for score, of in shares],
    )
    notes = [f"Scores: {table.source}. Copies are of long outputs, and drawn apart; short ones have none."]
    if len(table.scores) == 2:
        notes.append(
            "There are two scores: the higher one is liked, the lower one disliked, without a curve."
        )
    else:
        notes.append(f"c_L = {table.like_scale:.6f}, c_D = {table.dislike_scale:.6f}.")
    if {one.score: one.share for one in table.scores} == LLM_SCORES:
        notes.append("The 9.9 % and 2.1 % of DialSim come of P(9) = .565 and P(3) = .433, not of Table 3.")
    yield Callout(tuple(notes))


CALIBRATE: Final[Measurement[LearnCalibrateOptions, ActionTable]] = Measurement(
    name="calibrate", prints=ActionTable, measure=_calibrate, view=lambda outcome: _blocks(outcome.result)
)
