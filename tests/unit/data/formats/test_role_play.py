"""Rated role-play: CharacterBench and sotopia; all rows are our own."""

import copy
import json

import pytest

from dialogauge.core import Conversation, RecordFault
from dialogauge.data import read_conversations
from fuzzing.samples import SAMPLES

BENCH, TABLE = SAMPLES["characterbench"]
EPISODE, UNRATED = SAMPLES["sotopia"]


def read(tmp_path, *records, notes=None):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    if notes is not None:
        notes += [n.text for n in reader.notes]
    return outcomes


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


def changed(record, **fields):
    return {**copy.deepcopy(record), **fields}


def test_the_last_exchange_of_characterbench_is_judged_alone_and_its_character_is_told(tmp_path):
    talk, _ = read(tmp_path, BENCH, TABLE)
    assert said(talk)[0] == ("system", "Keeper of a lighthouse, gruff, says 'mind the step'.")
    assert said(talk)[-2:] == [("user", "May I come up?"), ("assistant", "Mind the step.")]
    assert talk.prefix == 3  # system, and one exchange
    assert (talk.user_id, talk.scenario, talk.candidate, talk.language) == ("Keeper", "Keeper", "m", "en")
    assert [(r.dimension, r.score, r.turn) for r in talk.ratings] == [("engagement", 3, None)]
    assert talk.metadata["judge_pred_en"] == 2.0
    assert "judge_pred_en" not in talk.blinded().metadata


def test_a_table_about_a_character_is_written_as_lines_and_a_record_may_be_unrated(tmp_path):
    _, talk = read(tmp_path, BENCH, TABLE)
    assert talk.instructions == "name: Mo\nlikes: tea, rain\nage: 40"
    assert (talk.ratings, talk.user_id) == ((), None)


def test_each_rated_agent_of_an_episode_is_an_assistant(tmp_path):
    (talk,) = read(tmp_path, EPISODE)
    assert talk.id == "e-1__Ben Reed"
    assert said(talk) == [
        ("system", "Ben grows beans.\ngoal: Plant beans"),
        ("user", "Roses by the wall?"),
        ("assistant", "Half roses, half beans."),
    ]
    assert (talk.user_id, talk.scenario, talk.candidate) == ("Ben Reed", "garden", "m-7")
    assert talk.context == "Two neighbours share a garden"
    rating = ("believability", 8, "r1", "He bargains.", None)
    assert [(r.dimension, r.score, r.rater, r.note, r.turn) for r in talk.ratings] == [rating]


def test_both_agents_of_an_unrated_episode_are_read(tmp_path):
    talks = read(tmp_path, UNRATED)
    assert [said(t)[1:] for t in talks] == [
        [("assistant", "Hi."), ("user", "Hi.")],
        [("user", "Hi."), ("assistant", "Hi.")],
    ]


def test_lines_about_one_episode_are_one_with_the_ratings_of_all(tmp_path):
    again = changed(EPISODE, model_under_test="other")
    again["ratings"][0] |= {"rater": "r2", "agent": "Ada Moss"}
    third = changed(EPISODE)
    third["ratings"][0] |= {"rater": "r3"}
    notes = []
    ben, ada = read(tmp_path, EPISODE, again, third, notes=notes)
    assert ([r.rater for r in ada.ratings], [r.rater for r in ben.ratings]) == (["r2"], ["r1", "r3"])
    assert (ada.candidate, ben.candidate) == ("gpt", "m-7")
    assert any("several records" in text for text in notes)


def test_another_session_under_the_same_id_is_refused(tmp_path):
    other = changed(EPISODE, session=[*EPISODE["session"], {"speaker": "Ada Moss", "content": "Agreed."}])
    outcomes = read(tmp_path, EPISODE, other)
    assert [type(o) for o in outcomes] == [Conversation, RecordFault]
    assert "says something else than it did in a record before" in outcomes[1].message


def test_an_agent_who_says_nothing_has_no_conversation(tmp_path):
    notes = []
    talks = read(tmp_path, changed(UNRATED, session=UNRATED["session"][:1]), notes=notes)
    assert [t.user_id for t in talks] == ["A"]
    assert any("say nothing" in text for text in notes)


BROKEN = {
    "no reply": (BENCH, {"response": None}, "the response is None"),
    "no character": (BENCH, {"character_profile": "  "}, "says nothing of the character"),
    "no dimension": (BENCH, {"dimension": None}, "of no dimension"),
    "no score": (BENCH, {"human_score": {"a": 1}}, "the rating of engagement"),
    "off the scale": (BENCH, {"human_score": 9}, "off its scale 1-5"),
    "no messages": (BENCH, {"history": []}, "no messages"),
    "three agents": (EPISODE, {"agents": ["A", "B", "C"]}, "not two names"),
    "a stranger": (
        EPISODE,
        {"agents": ["Ada Moss", "Cy"], "ratings": [], "profiles": {"Ada Moss": "A.", "Cy": "C."}},
        "the speaker is 'Ben Reed', who is no agent",
    ),
    "a line without a speaker": (EPISODE, {"session": [*EPISODE["session"], {"content": "?"}]}, "message 3"),
    "no profile": (EPISODE, {"profiles": {}}, "the profile of 'Ben Reed' is None"),
    "a rating of nobody": (
        EPISODE,
        {"ratings": [{"agent": "Cy", "scores": {}}]},
        "'Cy', 'scores': {}} is of no agent",
    ),
    "a rating without scores": (
        EPISODE,
        {"ratings": [{"agent": "Ada Moss"}]},
        "{'agent': 'Ada Moss'} is without scores",
    ),
    "a score that is none": (
        EPISODE,
        {"ratings": [{"agent": "Ada Moss", "scores": {"goal": []}}]},
        "the rating of goal",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_record_is_refused_with_its_place_and_what_to_do(case, tmp_path):
    record, change, words = BROKEN[case]
    sound, fault = read(tmp_path, changed(record, id="sound"), changed(record, **change))
    assert isinstance(sound, Conversation)
    assert isinstance(fault, RecordFault)
    assert words in fault.message
    assert fault.place.line == 2


def test_a_bad_rating_of_a_later_line_is_named_at_that_line(tmp_path):
    again = changed(EPISODE, ratings=[{"agent": "Cy", "scores": {}}])
    _, fault = read(tmp_path, EPISODE, again)
    assert (fault.place.line, "of no agent" in fault.message) == (2, True)
