import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.rubrics import placeholders, render


def test_values_are_put_in_once_and_never_looked_at_again():
    assert render("a {{x}} b {{ y }}", {"x": "{{y}}", "y": "{{x}}"}) == "a {{y}} b {{x}}"


def test_braces_that_are_no_placeholder_stay():
    assert render('{"a": {"b": 1}} {{x}} {{ X }}', {"x": "1"}) == '{"a": {"b": 1}} 1 {{ X }}'


def test_a_backslash_in_a_value_is_kept():
    assert render("{{x}}", {"x": r"\1 \g<0> \n"}) == r"\1 \g<0> \n"


def test_a_name_without_a_value_is_an_error():
    with pytest.raises(KeyError):
        render("{{x}}", {})


def test_placeholders_come_in_order_without_doubles():
    assert placeholders("{{b}} {{ a }} {{b}} {{ Not one }}") == ("b", "a", "Not one")


@given(st.text(), st.text())
def test_any_value_is_put_in_as_it_is(x, y):
    assert render("<{{x}}|{{y}}>", {"x": x, "y": y}) == f"<{x}|{y}>"
