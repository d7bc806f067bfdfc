import contextlib
import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.judges.rubric.reply import Item, ReplyFault, cut_basis, parse_parts, parse_reply, share
from dialogauge.rubrics import Scope, load_personal, load_rubric, reply_schema
from rubric_samples import card_reply, ideal, listed

CARD = load_rubric("card")
BOTH = Scope((1, 2), ("turn", "conversation"))
FINE = {1: (5, 5, 5), 2: (4, 3, 5)}


def put(path, value, reply=None):
    """Return a fine card reply with one value replaced, or removed where `value` is `...`."""
    reply = reply or card_reply(FINE)
    spot = reply
    for key in path[:-1]:
        spot = spot[key]
    if value is ...:
        del spot[path[-1]]
    else:
        spot[path[-1]] = value
    return reply


def test_a_fine_reply_is_read():
    reply = parse_reply(CARD, BOTH, card_reply(FINE, weakest_turn=2, verdict="poor"))
    assert reply.turns[2].scores == {"context_use": 4, "helpfulness": 3, "safety": 5}
    assert reply.whole.scores == {"coherence": 5, "task_completion": 5, "repair_handling": "n/a"}
    assert reply.whole.notes["coherence"] == "note on coherence"
    assert (reply.weakest_turn, reply.verdict, reply.extra_keys) == (2, "poor", 0)


SCORE = ("per_turn", "2", "scores", "helpfulness")
AT = "per_turn.2.scores.helpfulness: expected a whole number from 1 to 5, found "
ENTRY = ("per_turn", "2")
WRONG = [
    (SCORE, 4.5, AT + "4.5"),
    (SCORE, 3.0, AT + "3.0"),
    (SCORE, "4", AT + '"4"'),
    (SCORE, "five", AT + '"five"'),
    (SCORE, True, AT + "true"),
    (SCORE, None, AT + "null"),
    (SCORE, 0, AT + "0"),
    (SCORE, 6, AT + "6"),
    (SCORE, "n/a", AT + '"n/a"'),
    (SCORE, [4], AT + "[4]"),
    (SCORE, ..., "per_turn.2.scores.helpfulness: missing"),
    ((*ENTRY, "scores", "charm"), 5, "per_turn.2.scores.charm: no such dimension"),
    ((*ENTRY, "scores"), [5, 5, 5], "per_turn.2.scores: expected an object"),
    ((*ENTRY, "issues"), None, "per_turn.2.issues: expected a list of texts, found null"),
    ((*ENTRY, "issues"), "none", "per_turn.2.issues: expected a list of texts"),
    ((*ENTRY, "issues"), [1], "per_turn.2.issues: expected a list of texts"),
    ((*ENTRY, "issues"), ..., "per_turn.2.issues: missing"),
    ((*ENTRY, "evidence"), ["x"], "per_turn.2.evidence: expected a list of {dimension, quote}"),
    ((*ENTRY, "evidence"), [{"dimension": [], "quote": "x"}], "per_turn.2.evidence"),
    ((*ENTRY, "turn"), 1, "per_turn.2.turn: expected 2, found 1"),
    ((*ENTRY, "turn"), "2", 'per_turn.2.turn: expected 2, found "2"'),
    (ENTRY, "x", 'per_turn.2: expected an object, found "x"'),
    (ENTRY, ..., "per_turn: no entry for turn 2"),
    (("per_turn", "3"), {}, "per_turn.3: turn 3 was not asked for"),
    (("per_turn", "turn 2"), {}, 'per_turn.turn 2: expected the number of a turn, found "turn 2"'),
    (("per_turn", "02"), {}, 'per_turn.02: expected the number of a turn, found "02"'),
    (("per_turn",), "x", "per_turn: expected an object with an entry under the number of each turn"),
    (("per_turn",), {}, "per_turn: no entry for turn 1; per_turn: no entry for turn 2"),
    (("per_turn",), [], "per_turn: no entry for turn 1; per_turn: no entry for turn 2"),
    (("per_turn",), ..., "per_turn: missing"),
    (("conversation_level",), ..., "conversation_level: missing"),
    (("conversation_level",), 5, "conversation_level: expected an object, found 5"),
    (("conversation_level", "coherence"), 5, "conversation_level.coherence: expected an object with note"),
    (("conversation_level", "coherence"), ..., "conversation_level.coherence: missing"),
    (("conversation_level", "flow"), {}, "conversation_level.flow: no such dimension"),
    (("conversation_level", "coherence", "score"), "n/a", "coherence.score: expected a whole number"),
    (("conversation_level", "coherence", "note"), 3, "coherence.note: expected a text, found 3"),
    (
        ("conversation_level", "repair_handling", "score"),
        "N/A",
        'repair_handling.score: expected a whole number from 1 to 5 or "n/a", found "N/A"',
    ),
    (("conversation_level", "repair_handling", "score"), None, "found null"),
    (("weakest_turn",), 3, "weakest_turn: expected one of the turns 1, 2, or null, found 3"),
    (("weakest_turn",), True, "weakest_turn"),
    (("weakest_turn",), 1.0, "weakest_turn"),
    (("weakest_turn",), ..., "weakest_turn: missing"),
    (("decision_basis",), None, "decision_basis: expected a text, found null"),
    (("decision_basis",), ..., "decision_basis: missing"),
    (("verdict",), "great", 'verdict: expected one of excellent, good, borderline, poor, found "great"'),
]


@pytest.mark.parametrize(("path", "value", "said"), WRONG, ids=[f"{c[0][-1]}={c[1]}" for c in WRONG])
def test_what_does_not_fit_is_refused_with_path_and_value(path, value, said):
    with pytest.raises(ReplyFault) as caught:
        parse_reply(CARD, BOTH, put(path, value))
    assert said in str(caught.value)


LISTED = [
    (("scores", "helpfulness"), 4.5, "per_turn[1].scores.helpfulness: expected a whole number from 1 to 5"),
    (
        ("turn",),
        3,
        "per_turn[1].turn: turn 3 was not asked for; per_turn: turn 3 was not asked for, and turn 2 has no "
        "entry: are the turns counted from 1, as in the dialogue?",
    ),
    (("turn",), 1, "per_turn[1].turn: turn 1 appears twice; per_turn: no entry for turn 2"),
    (("turn",), "2", 'per_turn[1].turn: expected the number of a turn, found "2"'),
    (("turn",), True, "per_turn[1].turn: expected the number of a turn, found true"),
    (("turn",), ..., "per_turn[1].turn: expected the number of a turn, found null"),
    ((), "x", "per_turn[1]: expected an object"),
    ((), ..., "per_turn: no entry for turn 2"),
]


@pytest.mark.parametrize(("path", "value", "said"), LISTED)
def test_what_does_not_fit_in_a_list_of_entries_is_refused_alike(path, value, said):
    with pytest.raises(ReplyFault) as caught:
        parse_reply(CARD, BOTH, put(("per_turn", 1, *path), value, listed(card_reply(FINE))))
    assert said in str(caught.value)


def test_both_forms_of_the_turns_are_read_alike():
    keyed = card_reply(FINE)
    assert parse_reply(CARD, BOTH, listed(keyed)) == parse_reply(CARD, BOTH, keyed)
    for turn, entry in keyed["per_turn"].items():
        entry["turn"] = int(turn)  # says once more what its key says
    assert parse_reply(CARD, BOTH, keyed).extra_keys == 0


def test_more_turns_than_asked_are_a_failure():
    with pytest.raises(ReplyFault, match="turn 3 was not asked for"):
        parse_reply(CARD, BOTH, card_reply({**FINE, 3: (5, 5, 5)}))


@pytest.mark.parametrize("numbers", [(0, 1, 2), (2, 3, 4), (1, 2, 4), (2, 4, 6), (0, 1), (3, 4, 5, 6)])
def test_turns_that_are_counted_otherwise_are_nobodys(numbers):
    asked = Scope((1, 2, 3), ("turn", "conversation"))
    answer = card_reply(dict.fromkeys(numbers, (5, 5, 5)))
    reply = parse_parts(CARD, asked, answer)
    assert not reply.turns
    assert reply.faults.keys() == {1, 2, 3}
    reply = parse_parts(CARD, asked, answer | {"weakest_turn": 2})
    assert reply.weakest_turn is None
    assert "are the turns counted from 1" in reply.faults[None]


def test_an_entry_too_many_or_one_too_few_leaves_the_others():
    asked = Scope((1, 2, 3), ("turn", "conversation"))
    for numbers in ((1, 2, 3, 4), (0, 1, 2, 3), (1, 3)):
        reply = parse_parts(CARD, asked, card_reply(dict.fromkeys(numbers, (5, 5, 5)), weakest_turn=1))
        assert reply.turns.keys() == {1, 2, 3} & set(numbers)
        assert reply.weakest_turn == 1


def test_all_faults_are_named_at_once_up_to_a_number():
    with pytest.raises(ReplyFault) as caught:
        parse_reply(CARD, BOTH, card_reply({1: (0, 0, 0), 2: (0, 0, 0)}, (0, 0, 0)))
    assert str(caught.value).count("found 0") == 8
    assert str(caught.value).endswith("and 1 more")


def test_evidence_may_be_left_out_and_other_keys_are_counted():
    reply = card_reply(FINE, mood="fine")
    for entry in reply["per_turn"].values():
        del entry["evidence"]
        entry["role"] = "assistant"
    reply["conversation_level"]["coherence"]["why"] = "x"
    parsed = parse_reply(CARD, BOTH, reply)
    assert parsed.extra_keys == 4
    assert parsed.turns[1].quotes == ()


def test_a_window_is_not_asked_for_a_verdict():
    scope = Scope((1, 2), ("turn", "conversation"), part=(1, 2, 12))
    reply = card_reply(FINE)
    del reply["verdict"]
    assert parse_reply(CARD, scope, reply).verdict is None


SAT = load_rubric("satisfaction")


@pytest.mark.parametrize(
    ("score", "reason", "fits"),
    [
        (5, "satisfied", True),
        (4, "satisfied", True),
        (3, "satisfied", False),
        (3, "other", True),
        (1, "not_usable", True),
        (4, "insufficient_detail", False),
        (2, "bored", False),
        (2, None, False),
    ],
)
def test_the_reason_must_fit_the_class(score, reason, fits):
    reply = {"note": "x", "scores": {"satisfaction": score}, "reason": reason}
    if fits:
        part = parse_reply(SAT, Scope((3,), ("turn",)), reply).turns[3]
        assert (part.scores, part.labels) == ({"satisfaction": score}, {"reason": reason})
    else:
        with pytest.raises(ReplyFault, match="reason: "):
            parse_reply(SAT, Scope((3,), ("turn",)), reply)


FACTS = load_rubric("factuality")


def claims(*labels):
    return {
        "claims": [
            {"claim": f"claim {i}", "label": label, "quote": "words"} for i, label in enumerate(labels)
        ]
    }


@pytest.mark.parametrize(
    ("labels", "score"),
    [
        ((), "n/a"),
        (("unverifiable",), "n/a"),
        (("supported",), 1.0),
        (("contradicted",), 0.0),
        (("supported", "contradicted", "unverifiable", "supported"), 2 / 3),
    ],
)
def test_the_share_of_supported_claims_is_computed_by_us(labels, score):
    part = parse_reply(FACTS, Scope((1,), ("turn",)), claims(*labels)).turns[1]
    assert part.scores == {"factuality": score}
    assert len(part.items["claims"]) == len(labels)


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"claims": None},
        {"claims": ["x"]},
        claims("true"),
        {"claims": [{"claim": "x", "quote": " ", "label": "contradicted"}]},
        {"claims": [{"claim": "x", "label": "contradicted"}]},
        {"claims": [{"claim": "x", "quote": 3, "label": "supported"}]},
        {"claims": [{"label": "supported"}]},
        {"claims": [{"claim": "x", "label": []}]},
    ],
)
def test_claims_that_are_none_are_refused(reply):
    with pytest.raises(ReplyFault, match="claims"):
        parse_reply(FACTS, Scope((1,), ("turn",)), reply)


def test_sub_goals_count_half_when_partly_met():
    task = load_rubric("task")
    found = (Item("a", "met"), Item("b", "partly"), Item("c", "missed"))
    assert share(task.items[0], found) == pytest.approx(0.5)


WORDS = " ".join(f"w{i}" for i in range(41))


def test_a_basis_of_forty_words_is_kept_and_the_next_is_cut():
    forty = " ".join(WORDS.split()[:40])
    assert cut_basis(forty) == (forty, False)
    assert cut_basis(WORDS) == (forty + "…", True)


def test_a_basis_of_eighty_chinese_characters_is_kept_and_the_next_is_cut():
    assert cut_basis("好" * 80 + "。") == ("好" * 80 + "。", False)
    assert cut_basis("好，" * 81) == (("好，" * 80)[:-1] + "…", True)


def test_a_long_basis_is_cut_and_told():
    parsed = parse_reply(CARD, BOTH, card_reply(FINE, decision_basis=WORDS))
    assert parsed.basis_cut
    assert len(parsed.decision_basis.split()) == 40


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("form", [dict, listed])
@given(data=st.data())
def test_no_reply_makes_the_parser_fall_over(form, data):
    """Whatever stands in whatever place: a parsed reply or a ReplyFault, nothing else."""
    reply = form(copy.deepcopy(ideal(reply_schema(CARD, BOTH, "en"))))
    spot, path = reply, []
    while isinstance(spot, dict | list) and spot and (not path or data.draw(st.booleans())):
        key = data.draw(st.sampled_from(sorted(spot) if isinstance(spot, dict) else range(len(spot))))
        parent, spot = spot, spot[key]
        path.append(key)
    parent[path[-1]] = data.draw(JSON)
    reply = json.loads(json.dumps(reply))
    with contextlib.suppress(ReplyFault):
        parsed = parse_reply(CARD, BOTH, reply)
        assert set(parsed.turns) == {1, 2}
        for part in (*parsed.turns.values(), parsed.whole):
            assert all(value == "n/a" or value in (1, 2, 3, 4, 5) for value in part.scores.values())


def test_a_value_nested_without_end_is_named():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ReplyFault, match=r"per_turn\.2\.scores\.helpfulness.*nested too deep"):
        parse_reply(CARD, BOTH, put(SCORE, deep))


@pytest.mark.parametrize(
    ("found", "score"),
    [
        ("4", 4),
        (" 4 ", 4),
        ("04", None),
        ("４", None),
        ("4\n", None),
        ("4.0", None),
        ("four", None),
        ("", None),
        ("9", None),
        ("-1", None),
        (4, 4),
    ],
)
def test_whole_numbers_in_quotes_where_the_rubric_allows_them(found, score):
    rubric, scope = load_personal("zero_shot"), Scope((1,), ("turn",))
    data = {"note": "x", "scores": {"satisfaction": found}, "reason": "满意"}
    if score is None:
        with pytest.raises(ReplyFault, match=r"scores\.satisfaction: expected a whole number from 1 to 5"):
            parse_reply(rubric, scope, data)
    else:
        part = parse_reply(rubric, scope, data).turns[1]
        assert (part.scores, part.labels) == ({"satisfaction": score}, {"reason": "satisfied"})
