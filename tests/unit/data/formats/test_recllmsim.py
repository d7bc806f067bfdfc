"""The folder layout of RecLLMSim."""

import json

from dialogauge.core import Rating
from dialogauge.data import RECLLMSIM_TASKS, read_conversations

SAID = [
    {"role": "user", "content": "一"},
    {"role": "user", "content": "二"},
    {"role": "assistant", "content": "三", "satisfaction": "5", "hallucination": "否"},
    {"role": "user", "content": "四"},
    {"role": "assistant", "content": "五", "satisfaction": "2", "hallucination": "是", "reason": "其它"},
]


def session(root, user, task, stem, said=SAID):
    folder = root / user / task
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "chat_model": "m",
        "task_type": task,
        "task_context": "c",
        "profile": {"age": 30, "complete_tid": {"旅行规划": [1]}},
        "history": said,
        "questionnaire": [{"option": "x"}],
    }
    (folder / f"{stem}.json").write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")


def test_a_session(tmp_path):
    session(tmp_path, "User_0", "旅行规划", 0)
    (c,) = list(read_conversations([str(tmp_path)]))
    assert c.id == "User_0__旅行规划__0.json"
    assert (c.user_id, c.scenario, c.context, c.candidate, c.language) == (
        "User_0",
        "旅行规划",
        "c",
        "m",
        "zh",
    )
    assert c.ratings == (
        Rating(c.id, "satisfaction", 5, 1, "User_0"),
        Rating(c.id, "hallucination", "否", 1, "User_0"),
        Rating(c.id, "satisfaction", 2, 2, "User_0", note="其它"),
        Rating(c.id, "hallucination", "是", 2, "User_0"),
    )
    assert not any(m.extra for m in c.messages)
    assert c.profile == {"age": 30}
    assert c.metadata == {"questionnaire": [{"option": "x"}], "complete_tid": {"旅行规划": [1]}}


def test_replies_in_a_row_are_one_turn(tmp_path):
    twice = [*SAID[:3], {**SAID[2], "content": "再"}, *SAID[3:]]
    session(tmp_path, "User_0", "旅行规划", 0, twice)
    (c,) = list(read_conversations([str(tmp_path)]))
    assert [r.turn for r in c.ratings if r.dimension == "satisfaction"] == [1, 1, 2]


def test_users_by_name_tasks_as_fixed_files_by_number(tmp_path):
    for user in ("User_2", "User_10"):
        for task in reversed(RECLLMSIM_TASKS):
            for stem in (10, 2):
                session(tmp_path / "set", user, task, stem)
    ids = [c.id for c in read_conversations([str(tmp_path)])]
    assert ids == [
        f"{user}__{task}__{stem}.json"
        for user in ("User_10", "User_2")
        for task in RECLLMSIM_TASKS
        for stem in (2, 10)
    ]


def test_a_single_file_keeps_its_id_and_a_moved_one_is_told(tmp_path):
    session(tmp_path, "User_0", "旅行规划", 3)
    path = tmp_path / "User_0" / "旅行规划" / "3.json"
    (c,) = list(read_conversations([str(path)]))
    assert c.id == "User_0__旅行规划__3.json"
    moved = path.rename(tmp_path / "s.json")
    reader = read_conversations([str(moved)])
    (c,) = list(reader)
    assert c.user_id is None
    assert any(n.kind == "assumed" and "outside" in n.text for n in reader.notes)


def test_a_reason_that_is_no_text_is_shown_as_one(tmp_path):
    said = [SAID[0], {**SAID[-1], "reason": ["a", 1]}]
    session(tmp_path, "User_0", "旅行规划", 0, said)
    (c,) = list(read_conversations([str(tmp_path)]))
    assert c.ratings[0].note == "['a', 1]"


def test_the_questionnaire_rates_the_conversation_in_its_own_words(tmp_path):
    path = tmp_path / "User_7" / "礼物准备" / "3.json"
    path.parent.mkdir(parents=True)
    answers = [
        {"query": "?", "summary": "Detail", "option": "详细"},
        {"summary": "Diversity", "option": "一般"},
        {"summary": "Odd", "option": None},
        "odd",
    ]
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "satisfaction": "4"}]
    record = {"history": history, "task_context": "c", "questionnaire": answers}
    path.write_text(json.dumps(record))
    reader = read_conversations([str(tmp_path)])
    (conversation,) = reader
    assert conversation.ratings == (
        Rating(conversation.id, "Detail", "详细", None, "User_7"),
        Rating(conversation.id, "Diversity", "一般", None, "User_7"),
        Rating(conversation.id, "satisfaction", 4, 1, "User_7"),
    )
    assert ["2 ratings were left out: without a name or a score" in str(note) for note in reader.notes][-1]
