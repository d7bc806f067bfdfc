"""Signals: findings about single turns, with their strength and the words that show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from dialogauge.core.values import Value
from dialogauge.signals.dialogue import TurnView, cut
from dialogauge.text import Language

_NOTES: dict[str, tuple[str, str]] = {
    "not_changed": (
        "The user says that the change they asked for was not made.",
        "用户说要求的更改没有做到。",
    ),
    "told_already": ("The user says that they have already said this.", "用户说这一点之前已经说过。"),
    "not_answered": ("The user says the question was not answered.", "用户说问题没有得到回答。"),
    "said_otherwise": (
        "The user points out that the reply contradicts an earlier statement.",
        "用户指出回复与之前的说法不一致。",
    ),
    "same_again": ("The user says the reply repeats itself.", "用户说回复在重复。"),
    "off_topic": ("The user says the reply was about something else.", "用户说回复跑题了。"),
    "corrected": ("The user objects to the reply or corrects it.", "用户对回复提出异议或更正。"),
    "called_wrong": ("The user says the reply is wrong.", "用户说回复是错的。"),
    "doubted": ("The user doubts what the reply claims.", "用户怀疑回复所说的内容。"),
    "frustrated": ("The user is annoyed by the reply.", "用户对回复感到不满。"),
    "asked_again": ("The user has to ask for the same thing again.", "用户不得不再问一遍。"),
    "repeats_reply": ("The reply repeats the reply of turn {turn}.", "回复重复了第 {turn} 轮的回复。"),
    "asks_again": ("Asks again what it asked in turn {turn}.", "又问了一遍第 {turn} 轮问过的问题。"),
    "asks_for_given": (
        "Asks for {what}, which the user gave in turn {turn}.",
        "询问{what},而用户在第 {turn} 轮已经给出。",
    ),
    "reversed": (
        "Contradicts turn {turn} in almost the same words.",
        "与第 {turn} 轮几乎同样的话,说法却不同。",
    ),
    "refuses": ("Declines a request that seems harmless.", "拒绝了一个看似无害的请求。"),
    "vague": ("Gives generic phrases instead of an answer.", "只有空泛的话,没有回答问题。"),
    "empty": ("The reply is empty.", "回复为空。"),
    "broken": ("Contains leaked system text or an error message.", "回复里有系统残留内容或报错信息。"),
    "other_language": ("Is not in the user's language.", "回复所用的语言与用户不同。"),
    "cut_off": ("Stops in the middle.", "回复没有说完。"),
    "echoes": ("Says the request again and adds nothing.", "只是重复了用户的话,没有别的内容。"),
    "miscopied": (
        "States the code “{what}”, which neither a tool nor anybody gave.",
        "给出的编号“{what}”,工具没有返回,也没有人说过。",
    ),
    "wants_other": (
        "The user rejects the proposal and wants something else.",
        "用户不满意所给的方案,想要别的。",
    ),
    "wants_detail": ("The user asks for the detail that was left out.", "用户要求补充缺少的细节。"),
    "left_out": (
        "The user says that something is missing or cannot be used.",
        "用户指出回复有缺漏或无法使用。",
    ),
    "ignores_tool_error": (
        "Claims success although the tool {tool} failed or found nothing.",
        "工具 {tool} 出错或没有结果,回复却称已成功。",
    ),
    "unsourced": (
        "States “{what}”, which no tool returned and nobody said.",
        "提到“{what}”,而工具没有返回,也没有人说过。",
    ),
    "out_of_nothing": (
        "Offers something although {tool} found nothing.",
        "{tool} 没有返回任何结果,回复却作了推荐。",
    ),
    "acts_unasked": (
        "Calls {tool} with {what}, which the user did not give and no tool returned.",
        "调用 {tool} 时使用了{what},而用户没有给出,工具也没有返回。",
    ),
    "too_many_results": (
        "Presents some of {n} results (more than {threshold}) without asking what narrows them down.",
        "结果共 {n} 条(多于 {threshold} 条),没有询问可缩小范围的信息就作了介绍。",
    ),
    "conceded": ("The assistant later admits that this reply was wrong.", "助手事后承认这条回复有误。"),
}


def note(name: str, language: Language, **facts: object) -> str:
    """Return the note of a signal, in Chinese where that is asked for and in English otherwise."""
    english, chinese = _NOTES[name]
    return (chinese if language == "zh" else english).format(**facts)


FaultKind = Literal[
    "forgotten_fact",
    "contradiction",
    "loop",
    "refusal",
    "ignored_correction",
    "non_answer",
    "tool_error",
    "drift",
]

HINT = 0.4
"""Strength of the weakest finding that is shown."""

ADMISSION = "conceded"
"""The signal for a fault that the assistant admits."""

NAMED_FROM: Mapping[str, float] = {
    "asks_for_given": 0.7,
    "reversed": HINT,
    "refuses": HINT,
    "broken": HINT,
    "other_language": HINT,
    "empty": HINT,
    "ignores_tool_error": HINT,
    "cut_off": HINT,
    "echoes": HINT,
    "miscopied": HINT,
    "not_answered": HINT,
    "doubted": HINT,
    "left_out": HINT,
    "wants_other": HINT,
    "wants_detail": HINT,
    ADMISSION: HINT,
}
"""Kinds of findings that have a name where people read, and the strength from which they do: those that
ratings, blind reading or planted faults bear out, and the empty reply, which is a fact. All others count
towards a fault that one of these names, and no page names them."""

Dimension = Literal["context_use", "helpfulness", "cohesion", "backend", "policy"]


class Signal(Value):
    """One finding about one assistant turn."""

    name: str
    turn: int
    """The assistant turn it speaks about, 1-based."""
    strength: float
    """0..1, a probability: from 0.7 a fault by itself, below that only together with another source."""
    quote: str
    """The words that show it, verbatim, at most 160 characters."""
    note: str
    """What is wrong, in the language of notes."""
    about: Dimension
    """The turn dimension it lowers."""
    kind: FaultKind | None = None
    quote_turn: int | None = None
    """The turn of the quote, where it differs."""
    hindsight: bool = False
    """Whether it rests on a message after the turn."""

    @property
    def named(self) -> bool:
        """Whether it may be named where people read."""
        return self.name in NAMED_FROM and self.strength >= NAMED_FROM[self.name]

    @property
    def source(self) -> Literal["reply", "user", "admission"]:
        """Where the evidence is: in the reply, in the next user message, or in a later admission."""
        if not self.hindsight:
            return "reply"
        return "admission" if self.name == ADMISSION else "user"


def finding(
    turn: TurnView,
    name: str,
    strength: float,
    quote: str,
    about: Dimension,
    kind: FaultKind | None,
    /,
    **facts: object,
) -> Signal:
    """Return a finding about a reply, with its quote cut and its note in the conversation's language."""
    text = note(name, turn.notes_in, **facts)
    return Signal(name, turn.number, strength, cut(quote), text, about, kind)


_SURE = 0.7 - 1e-9  # 0.7 as a product of floats
_ACROSS = 0.25


def certainty(signals: Iterable[Signal], about: Dimension | None = None) -> float:
    """Return the probability, 0..1, that the turn of the findings has a fault.

    With `about`, a finding about the other dimension counts 0.25 less.
    """
    strongest: dict[str, float] = {}
    for signal in signals:
        strength = signal.strength if about in (None, signal.about) else signal.strength - _ACROSS
        source = signal.source
        strongest[source] = max(strength, strongest.get(source, 0.0))
    sound = 1.0
    for strength in strongest.values():
        sound *= 1 - strength
    return 1 - sound


def suffices(signals: Iterable[Signal]) -> bool:
    """Say whether the findings about a turn, named or not, are sure enough for a fault."""
    return certainty(signals) >= _SURE


def is_fault(signals: Iterable[Signal]) -> bool:
    """Say whether the findings about a turn make it faulty: they suffice, and one of them has a name."""
    known = list(signals)
    return suffices(known) and any(s.named for s in known)
