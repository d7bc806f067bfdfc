"""Choosing turns, finding them again, and putting another reply in their place."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import orjson
import pytest

from dialogauge.core import FileFault, Message, UsageError
from dialogauge.core.protocols import RatedReply, Reply
from dialogauge.studies.replay.items import ItemSet, read_items, replaced, set_stage
from dialogauge.studies.replay.selection import RULES, gold_mix, hard_picks, select_items, weigh_turn
from dialogauge.studies.satisfaction.blocks import collect_blocks
from rated import rated_talk, rated_users


def blocks(users=6):
    return collect_blocks(rated_users(users))[0]


DATA = {
    "inputs": ["log.jsonl"],
    "format": None,
    "map_file": None,
    "ratings_file": None,
    "dimension": "satisfaction",
    "part": "test",
    "split": {"train": [], "test": []},
}
SOURCE = {"source": "made", "licence": "ours"}


def chosen(rule, size=20, users=6, seed=0) -> ItemSet:
    return select_items(blocks(users), rule, size, seed=seed, data=DATA, source=SOURCE)


def test_rules() -> None:
    every = chosen("all")
    assert len(every.items) == sum(len(b.ratings) for b in blocks())
    assert every.card["gold"] == every.card["gold_of_all"]
    some = chosen("random")
    assert len(some.items) == 20
    assert some.items == chosen("random").items
    assert some.items != chosen("random", seed=1).items
    assert {i.id for i in chosen("hard").items} <= {i.id for i in every.items}
    assert min(i.position for i in chosen("hard").items) == 1


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_the_data_makes_no_difference(rule) -> None:
    turned = collect_blocks(reversed(rated_users(6)))[0]
    other = select_items(turned, rule, 20, data={}, source={"source": "made"})
    assert other.digest == chosen(rule).digest
    assert [i.id for i in other.items] == [i.id for i in chosen(rule).items]


@pytest.mark.parametrize("rule", RULES)
def test_no_state_shows_a_part_of_the_reply(rule) -> None:
    """Of two messages of the assistant in a row the second is rated: the first is a part of that answer."""
    talks = []
    for talk in rated_users(6):
        first = Message("assistant", "let me see")
        talks.append(replace(talk, messages=(*talk.messages[:-1], first, talk.messages[-1])))
    blocks = collect_blocks(talks)[0]
    rated = {r.reply.id: r.reply for b in blocks for r in b.ratings}
    items = select_items(blocks, rule, 90, data={}, source={}).items
    assert {rated[i.id].before[-1].role for i in items} == {"user"}


def test_stratified_keeps_the_mix_and_serves_users_alike() -> None:
    every, some = chosen("all", users=8), chosen("stratified", 40, users=8)
    assert len(some.items) == 40
    n = len(every.items)
    whole = Counter((i.gold, i.scenario) for i in every.items)
    mix = Counter((i.gold, i.scenario) for i in some.items)
    for key, count in whole.items():
        assert abs(mix[key] - 40 * count / n) < 1
    users = Counter(i.user for i in some.items)
    assert max(users.values()) - min(users.values()) <= 2


def test_the_card_describes_the_set() -> None:
    card = chosen("random").card
    assert card["source"] == "made"
    assert card["turns"] == 20 == sum(card["scenarios"].values()) == sum(card["languages"].values())
    assert card["turns_in_data"] == 90
    assert gold_mix([]) == {"counts": dict.fromkeys("12345", 0), "mean": None, "dissatisfied": None}
    assert gold_mix([3, 5])["dissatisfied"] == 0.5


def test_weights_of_the_published_rule() -> None:
    def weight(score, reason, request, text):
        messages = (Message("user", "x"), Message("assistant", "y"), Message("user", request))
        talk = replace(rated_talk("u", "s", 0, [1]), messages=(*messages, Message("assistant", text)))
        return weigh_turn(RatedReply(Reply("i", talk, 3, 2, 1), score, reason), "b", "u")

    long = "please tell me more about it, all of it"
    assert weight(3, "too vague", long, "a long answer that says a lot of things").weight == 8.5
    assert weight(2, "其它", long, "a long answer that says a lot of things").weight == 5.0
    assert weight(4, None, long, "好的！").weight == 1.5
    assert weight(5, None, "short", "fine").reasons == ("non_substantive", "positive_control_candidate")
    assert hard_picks(blocks(), 3)[0].user == "user0"


def test_nothing_to_choose() -> None:
    lonely = collect_blocks([rated_talk("u", "s", 0, [3, 4])])[0]
    with pytest.raises(UsageError, match="finds no turn"):
        select_items(lonely, "random", 5, data={}, source={})
    assert RULES == ("hard", "random", "stratified", "all")


def test_items_survive_their_file(tmp_path) -> None:
    file = tmp_path / "items.json"
    file.write_bytes(orjson.dumps(chosen("hard").to_json()))
    assert read_items(file) == chosen("hard")
    assert "answer" not in file.read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v.update(format="x"), "no item set"),
        (lambda v: v.pop("items"), "damaged"),
        (lambda v: v["items"].append(v["items"][0]), "in the set twice"),
        (lambda v: v["items"].pop(), "digest"),
        (lambda v: v["items"][0].pop("gold"), "damaged"),
    ],
)
def test_item_files_that_cannot_be_used(tmp_path, change, said) -> None:
    value = orjson.loads(orjson.dumps(chosen("random").to_json()))
    change(value)
    file = tmp_path / "items.json"
    file.write_bytes(orjson.dumps(value))
    with pytest.raises(FileFault, match=said):
        read_items(file)


def test_items_whose_prefix_is_gone_are_named_and_left_out() -> None:
    items = chosen("all")
    talks = rated_users(6)
    changed = [replace(t, messages=(Message("user", "other"), *t.messages[1:])) for t in talks]
    stage = set_stage(items, collect_blocks([changed[0], *talks[2:]])[0])
    assert len(stage.items) + len(stage.faults) == len(items.items)
    told = " ".join(str(f) for f in stage.faults)
    assert "its conversation or its rating is gone" in told
    assert "not those that were selected" in told
    assert set(stage.originals) == {i.id for i in stage.items}


def test_a_conversation_that_moved_to_another_scenario_is_gone() -> None:
    """It would be part of the history by which the rest of its old block is judged."""
    items, talks = chosen("all"), rated_users(6)
    moved = replace(talks[0], scenario="gift")
    stage = set_stage(items, collect_blocks([moved, *talks[1:]])[0])
    gone = [i.id for i in items.items if i.conversation == moved.id]
    assert len(gone) == len(stage.faults) == 2
    assert not set(gone) & set(stage.originals)


def test_another_reply_stands_in_the_same_state() -> None:
    original = blocks()[0].ratings[1].reply
    other = replaced(original, "something else")
    assert other.text == "something else"
    assert other.before == original.before
    assert other.conversation.messages[-1] == Message("assistant", "something else")
    assert other.conversation.id == original.id != original.conversation.id
    assert (other.id, other.turn, other.position) == (original.id, original.turn, original.position)
