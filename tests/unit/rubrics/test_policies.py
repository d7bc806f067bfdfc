"""Policy files: by domain, with a threshold and slots."""

from pathlib import Path

import pytest

from dialogauge.core import RubricError, ToolCall
from dialogauge.rubrics import load_policies

DOCS = Path(__file__).parents[3] / "docs"
MINE = """
threshold = 3
text = "{{domain}} up to {{threshold}}: {{slots}}"
[[domains]]
name = "hotel"
calls = "room"
threshold = 5
[domains.slots]
stay = { en = "nights", zh = "几晚" }
[[domains]]
name = "rest"
text = { en = "anything", zh = "其他" }
"""


def written(tmp_path, text):
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_policy_of_ones_own(tmp_path):
    policies = load_policies(written(tmp_path, MINE))
    assert policies.shown(["hotel"], "en") == "hotel up to 5: - stay: nights"
    assert policies.shown(["hotel", "rest"], "zh") == "hotel up to 5: - stay: 几晚\n\n其他"
    assert policies.shown(["rest"], "fr") == "anything"
    assert policies.general == "rest"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shipped_one_names_threshold_and_slots_of_every_domain(language):
    policies = load_policies()
    names = ["restaurant", "hotel", "attraction", "train", "taxi", "generic"]
    assert [d.name for d in policies.domains] == names
    for domain in policies.domains:
        text = domain.shown(language)
        assert " 10 " in text
        assert "{" not in text
        assert all(f"- {slot}: " in text for slot in domain.slots)


@pytest.mark.parametrize(
    ("calls", "domains"),
    [
        ([], ()),
        ([("query_restaurants", "{}")], ("restaurant",)),
        ([("book_taxi", '{"destination": "the Acorn hotel"}')], ("taxi",)),  # the name goes first
        ([("search", '{"domain": "hotel"}')], ("hotel",)),
        ([("search", '{"near": "hotel", "what": "restaurant"}')], ()),  # the arguments name two
        ([("buy_train_tickets", "{}"), ("bookTaxi", "{}"), ("query_trains", "{}")], ("train", "taxi")),
        ([("set_constraints", "{}"), ("add_training", "{}")], ()),
    ],
)
def test_the_domains_of_calls(calls, domains):
    assert load_policies().domains_of(ToolCall("1", *call) for call in calls) == domains


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (
            'name = "rest"',
            'name = "rest"\ncalls = "x"',
            "policy.toml:10: domains: the last one is that of all other calls",
        ),
        ('calls = "room"', "", "policy.toml:4: domains.hotel.calls: missing"),
        ('calls = "room"', 'calls = "("', "policy.toml:6: domains.hotel.calls: not a regular expression"),
        ("threshold = 5", "threshold = -1", "policy.toml:7: domains.hotel.threshold: -1"),
        ("{{slots}}", "{{slot}}", "domains.hotel.text: unknown placeholder {{slot}}"),
        (
            'text = "{{domain}} up to {{threshold}}: {{slots}}"',
            "",
            "policy.toml:4: domains.hotel.text: missing",
        ),
        (
            'name = "rest"',
            'name = "hotel"',
            "policy.toml:10: domains.hotel: a domain of that name exists already",
        ),
        ("threshold = 3", "treshold = 3", "treshold: unknown key"),
        ('calls = "room"', 'cals = "room"', "policy.toml:6: domains[1].cals: unknown key"),
        ("threshold = 3", "threshold = ", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, named):
    path = written(tmp_path, MINE.replace(old, new, 1))
    with pytest.raises(RubricError) as caught:
        load_policies(path)
    assert named in str(caught.value)
    assert str(path) in str(caught.value)


def test_the_example_in_the_documentation_loads(tmp_path):
    text = (DOCS / "rubrics.md").read_text(encoding="utf-8").split("## Agents that use tools")[1]
    policies = load_policies(written(tmp_path, text.split("```toml\n")[1].split("```")[0]))
    assert [(d.name, d.threshold) for d in policies.domains] == [("hotel", 5), ("generic", 10)]


def test_a_file_that_is_not_there():
    with pytest.raises(RubricError, match="policy file cannot be read: there is no such file"):
        load_policies("none.toml")
