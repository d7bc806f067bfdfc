"""Token ids and the mask of what the character says."""

from __future__ import annotations

import pytest

from dialogauge.core import UsageError
from dialogauge.training.masks import DialogueTokenizer, load_dialogue_tokenizer

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

SYSTEM = {"role": "system", "content": "You are Rosa."}
TOOLS = (
    "{% if tools %}<|im_start|>system\n{{ tools | tojson }}<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' %}{% generation %}{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}"
    "<|im_end|>{% endgeneration %}"
    "{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture
def tokenizer():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from benchmarks.toy_roleplay import build_tokenizer

    return build_tokenizer()


def user(text):
    return {"role": "user", "content": text}


def says(text):
    return {"role": "assistant", "content": text}


def trained(tokenizer, encoded):
    return [tokenizer.decode(run) for run in encoded.runs]


def test_only_what_the_character_says_is_trained_on(tokenizer):
    talk = [
        SYSTEM,
        says("Come in."),
        user("Hello there."),
        says("你好，旅人。"),
        user("And then?"),
        says("It rained."),
    ]
    encoded = DialogueTokenizer(tokenizer).encode(talk)
    assert trained(tokenizer, encoded) == [
        "Come in.<|im_end|>",
        "你好，旅人。<|im_end|>",
        "It rained.<|im_end|>",
    ]
    assert len(encoded.ids) == len(encoded.mask) == len(encoded.labels)
    assert encoded.labels.count(-100) == encoded.mask.count(0)


def test_nothing_before_the_segment_is_trained_on(tokenizer):
    talk = [SYSTEM, user("Hello there."), says("Well met."), user("And then?"), says("It rained.")]
    encoded = DialogueTokenizer(tokenizer).encode(talk, start=3)
    assert trained(tokenizer, encoded) == ["It rained.<|im_end|>"]
    assert tokenizer.decode(encoded.ids[encoded.prefix :]).startswith("<|im_start|>user\nAnd then?")


def test_tool_steps_are_not_trained_on_and_calls_are(tokenizer):
    tokenizer.chat_template = TOOLS
    call = {"type": "function", "function": {"name": "tide", "arguments": {"day": 1}}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call]}
    talk = [SYSTEM, user("When is high tide?"), asks, {"role": "tool", "content": "9:40"}, says("At 9:40.")]
    tools = [{"type": "function", "function": {"name": "tide", "parameters": {}}}]
    first, second = trained(tokenizer, DialogueTokenizer(tokenizer).encode(talk, tools=tools))
    assert first == '<call>{"name": "tide", "arguments": {"day": 1}}</call><|im_end|>'
    assert second == "At 9:40.<|im_end|>"


def test_the_oldest_turns_go_and_the_persona_stays(tokenizer):
    past = [m for i in range(6) for m in (user(f"Line {i}"), says(f"Reply {i}"))]
    talk = [SYSTEM, *past, user("And then?"), says("It rained.")]
    whole = DialogueTokenizer(tokenizer).encode(talk, start=len(talk) - 2)
    turn = len(DialogueTokenizer(tokenizer).encode([SYSTEM, *past]).ids)
    turn -= len(DialogueTokenizer(tokenizer).encode([SYSTEM, *past[2:]]).ids)
    encoder = DialogueTokenizer(tokenizer, max_length=len(whole.ids) - turn - 1)
    encoded = encoder.encode(talk, start=len(talk) - 2)
    assert encoded.dropped == 2
    text = tokenizer.decode(encoded.ids)
    assert "You are Rosa." in text
    assert "Line 1" not in text
    assert "Line 2" in text
    assert trained(tokenizer, encoded) == ["It rained.<|im_end|>"]


def test_both_sides_of_a_pair_lose_the_same_turns(tokenizer):
    prompt = [SYSTEM, user("One"), says("Two"), user("Three"), says("Four")]
    short, long = [user("A"), says("B")], [user("A"), says("B " * 30)]
    length = len(DialogueTokenizer(tokenizer).encode([*prompt, *long], start=5).ids)
    chosen, rejected = DialogueTokenizer(tokenizer, max_length=length - 1).pair(prompt, short, long)
    assert chosen.dropped == rejected.dropped == 1
    assert chosen.ids[: chosen.prefix] == rejected.ids[: rejected.prefix]


@pytest.mark.parametrize("opening", ["<|im_start|>", "Turn of "])
@pytest.mark.parametrize("fits", [None, 100])
def test_a_pair_is_what_its_sides_are_alone(tokenizer, opening, fits):
    tokenizer.chat_template = tokenizer.chat_template.replace("<|im_start|>", opening)
    prompt = [SYSTEM, says("Come in."), user("One  "), says("二🙂"), user("Three"), says("Four")]
    sides = [user("A"), says("\nB "), user("再见"), says("é" * 9)], [user(" "), says("C " * 40)]
    pair = DialogueTokenizer(tokenizer, fits).pair(prompt, *sides)
    dropped = pair[0].dropped
    assert bool(dropped) == bool(fits)
    shared = [SYSTEM, *prompt[[1, 2, 4, 6][dropped] :]]
    for one, side in zip(pair, sides, strict=True):
        alone = DialogueTokenizer(tokenizer).encode([*shared, *side], start=len(shared))
        assert (one.ids, one.mask, one.prefix) == (alone.ids, alone.mask, alone.prefix)
        assert one.ids == tokenizer.apply_chat_template([*shared, *side], return_dict=True)["input_ids"]


def test_a_segment_that_does_not_fit_is_refused(tokenizer):
    with pytest.raises(UsageError, match="without any earlier turn, and 20 fit"):
        DialogueTokenizer(tokenizer, max_length=20).encode([SYSTEM, user("One"), says("Two " * 30)], start=1)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (lambda t: t.replace("{% generation %}", "").replace("{% endgeneration %}", ""), "does not mark"),
        (
            lambda t: t.replace("<|im_end|>{% endgeneration %}", "{% endgeneration %}<|im_end|>"),
            "leaves the end of the turn outside",
        ),
        (
            lambda t: t.replace("{% generation %}", "{% generation %}{% endgeneration %}").replace(
                "<|im_end|>{% endgeneration %}", "<|im_end|>"
            ),
            "marks 0 assistant messages of 1",
        ),
        (
            lambda t: t.replace(
                "{{ m['content'] }}<|im_end|>{% e", "{{ m['content'] if loop.last }}<|im_end|>{% e"
            ),
            "changes earlier turns",
        ),
        (lambda t: "", "no chat template"),
    ],
)
def test_templates_that_would_train_on_the_wrong_tokens(tokenizer, template, message):
    pytest.importorskip("trl")
    tokenizer.chat_template = template(tokenizer.chat_template)
    with pytest.raises(UsageError, match=message):
        DialogueTokenizer(tokenizer).encode(
            [SYSTEM, user("One"), says("Two"), user("Three"), says("Four")], start=3
        )


def test_a_template_that_trl_ships_is_taken(tokenizer):
    trl = pytest.importorskip("trl.chat_template_utils")
    tokenizer.chat_template = trl.qwen3_chat_template
    encoder = DialogueTokenizer(tokenizer)
    assert "generation" in encoder.tokenizer.chat_template
    encoded = encoder.encode([SYSTEM, user("One"), says("Two"), user("Three"), says("Four")], start=3)
    (label,) = trained(tokenizer, encoded)
    assert label == "<think>\n\n</think>\n\nFour<|im_end|>"


def test_a_folder_without_a_tokenizer(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(UsageError, match="holds no tokenizer"):
        load_dialogue_tokenizer(tmp_path)
