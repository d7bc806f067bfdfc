"""Conversations held to conditions, as a test does it: `assert_quality`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from dialogauge.core import Conversation, Judged, Target, UsageError
from dialogauge.door.library import Sources, judge
from dialogauge.door.run import Run
from dialogauge.report import Transcript
from dialogauge.studies.evidence import UNCHECKED_FIRST
from dialogauge.studies.judging.condition import FINDINGS, Checked, is_condition, parse_condition

_SHOWN: Final = 3
"""Misses of a condition that a failed assertion quotes."""
_WIDTH: Final = 100


def assert_quality(
    data: Sources,
    *conditions: str,
    unchecked: bool = False,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> Run:
    """Judge conversations, and raise AssertionError where they do not meet every condition.

    Args:
        data: A conversation, several, a path (see `dialogauge.judge`), or a finished `Run`, which is not
            judged again.
        conditions: At least one. `findings==0` asks it of every turn, and of what is checked
            `helpfulness>=4` of every score, `verdict>=good` of every verdict: n/a meets it, what failed does
            not, and where nothing was scored it is not met. A gate, such as `failed<=0.02`,
            `findings.share<=0.2` or `helpfulness.mean>=4`, asks it of all together.
        unchecked: Whether conditions may ask about scores that nobody showed to agree with people.
        settings: Those of `dialogauge.judge`: `rubric`, `model`, `out` ...

    Returns:
        The run, with figures, rows and page.

    Raises:
        AssertionError: A condition is not met. The message quotes the turns, the findings and the reasons.
        UsageError: There is no condition, one of no known form, or one that asks about what is not checked.
    """
    __tracebackhide__ = True
    quality = quality_of(data, *conditions, unchecked=unchecked, **settings)
    if not quality.met:
        raise AssertionError(quality.message())
    return quality.run


@dataclass(frozen=True, slots=True)
class Quality:
    """What came of the conditions on a run."""

    run: Run
    conditions: tuple[Checked, ...]
    """Those asked of every target."""
    gates: tuple[tuple[bool, str], ...]
    """Those asked of all together: whether met, and a sentence."""
    unchecked: bool = False
    """Whether they may ask about what is not checked."""

    @property
    def met(self) -> bool:
        """Whether all are met."""
        return all(c.met for c in self.conditions) and all(met for met, _ in self.gates)

    @property
    def sentences(self) -> Iterator[tuple[bool, str]]:
        """Yield of each condition whether it is met, and a sentence with the counts."""
        yield from ((c.met, c.sentence) for c in self.conditions)
        yield from self.gates

    @property
    def misses(self) -> dict[Target, list[str]]:
        """What each target that misses a condition has instead, in the order of the input."""
        reasons: dict[Target, list[str]] = {}
        for miss in (miss for checked in self.conditions for miss in checked.misses):
            reasons.setdefault(miss.target, []).append(miss.reason)
        return reasons

    def message(self) -> str:
        """Say what is not met, and quote the first turns that do not meet it."""
        from dialogauge.report import plain
        from dialogauge.report.terminal import to_text

        lines = [UNCHECKED_FIRST] if self.unchecked else []
        lines += [plain(sentence) for met, sentence in self.sentences if not met]
        misses = self.misses
        for target in list(misses)[:_SHOWN]:
            shown = missed(self.run.path, target.conversation_id, target.turn, ", ".join(misses[target]))
            lines += ["", *to_text(shown, width=_WIDTH).splitlines()]
        if len(misses) > _SHOWN:
            lines += ["", f"... and {len(misses) - _SHOWN:,} more"]
        return "\n".join(lines)


def missed(run: Path, conversation: str, turn: int | None, reason: str) -> tuple[Transcript, ...]:
    """Return the turn, or the conversation, that does not meet a condition, with what is said of it.

    Args:
        run: The run's directory.
        conversation: Its id.
        turn: The number of the turn; None for the conversation, of which the turns are returned of which
            something is said.
        reason: What it has instead.
    """
    from dialogauge.runs import open_run
    from dialogauge.studies.judging.shown import show_conversation

    with open_run(str(run)) as opened:
        shown = show_conversation(opened, conversation, turn)
    if turn is not None:
        # Why a turn was not judged stands with the turn.
        return tuple(
            Transcript(one.title, one.turns, reason="" if any(t.failure for t in one.turns) else reason)
            for one in shown
        )
    return tuple(_marked(replace(one, reason=reason)) for one in shown)


def _marked(whole: Transcript) -> Transcript:
    """Return a conversation with the turns of which something is said; without any, with its last."""
    turns = tuple(turn for turn in whole.turns if turn.findings or turn.tag or turn.failure)
    turns = turns or whole.turns[-1:]
    return replace(whole, turns=turns, turns_left_out=len(whole.turns) - len(turns))


def quality_of(
    data: Sources,
    *conditions: str,
    unchecked: bool = False,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> Quality:
    """Judge conversations, and say which conditions they meet; see `assert_quality`."""
    if not conditions:
        msg = "no condition was given"
        raise UsageError(msg, hint="such as assert_quality(data, 'findings==0')")
    if isinstance(data, Run) and settings:
        msg = f"a finished run is not judged again, so {', '.join(settings)} is of no use"
        raise UsageError(msg, hint="give the conversations, or leave the settings out")
    run = data if isinstance(data, Run) else judge(data, progress=False, unchecked=unchecked, **settings)
    return asking(run, *conditions, unchecked=unchecked)(run.judgements)


def asking(
    run: Run, *conditions: str, unchecked: bool = False
) -> Callable[[Callable[[], Iterable[Judged]]], Quality]:
    """Return what says which conditions rows of a run meet; gates are asked of the whole run."""
    rubric, figures = run.rubric, run.summary.get("dimensions") or {}
    levels = {name: of["level"] for name, of in figures.items()}
    verdicts = () if rubric is None else rubric.verdicts
    level = "conversation" if rubric is None else rubric.level
    evidence = replace(run.evidence, unchecked=unchecked or run.evidence.unchecked)
    asked = [parse_condition(text, levels, verdicts, level) for text in conditions if is_condition(text)]
    for condition in asked:
        if condition.subject != FINDINGS:
            evidence.expect(condition.subject, f"condition {condition.expression}")
    gates = [run.gate(text, unchecked=unchecked) for text in conditions if not is_condition(text)]
    sentences = tuple((g.met, g.sentence) for g in gates)
    return lambda rows: Quality(run, tuple(c.check(rows()) for c in asked), sentences, evidence.unchecked)


class SharedRun:
    """One run of many conversations, each of which is held to conditions by itself."""

    def __init__(self, conversations: Sequence[Conversation], **settings: Any) -> None:  # noqa: ANN401
        """Judge them; `settings` are those of `dialogauge.judge`."""
        self._run = judge(conversations, progress=False, **settings)
        self._rows: dict[str, list[Judged]] = {}
        for judged in self._run.judgements():
            self._rows.setdefault(judged.target.conversation_id, []).append(judged)
        self._asking = cache(partial(asking, self._run, unchecked=bool(settings.get("unchecked"))))

    def quality(self, conversation: str, conditions: Sequence[str]) -> Quality | None:
        """Return what came of one; None where the run holds nothing of it under its id."""
        rows = self._rows.get(conversation)
        return None if rows is None else self._asking(*conditions)(lambda: rows)
