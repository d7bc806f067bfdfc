"""Results of tools in every form: names, how many things, and whether anything."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.signals.grounding.results import read_result

TWO = [{"name": "Amber House", "stars": 3}, {"name": "Bell Inn", "stars": 4}]
FORMS = {
    "a list": json.dumps(TWO),
    "a list in an object": json.dumps({"count": 2, "hotels": TWO}),
    "objects under their names": json.dumps({"11": {"name": "Amber House"}, "12": {"name": "Bell Inn"}}),
    "JSON in JSON": json.dumps({"result": json.dumps(TWO)}),
    "a Python literal": str(TWO),
    "a table with bars": "name | stars\nAmber House | 3\nBell Inn | 4\n2 rows",
    "a Markdown table": "| name | stars |\n|---|---|\n| Amber House | 3 |\n| Bell Inn | 4 |",
    "a table with tabs": "name\tstars\nAmber House\t3\nBell Inn\t4",
}
EMPTY = [
    "[]", "{}", "null", "None", "", "No results found.", "没有符合条件的酒店",
    '{"results": []}', '{"results": null, "count": 0}',
    '{"status": "ok", "data": {"list": [], "total": 0}}', '{"total": 0}',
]  # fmt: skip
FULL = [
    '{"ok": true}',
    '{"result": {"reference": "X1"}, "message": "Success!"}',
    "12.0",
    "dana_311",
    '{"total": 3}',
]


@pytest.mark.parametrize("form", FORMS)
def test_two_things_are_two_entries_in_every_form(form):
    found = read_result(FORMS[form])
    assert (found.entries, found.empty) == (2, False)
    assert {"Amber House", "Bell Inn"} <= found.words


@pytest.mark.parametrize("text", EMPTY)
def test_a_result_that_holds_nothing_is_empty(text):
    assert read_result(text).empty


@pytest.mark.parametrize("text", FULL)
def test_a_result_that_holds_something_is_not(text):
    assert not read_result(text).empty


def test_a_total_counts_more_than_what_is_shown():
    found = read_result(json.dumps({"total": 37, "hotels": TWO}))
    assert found.entries == 37


def test_a_sum_of_money_is_no_number_of_things():
    assert read_result('{"id": "R5", "total": 236, "status": "confirmed"}').entries is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_any_json_can_be_read(value):
    found = read_result(json.dumps(value))
    assert found.entries is None or found.entries >= 0
