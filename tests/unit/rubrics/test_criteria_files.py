"""Rubric files whose criteria add up: what is read, and what is refused with file and line."""

import re

import pytest

from dialogauge.annotate.questions import questions_of
from dialogauge.core import RubricError, Scale
from dialogauge.rubrics import Scope, built_in_values, load_rubric, reply_schema
from dialogauge.rubrics.templates import criteria_words, frame

TEXT = """id = "tone"
version = 1
level = "conversation"
languages = ["en"]
shows = ["history", "dialogue"]
windows = false
template = '''
{{dimensions}}
{{reply_format}}
<!-- data -->
{{history}}
{{dialogue}}
{{asked}}'''

[[dimensions]]
name = "warmth"
scale = { low = 1, high = 5, integer = false }
description = "How warm?"

[[items]]
name = "shown"
dimension = "warmth"
base = 3
holistic = true
description = "what shows it"

[[items.options]]
name = "thanks"
weight = 0.5
description = "it thanks"

[[items.options]]
name = "scolds"
weight = -0.5
description = "it scolds"
"""
TURNS = TEXT.replace('level = "conversation"', 'level = "turn"').replace("windows = false\n", "")
TURNS = (
    TURNS.replace('"history", ', "")
    .replace("{{history}}\n", "")
    .partition("[[items]]")[0]
    .replace("integer = false", "integer = true")
)
MEAN = """[[dimensions]]
name = "whole"
level = "conversation"
scale = { low = 1, high = 5, integer = false }
turn_mean_of = "warmth"
description = "x"
"""


def load(tmp_path, text):
    (tmp_path / "tone.toml").write_text(text)
    return load_rubric(tmp_path / "tone.toml")


def test_a_list_that_adds_up(tmp_path):
    rubric = load(tmp_path, TEXT)
    (criteria,) = rubric.items
    assert criteria.adds_up
    assert (criteria.base, [o.weight for o in criteria.options]) == (3, [0.5, -0.5])
    own, holistic = rubric.dimensions
    assert (own.name, own.computed, own.scale) == ("warmth", True, Scale(1, 5, integer=False))
    assert (holistic.name, holistic.computed, holistic.scale) == ("warmth_holistic", False, Scale(1, 5))
    assert rubric.asked("conversation") == (holistic,)
    assert (rubric.windows, rubric.calls) == (False, "joint")


def test_the_schema_names_criteria_turns_and_quote_before_the_holistic_score(tmp_path):
    schema = reply_schema(load(tmp_path, TEXT), Scope((4, 5), ("conversation",)), "en")["properties"]
    assert list(schema) == ["shown", "conversation_level"]
    entry = schema["shown"]["items"]["properties"]
    assert list(entry) == ["criterion", "turns", "quote"]
    assert entry["criterion"]["enum"] == ["thanks", "scolds"]
    assert entry["turns"]["items"]["enum"] == [4, 5]


def test_the_prompt_names_what_counts_against_and_for_it_and_no_weight(tmp_path):
    values = built_in_values(load(tmp_path, TEXT), Scope((4, 5), ("conversation",)), "en")
    assert values["dimensions"] == (
        "### For the dialogue to evaluate\n\n`shown`: what shows it\nFaults:\n- scolds: it scolds\n"
        "Merits:\n- thanks: it thanks\n\n**warmth_holistic** (whole number, 1 to 5). How warm?"
    )
    assert not re.search(r"0\.5", "".join(values.values()))
    assert values["asked"] == "Asked for: the dialogue to evaluate as a whole, turns 4 to 5."


def test_criteria_without_a_weight_are_shown_too(tmp_path):
    rubric = load(tmp_path, TEXT + '[[items.options]]\nname = "sighs"\ndescription = "it sighs"\n')
    values = built_in_values(rubric, Scope((1,), ("conversation",)), "en")
    assert "- thanks: it thanks\nNeither:\n- sighs: it sighs\n" in values["dimensions"]


REFUSED = [
    (
        "base = 3\n",
        "worth = { thanks = 1 }\nbase = 3\n",
        "tone.toml:23: items.shown.worth: this is for items with a worth",
    ),
    (
        "base = 3\n",
        'base = 3\nkey = "text"\n',
        "tone.toml:24: items.shown.key: this is for items with a worth",
    ),
    ("base = 3\n", 'base = 3\nquoted = ["thanks"]\n', "items.shown.quoted: this is for items with a worth"),
    ("base = 3\n", "", "tone.toml:20: items.shown.base: missing; the weights of the options are added to it"),
    ("base = 3\n", "base = 6\n", "tone.toml:23: items.shown.base: 6 is off the scale 1-5 of warmth"),
    ("base = 3\n", "base = nan\n", "tone.toml:23: items[1].base: "),
    ("base = 3\n", 'base = "3"\n', "tone.toml:23: items[1].base: "),
    ("weight = 0.5\n", "weight = inf\n", "tone.toml:29: items[1].options[1].weight: "),
    ("weight = 0.5\n", 'weight = "more"\n', "tone.toml:29: items[1].options[1].weight: "),
    (
        'name = "scolds"',
        'name = "thanks"',
        "items.shown.options.thanks: an option of that name exists already",
    ),
    (
        "integer = false",
        "integer = true",
        "tone.toml:17: dimensions.warmth.scale: added up from shown, so it needs",
    ),
    (
        'dimension = "warmth"',
        'dimension = "cold"',
        "tone.toml:22: items.shown.dimension: there is no dimension 'cold'",
    ),
    ("windows = false", 'windows = "no"', "tone.toml:6: windows: "),
    ("windows = false", 'calls = "many"', "tone.toml:6: calls: "),
    ("holistic = true\n", "holistic = true\nlabel = 1\n", "tone.toml:25: items[1].label: unknown key"),
    ('"history", ', "", "template.en: unknown placeholder {{history}}; name it in shows"),
]


@pytest.mark.parametrize(("old", "new", "said"), REFUSED, ids=[case[2][:60] for case in REFUSED])
def test_what_is_wrong_is_refused_with_file_line_and_key(tmp_path, old, new, said):
    assert TEXT.count(old) >= 1
    with pytest.raises(RubricError) as caught:
        load(tmp_path, TEXT.replace(old, new, 1))
    assert said in str(caught.value)


def test_neither_worth_nor_weights_is_refused(tmp_path):
    text = re.sub(r"weight = .*\n|base = .*\n|holistic = .*\n", "", TEXT)
    with pytest.raises(
        RubricError, match=r"tone.toml:20: items.shown.worth: empty; .* or a base and weights"
    ):
        load(tmp_path, text)
    with pytest.raises(RubricError, match=r"items.shown.options: none has a weight other than 0"):
        load(tmp_path, re.sub(r"weight = .*\n", "weight = 0\n", TEXT))
    more = 'dimension = "warmth"\nholistic = true\nworth = { thanks = 1 }\nkey = "a"'
    with pytest.raises(RubricError, match=r"items.shown.holistic: only criteria that add up"):
        load(tmp_path, text.replace('dimension = "warmth"', more))


def test_a_dimension_has_one_list(tmp_path):
    again = TEXT[TEXT.index("[[items]]") :].replace('"shown"', '"also"').replace("holistic = true\n", "")
    with pytest.raises(RubricError, match="items: the dimension 'warmth' is computed from two lists"):
        load(tmp_path, TEXT + again)


def test_a_mean_over_turns(tmp_path):
    rubric = load(tmp_path, TURNS + MEAN)
    (whole,) = rubric.at("conversation")
    assert (whole.computed, whole.turn_mean_of) == (True, "warmth")
    for old, new, said in (
        ('turn_mean_of = "warmth"', 'turn_mean_of = "cold"', "whole.turn_mean_of: 'cold' is not a dimension"),
        (
            'turn_mean_of = "warmth"',
            "",
            "dimensions.whole.level: 'conversation', but a rubric of the level 'turn'",
        ),
        (
            "high = 5, integer = false",
            "high = 7, integer = false",
            "whole.turn_mean_of: 'warmth' has another scale",
        ),
    ):
        with pytest.raises(RubricError, match=re.escape(said)):
            load(tmp_path, TURNS + MEAN.replace(old, new))
    with pytest.raises(RubricError, match="windows: a rubric of the level 'turn'"):
        load(tmp_path, "windows = false\n" + TURNS)


def test_a_mean_may_be_a_fraction_of_whole_scores(tmp_path):
    mean = MEAN.replace('level = "conversation"\n', "")
    mean = mean.replace('turn_mean_of = "warmth"', 'mean_of = ["warmth_holistic", "warmth"]')
    assert load(tmp_path, TEXT + mean).dimensions[1].mean_of == ("warmth_holistic", "warmth")
    with pytest.raises(RubricError, match="'warmth' has another scale"):
        load(tmp_path, TEXT + mean.replace("integer = false", "integer = true"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_people_are_asked_the_four_dimensions_of_roleplay(language):
    names = ["interactive_ability", "human_likeness", "role_consistency", "contextual_coherence"]
    for rubric in ("roleplay", "roleplay-plain"):
        asked = questions_of(load_rubric(rubric), language)
        assert [q.name for q in asked] == names
        assert {q.level for q in asked} == {"conversation"}
        assert all(set(q.anchors) == {"1", "2", "3", "4", "5"} for q in asked)


def test_both_languages_have_the_same_phrases():
    english, chinese = criteria_words("en"), criteria_words("zh")
    assert english.keys() == chinese.keys()
    assert english.keys().isdisjoint(frame("en"))
    for key, text in english.items():
        assert set(re.findall(r"{{(\w+)}}", text)) == set(re.findall(r"{{(\w+)}}", chinese[key])), key
    assert criteria_words("fr") == english


def test_the_three_rubrics_share_their_dimensions():
    session, plain, turn = (load_rubric(name) for name in ("roleplay", "roleplay-plain", "roleplay-turn"))
    names = [d.name for d in session.dimensions if not d.name.endswith("_holistic")]
    assert names == [d.name for d in plain.dimensions] == [d.name for d in turn.at("conversation")]
    for a, b in zip(session.dimensions, plain.dimensions, strict=False):
        assert (a.description, a.anchors) == (b.description, b.anchors)
    names = [o.name for x in session.items for o in x.options]
    assert len(names) == len(set(names)) == 32
