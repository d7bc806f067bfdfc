"""Dialogues in which a mask goes wrong easily, and a tokenizer whose template has tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.toy_roleplay import NEUTRAL, TRAIN, build_tokenizer, segment_pairs, sft_rows

TEMPLATE: Final = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] or '' }}"
    "{% for c in m['tool_calls'] or [] %}<call>{{ c['function']['name'] }} "
    "{{ c['function']['arguments'] | tojson }}</call>{% endfor %}<|im_end|>{% endgeneration %}"
    "{% else %}{{ m['content'] }}"
    "{% if loop.first and tools %}{% for t in tools %}{{ '\\n' }}{{ t | tojson }}{% endfor %}{% endif %}"
    "<|im_end|>{% endif %}"
    "{{ '\\n' }}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""ChatML with tools; what the assistant writes is marked, its end of turn included. A line break that stands
behind a tag as it is would be lost."""

Rows = Iterator[dict[str, Any]]


def save_tokenizer(folder: Path) -> None:
    """Save the tokenizer, and the configuration of a tiny model that readers look at."""
    from transformers import Qwen3Config

    tokenizer = build_tokenizer()
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    Qwen3Config(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1).save_pretrained(folder)


def _said(*texts: str, first: str = "user") -> list[dict[str, Any]]:
    roles = ("user", "assistant") if first == "user" else ("assistant", "user")
    return [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]


def _system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


_KEEPER: Final = _system("You are Ilse, who keeps the lighthouse. You never leave it.")
_POET: Final = _system("你是阿梨，一位住在江边的诗人。")
_CALL: Final = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": {"day": "Friday"}}}
    ],
}
_TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": "tide",
            "description": "When the water is high.",
            "parameters": {"type": "object", "properties": {"day": {"type": "string"}}},
        },
    }
]


def dialogues() -> Rows:
    """Yield SFT rows: plain, with a greeting, in Chinese, with a tool."""
    yield from sft_rows(TRAIN, 12)
    yield {"messages": _said("Who are you?", "Nobody in particular.")}
    yield {"messages": [_KEEPER, *_said("Ah, a boat!", "Good evening.", "Come in.", first="assistant")]}
    yield {"messages": [_POET, *_said("你来了。", "今天写诗了吗？", "写了半首。", first="assistant")]}
    yield {"messages": [_POET, *_said("江水冷吗？", "冷，可是很亮。", "我想下水。", "等到五月吧。")]}
    answer = [_CALL, {"role": "tool", "tool_call_id": "c1", "content": "at nine"}]
    talk = [*_said("When is it high?"), *answer, *_said("At nine, then.", first="assistant")]
    yield {"messages": [_KEEPER, *talk, *_said("Thanks.", "Mind the rocks.")], "tools": _TOOLS}


def reply_pairs() -> Rows:
    """Yield pairs of one reply: plain, behind a greeting, in Chinese."""
    for system, before in (
        (_KEEPER, _said("Is it lonely?")),
        (_KEEPER, _said("Ah, a boat!", "Is it lonely?", first="assistant")),
        (_POET, _said("江水冷吗？", "冷，可是很亮。", "我想下水。")),
    ):
        yield {
            "prompt": [system, *before],
            "chosen": _said("Ask the gulls. 问它们。", first="assistant"),
            "rejected": _said("How can I help you today?", first="assistant"),
        }


def segments() -> Rows:
    """Yield pairs of segments; one stands behind more turns than fit, and is not cut itself."""
    yield from segment_pairs(TRAIN, 12)
    long = _said(*("This goes on and on, line by line, as the river goes." for _ in range(900)))
    for system, before in ((_KEEPER, _said("Ah, a boat!", first="assistant")), (_POET, []), (_KEEPER, long)):
        yield {
            "prompt": [system, *before],
            "chosen": _said("冷吗？", "Salt in the wind.", "And then?", "Then the lamp."),
            "rejected": _said("Hello there.", "I am an AI model.", "Oh.", "Is there anything else I can do?"),
            "score_chosen": 4.5,
            "score_rejected": 2.0,
            "persona_id": "ilse",
        }


def long_dialogues(count: int) -> Rows:
    """Yield SFT rows of ten turns, of the length of role play: messages of 20 words, replies of 60."""
    for n in range(count):
        yield {"messages": [_KEEPER, *_long(n, 10)]}


def long_segments(count: int) -> Rows:
    """Yield pairs of segments of ten turns behind ten others, of the same length."""
    for n in range(count):
        prompt = [_KEEPER, *_long(n, 10)]
        yield {"prompt": prompt, "chosen": _long(n + 1, 10), "rejected": _long(n + 2, 10)}


def _long(n: int, turns: int) -> list[dict[str, Any]]:
    """Write turns whose words are those that the tokenizer knows."""
    lines = [*NEUTRAL[n % 6 :], *NEUTRAL[: n % 6]]
    return _said(*(" ".join(lines * 2)[: 330 if i % 2 else 100] for i in range(2 * turns)))


def scenarios() -> Rows:
    """Yield RL prompts: empty, and behind a greeting and a turn."""
    for n, before in enumerate(([], _said("Ah, a boat!", "Good evening.", "Come in.", first="assistant"))):
        scenario = {
            "id": f"ilse-{n}",
            "name": "Ilse",
            "text": "Keeps the lighthouse.",
            "user": {"persona": "I row."},
        }
        yield {
            "prompt": [_KEEPER, *before],
            "scenario": scenario,
            "persona_id": scenario["id"],
            "context_turns": len(before) // 2,
        }
