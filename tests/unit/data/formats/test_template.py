"""Conversations that a chat template made one text of."""

import json

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.data import read_conversations

SPOKEN = [
    ("system", "Be brief."),
    ("user", "Which tea\n\nfor the morning?"),
    ("assistant", "Assam."),
    ("user", "And at night?"),
    ("assistant", "Rooibos."),
]
USERS = [message for message in SPOKEN if message[0] != "system"]


def chatml(spoken, begins=""):
    return begins + "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in spoken)


def llama3(spoken):
    parts = (f"<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>" for role, text in spoken)
    return "<|begin_of_text|>" + "".join(parts)


def gemma(spoken):
    names = {"assistant": "model"}
    parts = (f"<start_of_turn>{names.get(role, role)}\n{text}<end_of_turn>\n" for role, text in spoken)
    return "<bos>" + "".join(parts)


LLAMA2 = (
    "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nWhich tea\n\nfor the morning? [/INST] Assam. </s>"
    "<s>[INST] And at night? [/INST] Rooibos. </s>"
)
LLAMA4 = "<|begin_of_text|>" + "".join(
    f"<|header_start|>{role}<|header_end|>\n\n{text}<|eot|>" for role, text in SPOKEN
)
MISTRAL = (
    "<s>[SYSTEM_PROMPT] Be brief.[/SYSTEM_PROMPT][INST] Which tea\n\nfor the morning?[/INST] Assam.</s>"
    "[INST] And at night?[/INST] Rooibos.</s>"
)


def read(tmp_path, *rows, name="a.jsonl", text=None, **options):
    path = tmp_path / name
    path.write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows) if text is None else text, encoding="utf-8"
    )
    reader = read_conversations([str(path)], **options)
    return list(reader), reader.notes


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


TEXTS = [
    (chatml(SPOKEN), SPOKEN),
    (chatml(SPOKEN, "<|endoftext|>"), SPOKEN),
    (llama3(SPOKEN), SPOKEN),
    (LLAMA4, SPOKEN),
    (gemma(USERS), USERS),
    (LLAMA2, SPOKEN),
    (LLAMA2.replace("</s><s>", "</s>\n<s>"), SPOKEN),
    (MISTRAL, SPOKEN),
]


@pytest.mark.parametrize(("text", "spoken"), TEXTS)
def test_a_record_and_a_file_say_the_same(tmp_path, text, spoken):
    (talk,), notes = read(tmp_path, {"id": "t1", "text": text, "source": "web"})
    assert (talk.id, said(talk), talk.metadata) == ("t1", spoken, {"source": "web"})
    assert any(note.text.startswith("texts have the marks of a chat template (") for note in notes)
    (talk,), _ = read(tmp_path, name="a.txt", text=text)
    assert (talk.id, said(talk)) == ("a_1", spoken)


def test_a_prompt_with_its_completion(tmp_path):
    asks = chatml(SPOKEN[:4]) + "<|im_start|>assistant\n"
    rows = [
        {"prompt": asks, "completion": "Rooibos.<|im_end|>", "model": "m"},
        {"prompt": asks + "Roo", "completion": "ibos."},
        {"prompt": LLAMA2.removesuffix(" Rooibos. </s>"), "completion": "Rooibos.</s>"},
        {"prompt": llama3(SPOKEN[:4]), "completion": "Rooibos."},
    ]
    for row in rows:
        (talk,), _ = read(tmp_path, row)
        assert said(talk) == SPOKEN
    assert read(tmp_path, rows[0])[0][0].candidate == "m"


def test_an_unfinished_last_message_is_kept(tmp_path):
    for text in (chatml(SPOKEN)[: -len("bos.<|im_end|>\n")], LLAMA2.removesuffix("bos. </s>")):
        (talk,), _ = read(tmp_path, {"text": text})
        assert said(talk)[-1] == ("assistant", "Rooi")
    (talk,), _ = read(tmp_path, {"text": "<|im_start|>user\nWhich t"})
    assert said(talk) == [("user", "Which t")]
    (talk,), _ = read(tmp_path, {"text": chatml(SPOKEN[:2]) + "<|im_start|>assistant\n"})
    assert said(talk) == SPOKEN[:2]


@pytest.mark.parametrize(
    "text",
    [
        "The mark is <|im_start|>user\nHi<|im_end|>",
        "<|im_start|> begins a message, and <|im_end|> ends it.",
        "[INST] begins what the user says.",
        "<start_of_turn> and <end_of_turn> are Gemma's.",
    ],
)
def test_prose_about_marks_is_never_split(tmp_path, text):
    with pytest.raises(FileFault):
        read(tmp_path, {"text": text})
    (talk,), notes = read(tmp_path, {"prompt": text, "response": "Yes."})
    assert said(talk) == [("user", text), ("assistant", "Yes.")]
    assert not any("chat template" in note.text for note in notes)


def test_marks_within_a_message_stay_there(tmp_path):
    spoken = [("user", "What does <|im_end|> do, and\n<|im_start|>user\nhere?"), ("assistant", "It ends.")]
    (talk,), notes = read(tmp_path, {"text": chatml(spoken)})
    assert said(talk) == spoken
    assert [n.text for n in notes if n.kind == "assumed" and "marks" in n.text] == [
        "messages have marks of their chat template within: kept as text"
    ]


def test_other_fields_go_first(tmp_path):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    text = chatml(SPOKEN)
    assert [len(talk.messages) for talk in read(tmp_path, {"messages": messages, "text": text})[0]] == [2]
    (talk,), _ = read(tmp_path, {"instruction": "Hi", "output": "Hello", "text": text})
    assert said(talk) == [("user", "Hi"), ("assistant", "Hello")]


def test_calls_and_results_of_tools(tmp_path):
    text = chatml(
        [
            ("user", "Is it ready?"),
            ("assistant", 'I look.\n<tool_call>\n{"name": "find", "arguments": {"id": 4}}\n</tool_call>'),
            ("user", "<tool_response>\nready\n</tool_response>"),
            ("assistant", "<think>\nGood.\n</think>\n\nYes."),
        ]
    )
    (talk,), _ = read(tmp_path, {"text": text})
    assert said(talk) == [
        ("user", "Is it ready?"),
        ("assistant", "I look."),
        ("tool", "ready"),
        ("assistant", "Yes."),
    ]
    (call,) = talk.messages[1].tool_calls
    assert (call.name, json.loads(call.arguments), talk.messages[2].tool_call_id) == (
        "find",
        {"id": 4},
        call.id,
    )
    assert talk.messages[3].extra["reasoning"] == "Good."


def test_several_conversations(tmp_path):
    two = gemma(USERS) + gemma(USERS[:2])
    talks, _ = read(tmp_path, name="a.txt", text=two)
    assert [(talk.id, said(talk), talk.place.line) for talk in talks] == [
        ("a_1", USERS, 1),
        ("a_2", USERS[:2], 11),
    ]
    (fault,), _ = read(tmp_path, {"text": two})
    assert isinstance(fault, RecordFault)
    assert "several conversations" in fault.message


def test_texts_without_the_marks_of_the_tokenizer(tmp_path):
    text = LLAMA2.replace("</s>", "").replace("<s>", "")
    (talk,), notes = read(tmp_path, {"text": text})
    assert said(talk) == SPOKEN
    assert any("no </s>" in note.text and note.kind == "assumed" for note in notes)


def test_an_unknown_role(tmp_path):
    (fault,), _ = read(tmp_path, {"text": "<|im_start|>narrator\nOnce.<|im_end|>\n"})
    assert isinstance(fault, RecordFault)
    assert "narrator" in fault.message
