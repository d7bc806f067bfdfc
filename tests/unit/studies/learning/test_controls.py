"""Controls of learning: what a twin of a system takes in, and what it recalls for."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from dialogauge.agents.memory import Feedback, NoMemory
from dialogauge.core import Conversation, Message, UsageError
from dialogauge.data.tasks import RoundFeedback, TaskRecord
from dialogauge.studies.learning.controls import control_of, controlled, other_questions, twins
from dialogauge.studies.learning.memories import Chunk, LearningSystem

CORPUS = Chunk("corpus", ((Conversation("s", (Message("user", "Hello."),)), None),), corpus=True)


def led(id, score, language="en", words=1):
    """A dialogue whose texts bear its id: a request, replies, and words after each but the last."""
    texts = [f"{id} asks", f"{id} wrong"]
    for number in range(words):
        texts += [f"{id} says {number}", f"{id} right {number}"]
    messages = tuple(Message(("user", "assistant")[n % 2], text) for n, text in enumerate(texts))
    rounds = tuple(RoundFeedback(n + 1, score=score + n, ended=n == words) for n in range(words + 1))
    return Conversation(id, messages, language=language), Feedback(rounds)


BATCH = Chunk(
    "logs 1", (led("a", 1), led("b", 3), led("c", 5), led("d", 7, "zh"), led("e", 1, "zh", words=0))
)
OTHER = [LearningSystem("x", lambda *_: NoMemory(), control="other-case")]
LOGS = (CORPUS, BATCH, Chunk("logs 2", (led("f", 4, words=0), led("g", 8, words=0))))


def texts(chunk):
    return [[m.text for m in talk.messages] for talk, _ in chunk.dialogues]


def scores(chunk):
    return [[one.score for one in said.rounds] if said else None for _, said in chunk.dialogues]


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_words_and_scores_go_to_other_replies_of_the_batch_and_language(seed) -> None:
    corpus, first, second = controlled(LOGS, "shuffled", seed)
    assert corpus is CORPUS
    assert [talk.id for talk, _ in first.dialogues] == list("abcde")
    for id, said in zip("abc", texts(first)[:3], strict=True):
        assert [said[0], said[1], said[3]] == [f"{id} asks", f"{id} wrong", f"{id} right 0"]
        assert said[2] in {f"{other} says 0" for other in "abc" if other != id}
    assert len({said[2] for said in texts(first)[:3]}) == 3
    assert texts(first)[3] == ["d asks", "d wrong", "d right 0"]  # nobody else spoke Chinese
    of = scores(first)
    assert Counter(s for own in of[:3] for s in own) == Counter([1, 2, 3, 4, 5, 6])
    own = [[1, 2], [3, 4], [5, 6], [7, 8], [1]]
    assert all(s != before for a, b in zip(of, own, strict=True) for s, before in zip(a, b, strict=True))
    assert sorted(of[3] + of[4]) == [1, 7, 8]
    assert scores(second) == [[8], [4]]
    assert [[(r.round, r.ended) for r in said.rounds] for _, said in first.dialogues[:1]] == [
        [(1, False), (2, True)]
    ]


def test_a_seed_gives_the_same_and_another_one_another() -> None:
    one, again, other = (controlled(LOGS, "shuffled", seed)[1].digest for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert BATCH.digest not in (one, other)


def test_what_a_reply_alone_has_is_left_out() -> None:
    (alone,) = controlled((Chunk("logs", (led("a", 3, words=0),)),), "shuffled", 0)
    assert alone.dialogues == ((led("a", 3, words=0)[0], None),)


def test_echo_holds_words_alone() -> None:
    corpus, first, second = controlled(LOGS, "echo", 0)
    assert (corpus, second.dialogues) == (CORPUS, ())
    assert texts(first) == [["a says 0"], ["b says 0"], ["c says 0"], ["d says 0"]]
    assert scores(first) == [None] * 4


def test_last_holds_the_last_dialogue_so_far() -> None:
    assert controlled((CORPUS,), "last", 0) == (CORPUS,)
    for given, id in ((LOGS[:2], "e"), (LOGS, "g")):
        corpus, last = controlled(given, "last", 0)
        assert (corpus, [talk.id for talk, _ in last.dialogues]) == (CORPUS, [id])
    assert controlled((BATCH, CORPUS), "last", 0)[1] is CORPUS


def test_other_case_and_no_control_take_in_all() -> None:
    assert controlled(LOGS, "other-case", 0) == controlled(LOGS, None, 0) == LOGS


def task(id, dataset):
    return TaskRecord(id, dataset, (Message("user", f"{id}?"),), {"answer": id})


@pytest.mark.parametrize("seed", range(3))
def test_each_question_is_asked_for_another_case_of_its_data_set(seed) -> None:
    tasks = [task(f"{name}{n}", name) for name in "xy" for n in range(5)]
    random.Random(seed).shuffle(tasks)
    others = other_questions(OTHER, tasks, seed)
    assert sorted(others.values()) == sorted(t.question for t in tasks)
    assert all(others[t.id] != t.question and others[t.id][0] == t.dataset for t in tasks)
    assert other_questions([], tasks, seed) == {}
    with pytest.raises(UsageError, match="no other question of z"):
        other_questions(OTHER, [*tasks, task("z1", "z")], seed)


def test_twins_are_named_for_their_control() -> None:
    system = LearningSystem("mine", lambda *_: NoMemory(), (BATCH,))
    of = twins(system, ("echo", "other-case"))
    assert [(one.name, one.control, one.logs) for one in of] == [
        ("mine (echo)", "echo", (BATCH,)),
        ("mine (other-case)", "other-case", (BATCH,)),
    ]
    assert [control_of(one.name) for one in (system, *of)] == [None, "echo", "other-case"]
