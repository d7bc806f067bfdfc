from __future__ import annotations

import json
from types import MappingProxyType

import pytest

from dialogauge.llm import ReplySchema
from dialogauge.llm.wire import encode, fold_system, parse_json, read_completion, with_schema
from dialogauge.rubrics import closed_object
from servers.asking import SCORE
from servers.schemas import resolve


def test_mappings_of_any_kind_are_objects():
    assert encode({"a": MappingProxyType({"b": (1, 2)})}) == b'{"a":{"b":[1,2]}}'
    assert encode("\ud800x") == b'"?x"'
    with pytest.raises(TypeError, match="object"):
        encode({"a": object()})


def test_lower_rungs_put_the_schema_into_the_last_message():
    body = {"messages": ({"role": "user", "content": "Judge."},)}
    prompt = with_schema(body, SCORE, "prompt")
    assert prompt["messages"][0]["content"].startswith("Judge.\n\n")
    assert json.loads(prompt["messages"][0]["content"].splitlines()[-1]) == SCORE.schema
    assert "response_format" not in prompt
    assert with_schema(body, SCORE, "json_object")["response_format"] == {"type": "json_object"}
    after_assistant = with_schema({"messages": ({"role": "assistant", "content": "x"},)}, SCORE, "prompt")
    assert [m["role"] for m in after_assistant["messages"]] == ["assistant", "user"]
    assert body["messages"][0]["content"] == "Judge."


def test_a_prompt_says_once_what_fields_have_alike():
    entry = closed_object({"note": {"type": "string"}, "scores": SCORE.schema})
    rows = closed_object({"3": entry, "4": entry, "5": entry, "6": SCORE.schema})
    whole = ReplySchema("s", closed_object({"per_turn": rows, "a": SCORE.schema}))
    note = with_schema({"messages": ()}, whole, "prompt")["messages"][0]["content"]
    shown = json.loads(note.splitlines()[-1])
    inner = shown["properties"]["per_turn"]["properties"]
    assert inner["4"] == inner["5"] == {"$ref": "#/properties/per_turn/properties/3"}
    assert resolve(inner["5"], shown) == inner["3"] == entry
    assert (inner["6"], shown["properties"]["a"]) == (SCORE.schema, SCORE.schema)
    for rung in ("json_schema", "json_object_schema"):
        assert "$ref" not in str(with_schema({"messages": ()}, whole, rung))


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCORE.schema, True),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, False),
        ({"type": "array", "items": {"type": "object", "properties": {}, "required": []}}, False),
    ],
)
def test_strict_is_asked_for_where_it_can_be(schema, strict):
    body = with_schema({"messages": ()}, ReplySchema("s", schema), "json_schema")
    assert body["response_format"]["json_schema"]["strict"] is strict


@pytest.mark.parametrize(
    "payload", [None, [], {}, {"choices": {}}, {"choices": [3]}, {"choices": [{"message": 3}]}]
)
def test_what_is_no_answer(payload):
    assert read_completion(payload) is None


@pytest.mark.parametrize("twice", ["choices", "message", "content"])
def test_an_answer_with_two_replies_is_none(twice):
    members = {"content": '"3"', "message": '{"content": "3"}', "choices": '[{"message": {"content": "3"}}]'}
    again = f'"{twice}": {members[twice]}, '
    content = f'{{{again if twice == "content" else ""}"content": "4"}}'
    choice = f'{{{again if twice == "message" else ""}"message": {content}}}'
    answer = f'{{{again if twice == "choices" else ""}"choices": [{choice}], "model": "a", "model": "b"}}'
    assert parse_json(answer.encode()) is None
    sound = parse_json(answer.replace('"3"', '"4"').encode())
    assert read_completion(sound).text == "4"


def test_odd_answers_are_read():
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "4"}, "x"]
    message = {"content": parts, "reasoning": "hm"}
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 20}}
    answer = read_completion(
        {"choices": [{"message": message, "finish_reason": None}], "usage": usage, "model": 3}
    )
    assert (answer.text, answer.finish, answer.reasoning, answer.model) == ("4", "other", "hm", None)
    assert (answer.prompt_tokens, answer.cached_tokens, answer.counted) == (9, 9, True)
    answer = read_completion({"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": "9"}})
    assert (answer.prompt_tokens, answer.counted) == (0, False)


def test_thoughts_among_the_parts_are_no_answer():
    parts = [{"type": "reasoning", "text": "3?"}, {"type": "output_text", "text": "4"}, {"text": "!"}]
    assert read_completion({"choices": [{"message": {"content": parts}}]}).text == "4!"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("MAX_TOKENS", "length"), ("model_length", "length"), ("SAFETY", "filter"), ("sensitive", "filter")],
)
def test_finish_reasons_of_other_vendors_are_known(reason, finish):
    choice = {"message": {"content": "x"}, "finish_reason": reason}
    assert read_completion({"choices": [choice]}).finish == finish


@pytest.mark.parametrize("reason", ["error", "abort", "insufficient_system_resource", "network_error"])
def test_a_reply_that_its_server_broke_off_is_none(reason):
    choice = {"message": {"content": "x"}, "finish_reason": reason}
    assert read_completion({"choices": [choice]}) is None


def test_system_messages_are_folded():
    user, system = {"role": "user", "content": "u"}, {"role": "system", "content": "s"}
    assert fold_system([system, user]) == [{"role": "user", "content": "s\n\nu"}]
    assert fold_system([user]) == [user]
    assert fold_system([system]) == [{"role": "user", "content": "s"}]


def test_a_finish_reason_nested_without_end_is_another():
    deep = []
    for _ in range(3000):
        deep = [deep]
    assert (
        read_completion({"choices": [{"message": {"content": "x"}, "finish_reason": deep}]}).finish == "other"
    )


@pytest.mark.parametrize(
    "count", [1 << 63, 10**30, -1, 1.5, float("nan"), float("inf"), "12", True, None, [3], {}], ids=str
)
def test_a_count_of_tokens_that_is_none_is_not_counted(count):
    usage = {
        "prompt_tokens": count,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": count},
    }
    answer = read_completion({"choices": [{"message": {"content": "x"}}], "usage": usage})
    assert (answer.prompt_tokens, answer.cached_tokens, answer.counted) == (0, 0, False)


def test_a_whole_float_is_a_count():
    usage = {"prompt_tokens": 12.0, "completion_tokens": 7.0}
    answer = read_completion({"choices": [{"message": {"content": "x"}}], "usage": usage})
    assert (repr(answer.prompt_tokens), answer.completion_tokens, answer.counted) == ("12", 7, True)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'{"a": "x\ud800y"}', {"a": "x\ufffdy"}),
        (rb'{"a": "\udc00\ud83d\ude00\uD83D"}', {"a": "\ufffd\U0001f600\ufffd"}),
        (rb'{"a": "\\ud800 \\\ud800"}', {"a": "\\ud800 \\\ufffd"}),
        (rb'{"\ud800": 1}', {"\ufffd": 1}),
        (b'{"a": "caf\xe9"}', {"a": "caf\ufffd"}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b"[" * 2000 + b"]" * 2000, None),
        (b"[" * 500 + b"]" * 500, None),
        (b'{"a": NaN}', None),
        (b"", None),
    ],
    ids=range(10),
)
def test_json_is_read_whatever_its_escapes(raw, value):
    assert parse_json(raw) == value


def test_the_first_choice_by_index_counts_and_none_beside_an_error_or_a_refusal():
    one, other = ({"index": n, "message": {"content": str(n)}} for n in (0, 1))
    assert read_completion({"choices": [other, one]}).text == "0"
    assert read_completion({"choices": [one], "error": {"message": "broke off"}}) is None
    refused = {"message": {"content": '{"score": 4}', "refusal": "I will not."}}
    assert read_completion({"choices": [refused]}).finish == "filter"
