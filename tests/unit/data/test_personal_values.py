from __future__ import annotations

import json

import pytest

from dialogauge.data.mask import count_in_value, redact_json_text, redact_value


def test_keys_are_the_context_of_values() -> None:
    assert redact_value({"phone": "2125550123"}) == {"phone": "[phone]"}
    assert redact_value({"phone": 2125550123}) == {"phone": "[phone]"}
    assert redact_value({"item_id": "2125550123"}) == {"item_id": "2125550123"}
    assert redact_value({"order": 13800138000}) == {"order": 13800138000}
    assert redact_value([13800138000, -5, 1.5, True, None]) == ["[phone]", -5, 1.5, True, None]
    assert redact_value({"phones": [{"mobile": "2125550123"}]}) == {"phones": [{"mobile": "[phone]"}]}


def test_keys_are_redacted_and_stay_apart() -> None:
    value = {"a@example.com": 1, "b@example.com": 2}
    assert redact_value(value) == {"[email]": 1, "[email] 2": 2}


def test_huge_numbers_are_left_alone() -> None:
    assert redact_value(10**5000) == 10**5000
    assert count_in_value(10**5000) == {}


def test_counts_values_and_keys() -> None:
    value = {"a@example.com": {"phone": [2125550123, "x 13800138000"]}, "n": [True, None, 3]}
    assert count_in_value(value) == {"email": 1, "phone": 2}


@pytest.mark.parametrize("text", ['{"a": 13800138000}', '[13800138000, "x"]', ' {"a": [1, 13800138000]}'])
def test_json_stays_json(text: str) -> None:
    clean = redact_json_text(text)
    assert "13800138000" not in clean
    assert "[phone]" in json.dumps(json.loads(clean))


def test_what_is_no_json_is_text() -> None:
    assert redact_json_text("{call 13800138000") == "{call [phone]"
    assert redact_json_text("nothing") == "nothing"
