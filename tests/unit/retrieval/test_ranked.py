from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.retrieval import EMBEDDED, FEATURES, RankedIndex
from dialogauge.retrieval.ranked import linear, load_weights
from sets import examples

TALK = [
    ("1", "Hello, how was your weekend?", "Ann", "s1", "8 July, 2023"),
    ("2", "I went to the museum yesterday.", "Ben", "s1", "8 July, 2023"),
    ("3", "Which museum was it?", "Ann", "s1", "8 July, 2023"),
    ("4", "The one with the trains.", "Ben", "s1", "8 July, 2023"),
    ("5", "Museums are dull.", "Ann", "s2", "9 June, 2023"),
]


def index_of(rows) -> RankedIndex:
    index = RankedIndex()
    for row in rows:
        index.add(*row)
    return index


def by_name(index: RankedIndex, query: str) -> dict[str, list[float]]:
    numbers, features = index.features(query, len(index))
    assert numbers.tolist() == list(range(len(index)))
    return dict(zip(FEATURES, features.tolist(), strict=True))


def test_the_features_by_hand() -> None:
    of = by_name(index_of(TALK), "When did Ben go to the museum in July?")
    matching = [value > 0 for value in of["own"]]
    assert matching == [False, True, True, False, True]
    assert [value > 0 for value in of["before"]] == [False, False, True, True, False]
    assert of["before"][2] == of["own"][1]
    assert of["two_before"][3] == of["own"][1]
    assert of["two_after"][:2] == [of["own"][2], 0]
    assert of["answers"] == [0, 0, 0, of["own"][2], 0]  # of the two that match before one, 3 asks
    assert of["speaker"] == [0, 1, 0, 1, 0]
    assert of["question"] == [1, 0, 1, 0, 0]
    assert of["first_person"] == [0, 1, 0, 0, 0]
    assert of["when"] == [1, 1, 0, 0, 0]  # weekend, yesterday
    assert of["opening"] == [1, 1, 0, 0, 1]
    # "july" is in one header of two: ln(1 + 1.5 / 1.5)
    assert of["header"] == pytest.approx([0.693147] * 4 + [0], abs=1e-6)
    # Of two sessions the first has the term twice among 7, the second once among 2; mean 4.5; df 2:
    # ln 1.2 * 2 / (2 + 1.5 * (.25 + .75 * 7 / 4.5)), and 1 / (1 + 1.5 * (.25 + .75 * 2 / 4.5))
    idf = np.log(1 + 0.5 / 2.5)
    lengths = [sum(index_of([row])._lengths[0] for row in rows) for rows in (TALK[:4], TALK[4:])]
    mean = sum(lengths) / 2
    first, second = (
        idf * tf / (tf + 1.5 * (0.25 + 0.75 * length / mean))
        for tf, length in zip((2, 1), lengths, strict=True)
    )
    assert of["session"] == pytest.approx([first] * 4 + [second])


def test_no_time_is_asked_for() -> None:
    assert set(by_name(index_of(TALK), "What did Ben see in the museum?")["when"]) == {0}


def test_what_stands_together_is_one_text() -> None:
    of = by_name(index_of(TALK), "trains museum")
    # 4 has the trains, 3 before it the museum.
    assert int(np.argmax(of["with_before"])) == 3
    assert of["with_both"][1] > 0
    assert of["with_before"][0] == 0


def test_of_a_text_itself_the_grams_are_alike() -> None:
    of = by_name(index_of([*TALK, ("6", "trains", None, "s3", "")]), "trains")
    assert of["grams"][5] == pytest.approx(1)
    assert of["cosine"][5] == pytest.approx(1)
    assert of["grams"][3] == pytest.approx(1)  # every gram of the query, among others
    assert 0 < of["cosine"][3] < 1
    assert of["grams_before"][4] == 0


def test_a_named_speaker_is_no_term() -> None:
    index = index_of([("1", "Thanks, Ben!", "Ann", "s", ""), ("2", "I bought trains.", "Ben", "s", "")])
    assert index.search("What did Ben buy?", 1)[0][0] == "2"
    index.remove("2")
    # Nobody of this name is left: it is a word as others.
    assert by_name(index_of([("1", "Thanks, Ben!", "Ann", "s", "")]), "Ben")["own"][0] > 0
    assert index.search("Ben", 1) == index_of([("1", "Thanks, Ben!", "Ann", "s", "")]).search("Ben", 1)


def test_groups_stand_by_their_best_message() -> None:
    index = index_of(TALK)
    query = "Who went to a museum yesterday?"
    best = dict(index.search(query, 5))
    groups = index.search_groups(query, 5)
    assert dict(groups) == {"s1": max(best[id] for id in "1234"), "s2": best["5"]}
    assert groups[0][0] == "s1"
    alone = index_of([("1", "museum", None, None, ""), ("2", "trains", None, None, "")])
    assert alone.search_groups("museum", 1)[0][0] == "1"


def test_an_empty_index_and_a_query_without_words() -> None:
    assert RankedIndex().search("museum", 3) == []
    assert RankedIndex().search_groups("museum", 3) == []
    assert len(index_of(TALK).search("", 3)) == 3
    assert len(index_of(TALK).search("?!", 9)) == 5
    with pytest.raises(ValueError, match="at least 1"):
        index_of(TALK).search("museum", 0)
    with pytest.raises(ValueError, match="already"):
        index_of([*TALK, TALK[0]])


def test_chinese() -> None:
    rows = [
        ("1", "你周末去了哪里？", "小王", "s", ""),
        ("2", "我去了京都的一家咖啡馆", "李雷", "s", ""),
        ("3", "听起来不错", "小王", "s", ""),
    ]
    assert index_of(rows).search("李雷什么时候去了咖啡馆", 1)[0][0] == "2"


def test_a_copy_changes_on_its_own() -> None:
    index = index_of(TALK)
    twin = index.copy()
    expected = index.search("When was Ben in the museum?", 5)
    twin.remove("2")
    twin.add("7", "The museum of trains.", "Cem", "s2", "")
    assert index.search("When was Ben in the museum?", 5) == expected
    rebuilt = index_of([*TALK[:1], *TALK[2:], ("7", "The museum of trains.", "Cem", "s2", "")])
    assert twin.search("Cem museum", 5) == rebuilt.search("Cem museum", 5)


def test_of_many_messages_the_first_are_looked_at_closely() -> None:
    rows = [(f"{i:04}", f"The museum of {i % 7} trains", "Ann", f"s{i // 20}", "") for i in range(2500)]
    index = index_of([*rows, ("x", "Ann likes the museum of trains in Kyoto", "Ann", "t", "")])
    assert index.search("Does Ann like museums with trains in Kyoto?", 1)[0][0] == "x"
    assert len(index.search("museum", 400)) == 400


WORDS = ("museum", "trains", "yesterday", "I", "Ann", "京都旅行", "?")
ROWS = st.tuples(
    st.sampled_from("abcdefghij"),
    st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
    st.sampled_from(["Ann", "Ben", None]),
    st.sampled_from(["s1", "s2", None]),
)


@examples(200)
@given(st.lists(ROWS, max_size=30), st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join))
def test_it_equals_a_rebuild(steps, query) -> None:
    index, rows = RankedIndex(), {}
    for id, *rest in steps:
        if id in rows:
            index.remove(id)
            del rows[id]
        else:
            rows[id] = (id, *rest, f"May {rest[2]}")
            index.add(*rows[id])
    rebuilt = index_of(rows.values())
    assert index.search(query, 4) == rebuilt.search(query, 4)
    assert index.search_groups(query, 2) == rebuilt.search_groups(query, 2)


def test_the_gaps_are_closed() -> None:
    rows = [(f"{i:03}", f"museum {i % 9} trains", "Ann", f"s{i // 10}", f"{i // 10} May") for i in range(200)]
    index = index_of(rows)
    for row in rows[:150]:
        index.remove(row[0])
    assert len(index._ids) < 150
    assert index.search("3 trains of 17 May", 9) == index_of(rows[150:]).search("3 trains of 17 May", 9)


def test_a_score_adds_up() -> None:
    index = index_of(TALK)
    numbers, features = index.features("museum", 5)
    weights = load_weights()["all"]
    assert set(weights) == set(FEATURES)
    assert set(load_weights()["early"]) < set(FEATURES)
    assert set(load_weights()["embedded"]) == set(EMBEDDED)
    scores = linear(features, FEATURES, weights)
    assert scores == pytest.approx(np.array([weights[name] for name in FEATURES]) @ features)
    assert index.search("museum", 1)[0][1] == scores.max()
    assert numbers.tolist() == [0, 1, 2, 3, 4]


def with_vectors() -> RankedIndex:
    index = index_of(TALK)
    for id, vector in {"1": [1, 0], "2": [0, 1], "4": [0, -1], "5": [-1, 0]}.items():
        index.embed(id, vector)
    return index


def test_the_cosines_by_hand() -> None:
    index = with_vectors()
    numbers, features = index.features("What about the trains?", 5, [1, 0])
    assert numbers.tolist() == [0, 1, 2, 3, 4]
    of = dict(zip(EMBEDDED, features.tolist(), strict=True))
    # Cosines 1, 0, 0, -1: mean 0, deviation the root of one half. 3 has no vector, and counts as the mean.
    assert of["vector"] == pytest.approx([2**0.5, 0, 0, 0, -(2**0.5)])
    assert of["vector_before"] == pytest.approx([0, 2**0.5, 0, 0, 0])
    assert of["vector_after"] == [0, 0, 0, 0, 0]
    assert index.features("What about the trains?", 5)[1].shape == (len(FEATURES), 5)
    assert index_of(TALK).features("trains", 5, [1, 0])[1].shape == (len(FEATURES), 5)


def test_what_is_near_is_found_without_a_common_word() -> None:
    index = with_vectors()
    assert index.search("Any locomotives?", 1, [0, -1])[0][0] == "4"
    assert index.search_groups("Any locomotives?", 1, [-1, 0])[0][0] == "s2"
    rows = [(f"r{i:03}", f"trains {i % 5}", "Ann", f"g{i}", "") for i in range(400)]
    index = index_of([*rows, ("x", "Locomotives", "Ann", "g", "")])
    for row in rows:
        index.embed(row[0], [1, 0.01])
    index.embed("x", [0, 1])
    assert index.search("Any trains?", 1, [0, 1])[0][0] == "x"


def test_embeddings_come_and_go_with_their_messages() -> None:
    index = with_vectors()
    twin = index.copy()
    expected = index.search("museum", 5, [0, 1])
    index.remove("2")
    index.add(*TALK[1])  # without its vector
    assert [id for id, _ in twin.search("museum", 5, [0, 1])] == [id for id, _ in expected]
    assert twin.search("museum", 5, [0, 1]) == expected
    assert index.search("museum", 5, [0, 1]) != expected
    index.embed("2", [0, 1])
    with pytest.raises(ValueError, match="already"):
        index.embed("2", [0, 1])
    with pytest.raises(KeyError):
        index.embed("9", [0, 1])
    with pytest.raises(ValueError, match="2 finite numbers"):
        index.search("museum", 1, [1, 0, 0])
    for id in "1245":
        index.remove(id)
    assert len(index.search("museum", 5, [0, 1])) == 1


def test_embeddings_stay_where_the_gaps_are_closed() -> None:
    rows = [(f"{i:03}", f"museum {i % 9}", "Ann", f"s{i // 10}", "") for i in range(200)]
    rng = np.random.default_rng(0)
    vectors = {row[0]: rng.normal(size=8) for row in rows}
    index, rebuilt = index_of(rows), index_of(rows[150:])
    for row in rows:
        index.embed(row[0], vectors[row[0]])
    for row in rows[150:]:
        rebuilt.embed(row[0], vectors[row[0]])
    for row in rows[:150]:
        index.remove(row[0])
    expected = dict(rebuilt.search("museum 7", 9, vectors["000"]))
    assert dict(index.search("museum 7", 9, vectors["000"])) == pytest.approx(expected, abs=1e-6)
