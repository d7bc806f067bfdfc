"""Conversations that nobody rated: which replies are chosen, and what is known of their users."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import orjson
import pytest

from dialogauge.core import UsageError
from dialogauge.studies.replay.contexts import MEMORIES, Prompter, refuse_empty_context
from dialogauge.studies.replay.items import read_items, scene_name, set_plain_stage
from dialogauge.studies.replay.selection import plain_picks, select_items
from talks import talk

DATA = {
    "inputs": ["log.jsonl"],
    "format": None,
    "map_file": None,
    "ratings_file": None,
    "dimension": "satisfaction",
    "part": "all",
    "split": {"train": [], "test": []},
}


def card(**more):
    return {"source": "log.jsonl", "licence": "not stated", **more}


def chosen(talks, rule="all", size=300, seed=0):
    return select_items((), rule, size, seed=seed, data=DATA, source=card(), unrated=talks)


def two(n=3, **more):
    return [talk(f"u: question {i}", f"a: answer {i}", id=f"c{i}", **more) for i in range(n)]


def test_a_reply_is_chosen_that_answers_in_words() -> None:
    """The greeting answers nobody, the call has no words, and the second message would show the first."""
    one = talk(
        *("a: Hello, how can I help?", "u: Is it open?", "c: hours", "t: nine to five"),
        *("a: From nine to five.", "a: Every day.", "u: And on Monday?", "a:  "),
        id="c",
    )
    (pick,) = plain_picks([one])
    assert (pick.id, pick.reply.text, pick.reply.turn) == ("c__turn_2", "From nine to five.", 1)
    assert (pick.user, pick.block, pick.scenario, pick.score) == ("c", "c__c", "", None)


def test_users_and_scenarios_where_the_log_states_them() -> None:
    (pick,) = plain_picks([talk("u: hi", "a: hello", id="c", user_id="ann", scenario="shop")])
    assert (pick.user, pick.block, pick.scenario) == ("ann", "ann__shop", "shop")


def test_strata_are_scenario_and_language() -> None:
    """Twelve of one kind, six of another, two of a third: ten are six, three and one."""
    english = [talk("u: where is it", "a: there", id=f"e{i}", scenario="shop") for i in range(12)]
    chinese = [talk("u: 它在哪里呢", "a: 在那里", id=f"z{i}", scenario="shop") for i in range(6)]
    help_ = [talk("u: where is it", "a: there", id=f"h{i}", scenario="help") for i in range(2)]
    items = chosen([*english, *chinese, *help_], "stratified", 10)
    assert Counter(i.id[0] for i in items.items) == {"e": 6, "z": 3, "h": 1}
    assert chosen([*help_, *chinese, *english], "stratified", 10).digest == items.digest


def test_the_set_says_that_nobody_rated_it(tmp_path) -> None:
    items = chosen(two())
    assert (items.rated, items.clusters, items.selected_on_gold) == (False, "conversations", False)
    assert items.card["gold"] is None
    assert items.card["scenarios"] == {}
    assert chosen(two(user_id="ann")).clusters == "users"
    file = tmp_path / "items.json"
    file.write_bytes(orjson.dumps(items.to_json()))
    assert read_items(file) == items


def test_what_cannot_be_chosen_is_refused() -> None:
    with pytest.raises(UsageError, match="'hard' chooses by what users rated"):
        chosen(two(), "hard")
    with pytest.raises(UsageError, match="no reply to replay in 2 conversations"):
        chosen([talk("u: hello?", id="a"), talk("a: hello", id="b")])


def test_items_are_found_again_or_named() -> None:
    talks = two(4)
    items = chosen(talks)
    other = talk("u: another question", "a: answer 1", id="c1")
    stage = set_plain_stage(items, [talks[0], other, replace(talks[3], user_id="ann")])
    assert [i.id for i in stage.items] == ["c0__turn_0"]
    told = [str(f) for f in stage.faults]
    assert len(told) == 3
    assert "not those that were selected" in told[0]
    assert "its conversation is gone" in told[1]
    assert "its conversation is gone" in told[2]
    assert stage.originals["c0__turn_0"].conversation.messages == talks[0].messages
    assert stage.rated == {}


def test_the_original_stands_without_what_followed() -> None:
    one = talk("u: one", "a: first", "u: two", "a: second", id="c")
    stage = set_plain_stage(chosen([one]), [one])
    assert [len(r.conversation.messages) for r in stage.originals.values()] == [2, 4]


def known():
    """Ann in two scenarios, twice in one; a visitor without a name."""
    return [
        talk("u: the shop", "a: is open", id="a1", user_id="ann", scenario="shop", profile={"job": "cook"}),
        talk("u: the shop again", "a: is shut", id="a2", user_id="ann", scenario="shop"),
        talk("u: the train", "a: has left", id="a3", user_id="ann", scenario="trip", context="find a train"),
        talk("u: who are you", "a: nobody", id="v"),
    ]


def test_a_scene_holds_the_users_other_scenarios() -> None:
    stage = set_plain_stage(chosen(known()), known())
    assert [r.id for r in stage.scenes["ann__shop"].past] == ["a3__turn_0"]
    assert [r.id for r in stage.scenes["ann__trip"].past] == ["a1__turn_0", "a2__turn_0"]
    assert stage.scenes["v__v"].past == ()
    assert stage.scenes["ann__trip"].profile == {"job": "cook"}
    assert stage.scenes["v__v"].profile is None


def test_without_scenarios_every_other_conversation_is_remembered() -> None:
    talks = two(3, user_id="ann")
    stage = set_plain_stage(chosen(talks), talks)
    assert [r.id for r in stage.scenes["ann__c1"].past] == ["c0__turn_0", "c2__turn_0"]
    assert scene_name(talks[0]) == "c0"
    reply = stage.originals["c1__turn_0"]
    for context in MEMORIES[:2]:
        prompted = Prompter(stage.scenes["ann__c1"], context).prompt(reply)
        assert {name for name, _ in prompted.memory} == {"c0__turn_0", "c2__turn_0"}
        assert "about None" not in prompted.conversation.messages[0].text


@pytest.mark.parametrize("context", ["task", "profile", *MEMORIES])
def test_a_context_that_would_add_nothing_is_refused(context) -> None:
    stage = set_plain_stage(chosen(two()), two())
    with pytest.raises(UsageError, match=f"--context {context} would add nothing: no"):
        refuse_empty_context(context, stage)
    refuse_empty_context(context, set_plain_stage(chosen(known()), known()))
    refuse_empty_context("prefix", stage)
