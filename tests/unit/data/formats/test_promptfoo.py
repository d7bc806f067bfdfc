"""Results of promptfoo, as its commands write them, by hand."""

import json

import pytest

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.formats.chat import yaml_messages


def result(raw, output, *, test=0, prompt=0, label="short", provider="model-a", **more):
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "provider": {"id": f"lab:{provider}", "label": provider},
        "prompt": {"raw": raw, "label": label},
        "vars": {"topic": "tea"},
        "response": None if output is None else {"output": output, "tokenUsage": {"total": 5}},
        "success": True,
        "score": 1,
        "namedScores": {"tone": 0.5},
        "gradingResult": {
            "pass": True,
            "score": 1,
            "reason": "All assertions passed",
            "componentResults": [],
        },
        **more,
    }


def read(tmp_path, results, *, lines=False):
    document = {
        "evalId": "eval-x",
        "results": {"version": 3, "prompts": [], "results": results},
        "config": {},
    }
    path = tmp_path / ("out.jsonl" if lines else "results.json")
    path.write_text("\n".join(map(json.dumps, results)) if lines else json.dumps(document, indent=1))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == ["promptfoo"]
    return outcomes, [str(note) for note in reader.notes]


def spoken(talk):
    return [(m.role, m.text) for m in talk.messages]


TEA = [("user", "How long?"), ("assistant", "Three minutes.")]
CHAT = json.dumps([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How long?"}])


@pytest.mark.parametrize("lines", [False, True])
def test_a_plain_prompt_and_a_list_of_messages(tmp_path, lines):
    results = [result("How long?", "Three minutes."), result(CHAT, "Three minutes.", test=1)]
    (plain, chat), notes = read(tmp_path, results, lines=lines)
    assert spoken(plain) == TEA
    assert spoken(chat) == [("system", "Be brief."), *TEA]
    assert [plain.id, chat.id] == (["0__0", "1__0"] if lines else ["eval-x__0__0", "eval-x__1__0"])
    assert plain.candidate == "model-a"
    assert plain.ratings == ()
    kept = plain.metadata
    assert (kept["score"], kept["namedScores"], kept["vars"]) == (1, {"tone": 0.5}, {"topic": "tea"})
    assert any("no person gave them" in note for note in notes)


def test_compared_prompts_are_named_in_the_candidate(tmp_path):
    long = "You are a guide to tea.\nAnswer {{question}}"
    results = [result("a", "b"), result("c", "d", prompt=1, label=long)]
    (one, other), notes = read(tmp_path, results)
    assert [one.candidate, other.candidate] == ["model-a (short)", "model-a (prompt 2)"]
    assert any("compare prompts" in note for note in notes)


def test_an_error_without_an_output_leaves_no_reply(tmp_path):
    failed = result("How long?", None, error="API error: 500", success=False, score=0)
    rejected = result("How long?", "Three minutes.", test=1, error="Expected output to contain 'four'")
    (without, answered), notes = read(tmp_path, [failed, rejected])
    assert spoken(without) == TEA[:1]
    assert without.metadata["error"] == "API error: 500"
    assert spoken(answered) == TEA
    assert any("read without a reply" in note for note in notes)


def test_marks_of_people_are_ratings(tmp_path):
    human = {"pass": False, "score": 0, "reason": "Manual result", "assertion": {"type": "human"}}
    other = {"pass": True, "score": 1, "reason": "ok", "assertion": {"type": "contains"}}
    graded = {"pass": False, "score": 0, "comment": "too short", "componentResults": [other, human]}
    (talk,), _ = read(tmp_path, [result("How long?", "Three minutes.", gradingResult=graded)])
    (rating,) = talk.ratings
    assert (rating.dimension, rating.score, rating.turn, rating.note) == ("rating", 0, 1, "too short")


def test_outputs_that_are_no_text(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "boil", "arguments": "{}"}}
    results = [result("a", [call]), result("a", {"minutes": 3}, test=1), result("a", "", test=2)]
    (calls, value, empty), _ = read(tmp_path, results)
    assert [one.name for one in calls.messages[1].tool_calls] == ["boil"]
    assert spoken(value)[1] == ("assistant", '{"minutes":3}')
    assert spoken(empty)[1] == ("assistant", "")


def test_tests_of_one_conversation_are_read_once(tmp_path):
    case = {"testCase": {"metadata": {"conversationId": "k"}}}
    first = [{"role": "user", "content": "How long?"}]
    second = [
        *first,
        {"role": "assistant", "content": "Three minutes."},
        {"role": "user", "content": "And milk?"},
    ]
    results = [
        result(json.dumps(first), "Three minutes.", **case),
        result(json.dumps(first), "Four.", provider="model-b", prompt=1, **case),
        result(json.dumps(second), "Last.", test=1, **case),
    ]
    talks, notes = read(tmp_path, results)
    assert [spoken(talk) for talk in sorted(talks, key=lambda talk: talk.candidate)] == [
        [*TEA, ("user", "And milk?"), ("assistant", "Last.")],
        [TEA[0], ("assistant", "Four.")],
    ]
    assert any("repeat those before" in note for note in notes)


def test_the_talk_of_a_simulated_user(tmp_path):
    talk = [{"role": role, "content": text} for role, text in TEA]
    output = "User: How long?\n---\nAssistant: Three minutes."
    response = {"output": output, "metadata": {"messages": talk}}
    (read_talk,), _ = read(tmp_path, [result("Be brief.", None, response=response)])
    assert spoken(read_talk) == [("system", "Be brief."), *TEA]


YAML = """
- role: system
  content: >-
    Be
    brief.

    Be kind.
- role: user
  content: |
    How long?
      Green tea.
- role: assistant
  content: 'It''s three.'
- role: user
  content: "Say \\"four\\""
"""


def test_a_prompt_in_yaml(tmp_path):
    (talk,), _ = read(tmp_path, [result(YAML, "Four.")])
    assert spoken(talk) == [
        ("system", "Be brief.\nBe kind."),
        ("user", "How long?\n  Green tea.\n"),
        ("assistant", "It's three."),
        ("user", 'Say "four"'),
        ("assistant", "Four."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- role: user\n  content: a: b",
        "- role: user\n  content: [a]",
        "- role: user\n  content: 5",
        "- role: user\n  content: a\n  content: b",
        "- role: user\n  content: a\n  weight: 3",
        "- role: user\n content: a",
        "- role: user",
        "- role: user\n  content: {a: b}",
        "- role: user\n  content: &a [*a]",
        "- role: user\n  content: " + "[" * 5000,
        "- role: user\n  content: 'it's'",
    ],
)
def test_other_yaml_is_refused(tmp_path, text):
    with pytest.raises(ValueError, match=r"."):
        yaml_messages(text)
    (fault,), _ = read(tmp_path, [result(text, "x")])
    assert isinstance(fault, RecordFault)
    assert "YAML" in fault.message


def test_a_result_without_a_prompt_is_a_fault(tmp_path):
    (talk, fault), _ = read(tmp_path, [result("How long?", "Three minutes."), {"testIdx": 1}])
    assert spoken(talk) == TEA
    assert "without prompt, provider and variables" in fault.message
