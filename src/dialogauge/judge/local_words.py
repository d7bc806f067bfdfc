"""What the local judge says of a conversation as a whole, in the conversation's language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialogauge.text import Language

__all__ = ["join", "level_note", "say"]

_WORDS: dict[str, tuple[str, str]] = {
    "fits": ("Every turn fits what came before.", "每一轮都与前文衔接。"),
    "small_breaks": ("Small breaks only.", "只有小的不连贯。"),
    "breaks": ("{n} of {of} turns break the exchange.", "{of} 轮中有 {n} 轮打断了对话。"),
    "no_task": ("No task was implied.", "对话中没有任务。"),
    "no_progress": ("No turn got the user further.", "没有一轮推进了用户的问题。"),
    "ends_on_fault": ("The conversation ends on a fault.", "对话以一处故障结束。"),
    "handed_over": (
        "The user was handed over to somebody else, which may be right.",
        "用户被转交给他人处理,这也可能是对的。",
    ),
    "left_open": ("The last request is left open.", "最后一个请求没有下文。"),
    "mostly_faulty": ("Most turns have a fault.", "多数轮次有故障。"),
    "content": ("The user closes content.", "用户满意地结束了对话。"),
    "answered": (
        "The last request is answered; the user does not say whether it was enough.",
        "最后一个请求得到了回答,用户没有说是否满意。",
    ),
    "nothing_corrected": ("The user corrected nothing.", "用户没有更正任何内容。"),
    "taken_up": (
        "{n} of {of} corrections or objections were taken up.",
        "{of} 处更正或异议中有 {n} 处得到采纳。",
    ),
    "turn": ("Turn {n}", "第 {n} 轮"),
}


_LANGUAGES = {"en": "English", "zh": "Chinese"}


def level_note(turns: int, languages: Sequence[str], spoken: Mapping[str, int] | None = None) -> str:
    """Say, for the reader of whole scores of satisfaction, what their level stands on.

    Args:
        turns: Fitted turns.
        languages: Those that the level holds for.
        spoken: Turns of each language, those it does not hold for too; where they were counted.
    """
    fitted = " and ".join(_LANGUAGES.get(code, code) for code in languages) or "no language"
    if spoken and tuple(spoken) != tuple(languages):
        counts = (f"{n:,} {_LANGUAGES.get(code, code)}" for code, n in spoken.items())
        fitted = f"{', '.join(counts)}; the level is known for {fitted}"
    return (
        f"The level of the whole scores rests on {turns:,} rated turns ({fitted}) where language and form of "
        "the replies are like theirs (level from: fitted cuts). Elsewhere it rests on what was found against "
        "a reply: 4 without a finding, down to 1, never 5. Read the order of the turns there, not the level."
    )


def say(name: str, language: Language, **facts: object) -> str:
    """Return a wording, in Chinese for Chinese conversations and in English otherwise."""
    english, chinese = _WORDS[name]
    return (chinese if language == "zh" else english).format(**facts)


def join(sentences: list[str], language: Language) -> str:
    """Return sentences as one text; Chinese has no spaces between them."""
    return ("" if language == "zh" else " ").join(sentences)
