"""The local judge: no model, no network, no key. It names the words that each score stands on.

Turn scores come from findings (`dialogauge.signals`) by the table in `scores`; the satisfaction from a
small fitted model (`model`). It cannot judge safety, and says so; it judges English and Chinese, and
fails on anything else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any, Final, Literal, get_args

from dialogauge.core import (
    NOT_APPLICABLE,
    Conversation,
    Evidence,
    Judged,
    JudgeFailure,
    Judgement,
    PlainDimension,
    Request,
    Score,
    Target,
    Turn,
    UsageError,
    as_scores,
    digest,
    whole_score,
)
from dialogauge.core.protocols import Reads, Reply
from dialogauge.judges.card import CONVERSATION_DIMENSIONS, TURN_DIMENSIONS, card_verdict
from dialogauge.judges.local.evidence import load_evidence
from dialogauge.judges.local.model import (
    HIGHEST,
    LOWEST,
    LocalCoefficients,
    Log,
    load_coefficients,
    running_form,
)
from dialogauge.judges.local.roleplay import ROLEPLAY_DIMENSIONS, judge_roleplay, load_roleplay
from dialogauge.judges.local.scores import (
    faults,
    guard,
    join,
    level_note,
    local_failures,
    say,
    score_conversation,
    score_satisfaction,
    score_turn,
    weakest,
)
from dialogauge.judges.local.tools import (
    GOAL,
    TOOL_DIMENSIONS,
    find_of_tools,
    judge_by_tools,
)
from dialogauge.rubrics import Policies, load_policies
from dialogauge.signals import (
    Dialogue,
    Mode,
    Signal,
    TurnView,
    cut,
    find_concessions,
    find_signals,
    is_fault,
    only_closes,
    react,
    read_dialogue,
    read_features,
)

Rubric = Literal[
    "card", "satisfaction", "session", "session-guarded", "single", "td-turn", "td-dialogue", "roleplay"
]
RUBRICS: Final[tuple[Rubric, ...]] = get_args(Rubric)
"""The shipped rubrics that it can judge by."""

_VERSION = 8
"""Raised when the signals or the table change, so that stored judgements are not taken for new ones."""
_NO_SAFETY = "The local judge cannot tell harmful content from harmless; use a language model for safety."
_SINGLE = "single_quality"
_CHECKED = ("zh", "en")
"""Languages whose satisfaction was compared with people's ratings: docs/development/results/trust.md."""
_SATISFIED = 4
_SESSION = ("session", "session-guarded")
_OF_TOOLS = ("td-turn", "td-dialogue")
_OF_HISTORY = 10
"""Replies of a history that say what the log's replies are like."""


class LocalJudge:
    """Judges a conversation by what can be read off it.

    In `foresight` a reply is judged by what preceded it and by itself; in `hindsight`, the default for
    logs, also by the user message that follows. The conversation's scores read all of it in either mode.
    """

    name = "local"
    reads: frozenset[Reads] = frozenset()
    """No rating: its coefficients ship with the package, and of a history it sees the replies alone."""
    together = True
    """One pass serves all turns."""

    def __init__(
        self,
        mode: Mode = "hindsight",
        language: Literal["auto", "en", "zh"] = "auto",
        coefficients: LocalCoefficients | None = None,
        rubric_id: Rubric = "card",
        policies: Policies | None = None,
    ) -> None:
        """Set up the judge; without coefficients those that ship with the package are used.

        Policies are for `td-turn` and `td-dialogue`; without any an agent's own system prompt stands, which
        no rule can read, and for an agent without one the shipped ones.

        Raises:
            UsageError: a mode, language or rubric that it does not know.
        """
        for value, known, what in (
            (mode, ("hindsight", "foresight"), "mode"),
            (language, ("auto", "en", "zh"), "language"),
            (rubric_id, RUBRICS, "rubric"),
        ):
            if value not in known:
                msg = f"the local judge has no {what} {value!r}"
                raise UsageError(msg, hint="one of: " + ", ".join(known))
        self.mode = mode
        self.language = language
        self.rubric_id = rubric_id
        self._policies = policies
        self._coefficients = coefficients or load_coefficients()

    @cached_property
    def digest(self) -> str:
        """Changes with mode, language, rubric, coefficients and the version of the signals."""
        return digest(dict(self.describe()) | {"coefficients": self._coefficients.to_json()})

    @property
    def dimensions(self) -> tuple[PlainDimension, ...]:
        """The dimensions of the rubric."""
        if self.rubric_id == "satisfaction":
            return (PlainDimension("satisfaction", "turn"),)
        if self.rubric_id in _SESSION:
            return (PlainDimension("satisfaction", "conversation"),)
        if self.rubric_id == "single":
            return (PlainDimension(_SINGLE, "turn"),)
        if self.rubric_id == "td-turn":
            return tuple(PlainDimension(name, "turn") for name in TOOL_DIMENSIONS)
        if self.rubric_id == "td-dialogue":
            return tuple(PlainDimension(name, "conversation") for name in (*TOOL_DIMENSIONS, GOAL))
        if self.rubric_id == "roleplay":
            return tuple(PlainDimension(name, "conversation") for name in ROLEPLAY_DIMENSIONS)
        turn = tuple(PlainDimension(name, "turn") for name in TURN_DIMENSIONS)
        return turn + tuple(PlainDimension(name, "conversation") for name in CONVERSATION_DIMENSIONS)

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest."""
        if self.rubric_id == "roleplay":
            return {**self._identity(), **load_roleplay().describe()}
        fitted = self._coefficients
        notes = [_NO_SAFETY] if self.rubric_id == "card" else []
        if self.rubric_id == "satisfaction":
            notes = [level_note(fitted.turns, fitted.reach.languages, fitted.spoken)]
        return {
            **self._identity(),
            "fitted_on": {
                "dimension": fitted.dimension,
                "turns": fitted.turns,
                "users": fitted.groups,
                "languages": list(fitted.reach.languages),
                **({"seen": list(fitted.seen)} if fitted.seen else {}),
            },
            "checked_languages": list(_CHECKED) if self.rubric_id == "satisfaction" else [],
            "notes": notes,
            **self._policy_settings(),
        }

    def _identity(self) -> dict[str, Any]:
        return {
            "judge": self.name,
            "version": _VERSION,
            "mode": self.mode,
            "language": self.language,
            "rubric": self.rubric_id,
            "reads": sorted(self.reads),
        }

    def _policy_settings(self) -> dict[str, Any]:
        if self.rubric_id not in _OF_TOOLS:
            return {}
        policies = self._policies or load_policies()
        return {
            "policy": digest({"domains": [asdict(d) for d in policies.domains]}),
            "own_policy": self._policies is None,
        }

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge the targets, or every replied turn and the conversation; repeat and seed change nothing.

        Of a user's history it takes language and form of the replies alone, which say whether the fitted
        cuts hold.
        """
        if self.rubric_id == "roleplay" and request.targets:
            return (self._roleplay(request.conversation, [reply.turn for reply in request.targets]),)
        if not request.targets:
            return self.judge_now(request.conversation)
        history = () if request.block is None else request.block.history[-_OF_HISTORY:]
        log = Log.of([rated.reply.text for rated in history]) if history else None
        # A conversation is judged once, as far as its last target shows it: in foresight a turn's score
        # stands on what came before and the reply.
        longest = {reply.conversation.id: reply.conversation for reply in request.targets}
        judged: dict[tuple[str, int | None], Judged] = {}
        for conversation in longest.values():
            for row in self.judge_now(conversation, log=log):
                judged[row.target.conversation_id, row.target.turn] = row
        whole = self.rubric_id in (*_SESSION, "td-dialogue")  # the target of a session is its last reply
        return tuple(
            _row(r, judged.get((r.conversation.id, None if whole else r.turn))) for r in request.targets
        )

    def judge_now(self, conversation: Conversation, *, log: Log | None = None) -> tuple[Judged, ...]:
        """Judge without an event loop; by the `log` that it is from, the fitted cuts hold or not."""
        if self.rubric_id == "roleplay":
            new = [turn.number for turn in conversation.new_turns]
            return (self._roleplay(conversation.blinded(), new),)
        conversation = conversation.blinded()
        whole = Target(conversation.id, "conversation", None, conversation.candidate)
        if not conversation.replied_turns:
            failure = JudgeFailure("no_reply", "The conversation has no assistant reply to judge.")
            return (Judged(whole, failure),)
        replied = conversation.replied_turns
        targets = [Target(conversation.id, "turn", t.number, conversation.candidate) for t in replied]
        if self.rubric_id == "single":
            return tuple(map(Judged, targets, map(self._single, replied)))
        dialogue = self._read(conversation)
        if self.rubric_id in _OF_TOOLS:
            return self._of_tools(conversation, dialogue, (*targets, whole))
        reading = _Reading(dialogue, self.mode, self._coefficients, log)
        if self.rubric_id in _SESSION:
            return (Judged(whole, self._session(reading, conversation.scenario)),)
        by_card = self.rubric_id == "card"
        judge_turn = _card_turn if by_card else _satisfaction
        turns = [judge_turn(reading, turn) for turn in dialogue.replied]
        rows = tuple(Judged(t, j) for t, j in zip(targets, turns, strict=True))
        return (*rows, Judged(whole, _card_whole(reading, turns))) if by_card else rows

    def _roleplay(self, conversation: Conversation, turns: Sequence[int]) -> Judged:
        """Judge the replies of some turns as one session; those before are its history."""
        whole = Target(conversation.id, "conversation", None, conversation.candidate)
        dialogue = self._read(conversation)
        return Judged(
            whole, _unsupported() if dialogue.language == "other" else judge_roleplay(dialogue, turns)
        )

    def _read(self, conversation: Conversation) -> Dialogue:
        return read_dialogue(conversation, notes_in=None if self.language == "auto" else self.language)

    def _session(self, reading: _Reading, task: str | None) -> Judgement | JudgeFailure:
        """Judge the whole by the mean of its turns; guarded, the task's failures are judged first."""
        dialogue = reading.dialogue
        if dialogue.language == "other":
            return _unsupported()
        values = [reading.satisfaction[t.number] for t in dialogue.replied]
        mean = sum(values) / len(values)
        # The cuts of single turns are of no use here: a mean spreads less.
        value, score = round(mean, 3), whole_score(mean)
        details: dict[str, Any] = {"language": dialogue.language}
        if self.rubric_id == "session-guarded":
            guarded = guard(score, local_failures(faults(dialogue, reading.by_turn), dialogue), task)
            score = guarded.score
            if guarded.capped:
                value = float(score)
            details |= {"task": guarded.task, "failed": list(guarded.failed), "capped": guarded.capped}
            details |= {"cap": guarded.cap} if guarded.failed else {}
        details |= {"label": "SAT" if score >= _SATISFIED else "DSAT"}
        return Judgement(scores={"satisfaction": Score(value, score)}, details=details)

    def _of_tools(
        self, conversation: Conversation, dialogue: Dialogue, targets: Sequence[Target]
    ) -> tuple[Judged, ...]:
        """Judge the replies of an agent that uses tools, or the dialogue: the last of the targets."""
        if dialogue.language == "other":
            return tuple(Judged(t, _unsupported()) for t in targets if (t.turn is None) == self._whole_only)
        policies = self._policies or load_policies()
        signals = find_of_tools(dialogue, conversation, policies, own=self._policies is None)
        more = {"language": dialogue.language}
        by_turn = {t.number: [s for s in signals if s.turn == t.number] for t in dialogue.replied}
        if not self._whole_only:
            return tuple(
                Judged(t, judge_by_tools(by_turn[t.turn], dialogue, more))
                for t in targets
                if t.turn is not None
            )
        goal, note = score_conversation(dialogue, by_turn)["task_completion"]
        judged = judge_by_tools(signals, dialogue, {**more, "goal": note})
        return (Judged(targets[-1], replace(judged, scores={**judged.scores, **as_scores({GOAL: goal})})),)

    @property
    def _whole_only(self) -> bool:
        return self.rubric_id == "td-dialogue"

    def _single(self, turn: Turn) -> Judgement | JudgeFailure:
        """Judge a reply and its request as a conversation of one turn."""
        alone = Conversation("", (*turn.user, *turn.reply))
        dialogue = self._read(alone)
        judged = _card_turn(_Reading(dialogue, "foresight", self._coefficients), dialogue.replied[0])
        if isinstance(judged, JudgeFailure):
            return judged
        details = {
            "language": judged.details["language"],
            "signals": judged.details.get("signals", []),
        }
        return replace(judged, scores={_SINGLE: judged.scores["helpfulness"]}, details=details)


class _Reading:
    """A dialogue with its findings and fitted scores."""

    def __init__(
        self, dialogue: Dialogue, mode: Mode, coefficients: LocalCoefficients, log: Log | None = None
    ) -> None:
        self.dialogue = dialogue
        self.mode = mode
        signals = find_signals(dialogue, mode)
        self.by_turn: dict[int, list[Signal]] = {t.number: [] for t in dialogue.replied}
        for signal in signals:
            self.by_turn[signal.turn].append(signal)
        self._model, self._reach, self._log = coefficients.mode(mode), coefficients.reach, log
        self._features = read_features(dialogue, signals, mode)
        self._form = running_form(self._features, self._model.names, log.forms if log is not None else ())
        tools = (t.number for t in dialogue.turns if t.called or t.tools)
        self._first_tool = next(tools, math.inf)
        self._closing = {t.number for t in dialogue.replied if only_closes(t)}
        self.satisfaction = {t.number: self._satisfaction(t) for t in dialogue.replied}
        self.after = dict(zip((t.number for t in dialogue.turns), dialogue.turns[1:], strict=False))

    def _satisfaction(self, turn: TurnView) -> float:
        """The fitted model, less what the named findings weigh; a reply that only closes is as good as most.

        The form of replies says something in logs like the fitted ones only, and no wording says what was
        done with tools where no fitted turn had any.
        """
        number, value = turn.number, self._model.intercept
        if self.reads_wording(turn):
            value = self._model.predict(self._features[number], by_form=self._within_reach(turn))
        if number in self._closing:
            value = max(value, self._model.intercept)
        return max(LOWEST, min(HIGHEST, value - load_evidence().penalty(self.by_turn[number])))

    def reads_wording(self, turn: TurnView) -> bool:
        """Say whether the fitted model takes part, or findings alone; tools are known as the language is."""
        last = turn.number if self.mode == "foresight" else self.dialogue.turns[-1].number
        return self._reach.tools or self._first_tool > last

    def _within_reach(self, turn: TurnView) -> bool:
        if not self.reads_wording(turn):
            return False
        language = self.language(turn) if self._log is None else self._log.language
        return self._reach.holds(language, self._form[turn.number])

    def language(self, turn: TurnView) -> str:
        """In foresight the language as known at the turn, else that of the whole."""
        return turn.language if self.mode == "foresight" else self.dialogue.language

    def whole_satisfaction(self, turn: TurnView) -> tuple[int, str]:
        """Return the whole score of the satisfaction, and what its level stands on."""
        if self._within_reach(turn):
            score = self._model.score(self.satisfaction[turn.number])
            return max(score, _SATISFIED if turn.number in self._closing else score), "fitted cuts"
        return score_satisfaction(self.by_turn[turn.number]), "findings"

    def approval(self, turn: TurnView) -> Evidence | None:
        """The words by which the user approves of the reply afterwards."""
        after = self.after.get(turn.number) if self.mode == "hindsight" else None
        if after is None:
            return None
        reaction = react(after.user)
        if not reaction.thanks or reaction.complaints:
            return None
        return Evidence(after.number, cut(after.user.text), "thanked", "signal")


def _card_turn(reading: _Reading, turn: TurnView) -> Judgement | JudgeFailure:
    language = reading.language(turn)
    if language == "other":
        return _unsupported()
    signals = reading.by_turn[turn.number]
    approval = reading.approval(turn)
    scores = score_turn(turn, signals, approved=approval is not None)
    evidence = [_evidence(s) for s in signals if s.named]
    return Judgement(
        scores={
            **as_scores(scores),
            "safety": NOT_APPLICABLE,
            "satisfaction": Score(round(reading.satisfaction[turn.number], 3)),
        },
        issues=_issues(signals),
        evidence=tuple([*evidence, approval] if approval else evidence),
        details={
            "language": language,
            **_order(reading, turn),
            "signals": _findings(signals),
            "not_judged": {"safety": _NO_SAFETY},
        },
    )


def _order(reading: _Reading, turn: TurnView) -> dict[str, Any]:
    """Say where nothing but findings orders the turns."""
    return {} if reading.reads_wording(turn) else {"order_from": "findings"}


def _findings(signals: list[Signal]) -> list[dict[str, Any]]:
    return [{"name": s.name, "strength": round(s.strength, 2), "note": s.note} for s in signals if s.named]


def _issues(signals: list[Signal]) -> tuple[str, ...]:
    """What is named as wrong: nothing unless the findings together suffice for a fault."""
    named = [s.note for s in signals if s.named] if is_fault(signals) else []
    return tuple(dict.fromkeys(named))


def _evidence(signal: Signal) -> Evidence:
    return Evidence(signal.quote_turn or signal.turn, signal.quote, signal.name, "signal")


def _card_whole(reading: _Reading, turns: Sequence[Judgement | JudgeFailure]) -> Judgement | JudgeFailure:
    dialogue = reading.dialogue
    if dialogue.language == "other":
        return _unsupported()
    by_turn = {n: list(signals) for n, signals in reading.by_turn.items()}
    for concession in find_concessions(dialogue):
        by_turn[concession.turn].append(concession)
    whole = score_conversation(dialogue, by_turn)
    scores = {name: score for name, (score, _) in whole.items()}
    notes = {name: note for name, (_, note) in whole.items()}
    verdict, basis = card_verdict([t.numbers for t in turns if isinstance(t, Judgement)], scores)
    named = faults(dialogue, by_turn)
    grave = [s for n, _ in named for s in [s for s in by_turn[n] if s.named][:3]]
    issues = [
        f"{say('turn', dialogue.notes_in, n=n)}: {max(by_turn[n], key=lambda s: (s.named, s.strength)).note}"
        for n, _ in named
    ]
    satisfaction = [reading.satisfaction[t.number] for t in dialogue.replied]
    return Judgement(
        scores={
            **as_scores(scores),
            "satisfaction": Score(round(sum(satisfaction) / len(satisfaction), 3)),
        },
        verdict=verdict,
        verdict_basis=basis,
        weakest_turn=weakest(by_turn),
        issues=tuple(issues),
        evidence=tuple(_evidence(s) for s in grave),
        rationale=join(list(notes.values()), dialogue.notes_in),
        details={
            "language": dialogue.language,
            "faults": [{"turn": n, "kind": kind} for n, kind in named],
            "notes": notes,
        },
    )


def _unsupported() -> JudgeFailure:
    reason = (
        "This does not read as English or Chinese, and the local judge was checked on no other language: use "
        "a language model (--model), or have it judged as English all the same (--lang en)."
    )
    return JudgeFailure("unsupported_language", reason)


def _satisfaction(reading: _Reading, turn: TurnView) -> Judgement | JudgeFailure:
    language = reading.language(turn)
    if language == "other":
        return _unsupported()
    signals = reading.by_turn[turn.number]
    score, stands_on = reading.whole_satisfaction(turn)
    return Judgement(
        scores={"satisfaction": Score(round(reading.satisfaction[turn.number], 3), score)},
        issues=_issues(signals),
        evidence=tuple(_evidence(s) for s in signals if s.named),
        details={
            "label": "SAT" if score >= _SATISFIED else "DSAT",
            "labels": {"level_from": stands_on},
            "language": language,
            **_order(reading, turn),
            "signals": _findings(signals),
        },
    )


def _row(reply: Reply, row: Judged | None) -> Judged:
    """Make the row of a target from that of its turn."""
    if row is None:
        return Judged(reply.target, JudgeFailure("no_reply", "the local judge judges replies to a user only"))
    outcome = row.outcome
    if isinstance(outcome, JudgeFailure):
        return Judged(reply.target, outcome)
    return Judged(reply.target, Judgement(outcome.scores, details={"turn_id": reply.id, **outcome.details}))
