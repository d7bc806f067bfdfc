"""A memory in words, English or Chinese: what its builder is shown of the figures, and what a judge reads.

What a model wrote, and what comes from the data, stands as JSON on its own line: it can neither begin a new
line nor close a tag of a prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dialogauge.judge.dialogue_text import as_json
from dialogauge.judge.user_memory.evidence import Evidence
from dialogauge.judge.user_memory.record import Findings, UserMemory
from dialogauge.judge.user_memory.scale import ScoreScale
from dialogauge.prompts import memory_words, render

__all__ = ["coverage_text", "grouped_turns", "memory_text", "statistics_text"]


def statistics_text(scale: ScoreScale, conversations: int, language: str) -> str:
    """Say how a user uses the scale."""
    words = memory_words(language)
    if scale.mean is None or scale.strictness is None or scale.satisfied_share is None:
        return words["nothing"]
    return render(
        words["ratings"],
        {
            "turns": str(scale.turns),
            "conversations": str(conversations),
            "mean": f"{scale.mean:.2f}",
            "counts": _counts(scale, words),
            "share": f"{100 * scale.satisfied_share:.0f}",
            "strictness": words[scale.strictness],
        },
    )


def _counts(scale: ScoreScale, words: Mapping[str, str]) -> str:
    separator = "、" if words is memory_words("zh") else ", "
    shown = [
        render(words["count"], {"n": str(scale.given(s)), "score": str(s)})
        for s in (5, 4, 3, 2, 1)
        if scale.given(s)
    ]
    return separator.join(shown)


def coverage_text(evidence: Evidence, language: str) -> str:
    """Say what of the history is shown, and what was left out."""
    words = memory_words(language)
    said = [words["all_shown"]]
    if evidence.left_out:
        counts = [
            render(words["left_out_score"], {"n": str(n), "score": str(score)})
            for score, n in evidence.left_out.items()
        ]
        values = {"of": str(sum(evidence.given.values())), "shown": str(evidence.shown)}
        joined = ("、" if language == "zh" else ", ").join(counts)
        said = [render(words["left_out"], {**values, "counts": joined})]
    if evidence.texts_cut:
        said.append(words["texts_cut"])
    return ("" if language == "zh" else " ").join(said)


def grouped_turns(evidence: Evidence, language: str) -> str:
    """Write the shown turns, the highest score first, each group under its score."""
    words = memory_words(language)
    blocks = []
    for score, turns in evidence.groups.items():
        values = {"score": str(score), "shown": str(len(turns)), "given": str(evidence.given[score])}
        blocks.append("\n".join((f"### {render(words['group'], values)}", *turns)))
    return "\n\n".join(blocks)


def memory_text(memory: UserMemory, language: str) -> str:
    """Write a memory as a judge reads it: one line for each thing that is known."""
    return "\n".join(f"- {line}" for line in _lines(memory, language))


def _lines(memory: UserMemory, language: str) -> Iterator[str]:
    words, scale = memory_words(language), memory.scale
    if memory.findings is None:
        yield words["nothing"]
        yield _others(scale, words)
        return
    yield statistics_text(scale, memory.conversations, language)
    yield from _findings(memory.findings, words, "：" if language == "zh" else ": ")
    caution = {"none": "low_none", "sparse": "low_sparse"}.get(scale.low_evidence)
    if caution is not None:
        yield words[caution]
    shown, of = memory.evidence.get("shown"), memory.evidence.get("of")
    if shown != of:
        yield render(words["stands_on"], {"shown": str(shown), "of": str(of)})


def _others(scale: ScoreScale, words: Mapping[str, str]) -> str:
    if scale.mean is None:
        return words["nobody"]
    values = {"turns": str(scale.turns), "mean": f"{scale.mean:.2f}", "counts": _counts(scale, words)}
    return render(words["others"], values)


def _findings(found: Findings, words: Mapping[str, str], colon: str) -> Iterator[str]:
    yield f"{words['scoring_style']}{colon}{as_json(found.scoring_style)}"
    thresholds = {
        "three_versus_four": found.three_versus_four,
        "four_versus_five": found.four_versus_five,
    }
    for key, text in thresholds.items():
        told = words[f"no_{key}"] if text is None else as_json(text)
        yield f"{words[key]}{colon}{told}"
    if found.requirements:
        yield f"{words['requirements']}{colon}{as_json(list(found.requirements))}"
    if found.preferred_format:
        yield f"{words['preferred_format']}{colon}{as_json(found.preferred_format)}"
    for task, observation in found.task_observations:
        head = render(words["task_observations"], {"task": as_json(task)})
        yield f"{head}{colon}{as_json(observation)}"
