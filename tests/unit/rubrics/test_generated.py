import json
import re

import pytest

from dialogauge.rubrics import Scope, built_in_values, load_personal, load_rubric, render, reply_schema
from dialogauge.rubrics.load import shipped_rubrics
from dialogauge.rubrics.templates import frame, own_template
from rubric_samples import ideal, satisfies

BOTH = [(name, language) for name in shipped_rubrics() for language in ("en", "zh")]


def scope_of(rubric):
    if rubric.level in ("turn", "pair"):
        return Scope((2,), (rubric.level,))
    return Scope((1, 2, 3), ("turn", rubric.level))


@pytest.mark.parametrize(("name", "language"), BOTH)
def test_every_shipped_rubric_renders_in_both_languages(name, language):
    rubric = load_rubric(name)
    values = built_in_values(rubric, scope_of(rubric), language)
    values |= dict.fromkeys(rubric.shows, "DATA")
    template = rubric.templates[language]
    system, user = render(template.instructions, values), render(template.data, values)
    assert "{{" not in system + user
    assert user.count("DATA") >= len(set(rubric.shows) - {"source"})
    for dimension in rubric.dimensions:
        assert dimension.computed or f"**{dimension.name}**" in system
        for text in dimension.anchors[language].values():
            assert text in system
    for label in rubric.labels:
        assert all(option.description[language] in system for option in label.options)
    assert bool(re.search("[\u4e00-\u9fff]", system)) == (language == "zh")


@pytest.mark.parametrize(("name", "language"), BOTH)
def test_the_schema_of_every_shipped_rubric_admits_an_ideal_reply(name, language):
    rubric = load_rubric(name)
    schema = reply_schema(rubric, scope_of(rubric), language)
    reply = ideal(schema)
    assert satisfies(schema, reply)
    assert not satisfies(schema, {**reply, "more": 1})


def test_notes_stand_before_scores():
    card = reply_schema(load_rubric("card"), Scope((1,), ("turn", "conversation")), "en")
    assert list(card["properties"]) == [
        "per_turn",
        "conversation_level",
        "decision_basis",
        "weakest_turn",
        "verdict",
    ]
    entry = card["properties"]["per_turn"]["properties"]["1"]
    assert list(entry["properties"]) == ["issues", "evidence", "scores"]
    coherence = card["properties"]["conversation_level"]["properties"]["coherence"]
    assert list(coherence["properties"]) == ["note", "score"]
    satisfaction = reply_schema(load_rubric("satisfaction"), Scope((1,), ("turn",)), "en")
    assert list(satisfaction["properties"]) == ["note", "scores", "reason"]


@pytest.mark.parametrize("turns", [(1,), (3, 4), tuple(range(1, 11))])
def test_a_grammar_of_the_schema_has_each_asked_turn_once(turns):
    schema = reply_schema(load_rubric("card"), Scope(turns, ("turn",)), "en")["properties"]["per_turn"]
    assert list(schema["properties"]) == schema["required"] == [str(n) for n in turns]
    assert schema["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_reply_format_is_the_same_for_all_turns(language):
    rubric = load_rubric("card")
    texts = {built_in_values(rubric, Scope(t, ("turn",)), language)["reply_format"] for t in ((1,), (5, 6))}
    assert len(texts) == 1
    assert texts.pop().count('"issues"') == 1


def test_a_label_that_is_decided_first_stands_before_the_scores():
    whole = reply_schema(load_rubric("session-guarded"), Scope((1,), ("turn", "conversation")), "en")
    assert list(whole["properties"]) == ["failed_condition", "conversation_level"]
    guarded = load_personal("session_memory", guarded=True)
    one = reply_schema(guarded, Scope((1,), ("turn",)), "en")
    assert list(one["properties"]) == ["note", "failed_condition", "scores", "reason"]
    assert guarded.cap({"failed_condition": "wrong", "reason": "other"}) == 2  # a reason follows the score
    assert guarded.cap({"failed_condition": "none", "reason": "other"}) is None


def test_what_is_not_asked_for_is_not_in_the_schema():
    rubric = load_rubric("card")
    turn = reply_schema(rubric, Scope((4,), ("turn",)), "en")
    assert list(turn["properties"]) == ["per_turn"]
    whole = reply_schema(rubric, Scope((1, 2), ("conversation",)), "en")
    assert "per_turn" not in whole["properties"]
    part = reply_schema(rubric, Scope((1, 2), ("turn", "conversation"), part=(1, 2, 12)), "en")
    assert "verdict" not in part["properties"]


def test_the_prompt_of_single_turns_says_nothing_of_the_conversation_dimensions():
    rubric = load_rubric("card")
    values = built_in_values(rubric, Scope((4,), ("turn",)), "en")
    assert "coherence" not in values["dimensions"] + values["reply_format"]
    assert values["asked"] == "Asked for: turns 4."


def test_what_is_asked_names_the_part():
    rubric = load_rubric("card")
    scope = Scope((5, 6), ("turn", "conversation"), part=(5, 6, 12))
    assert (
        "from turn 5 to turn 6; the whole conversation has 12 turns"
        in (built_in_values(rubric, scope, "en")["asked"])
    )
    last = Scope((5, 6), ("turn", "conversation"), part=(5, 6, 6))
    assert "ends with it" in built_in_values(rubric, last, "en")["asked"]


def test_both_languages_have_the_same_phrases():
    assert set(frame("en")) == set(frame("zh"))
    for key, text in frame("en").items():
        assert set(re.findall(r"{{(\w+)}}", text)) == set(re.findall(r"{{(\w+)}}", frame("zh")[key])), key


def test_a_language_without_our_wording_gets_the_english_one():
    assert frame("fr") is frame("fr")
    assert frame("fr") == frame("en")
    assert own_template("reask", "fr") == own_template("reask", "en")
