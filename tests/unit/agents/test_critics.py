"""What critics do with what goes wrong, what they show a model, and what counts as given away."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from dialogauge.agents import (
    ModelCritic,
    leaked_words,
    logged_dialogue,
    metric_rule,
    play,
    task_beginning,
    user_of_task,
)
from dialogauge.core import Conversation, Message, Request, UsageError
from dialogauge.core.protocols import AgentReply, AgentTurn
from dialogauge.data.tasks import DATASETS, TaskRecord, log_lines, read_logs, read_tasks
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.llm import ChatFailure, ScriptedClient
from dialogauge.rubrics import feedback_files, load_rubric
from dialogauge.stats.actions import ActionChances, ActionModel

LAMP = TaskRecord(
    "lamp",
    "mine",
    (Message("user", "Explain why the lamp in my hall flickers when it rains."),),
    {"answer": "Water gets into the junction box beside the verdigris gate and shorts the neutral wire."},
)
ROUTE = TaskRecord(
    "route",
    "LexEval-QA",
    (Message("system", "你是法律助手。"), Message("user", "定金合同何时成立？")),
    {"golden_answer": "自实际交付定金时成立。"},
    language="zh",
)
POEM = "I would rather have a reason than a poem about it."


class Says:
    """An answerer that counts."""

    name = digest = "says"

    def describe(self):
        return {}

    async def reply(self, conversation, *, seed=0):
        number = sum(m.role == "assistant" for m in conversation.messages)
        return AgentTurn(AgentReply(f"Reply {number}: it is the rain that makes it so."))


def decides(response=None, behaviour="continue", reasoning="It says nothing of the cause."):
    if response is None:
        behaviour = "end"
    return json.dumps({"reasoning": reasoning, "behaviour": behaviour, "response": response})


def scored(value=4):
    return json.dumps({"note": "so so", "scores": {"satisfaction": value}})


def scorer(*script):
    return RubricJudge(load_rubric("satisfaction-ten"), ScriptedClient(script or (lambda _: scored())))


def session(*script, task=LAMP, judge=None, turns=3, seed=0):
    client = ScriptedClient(list(script), name="sim")
    user = user_of_task(task, client, judge or scorer())
    played = asyncio.run(play(user, Says(), task_beginning(task, "says"), turns, seed=seed))
    return played, client.requests


def users_texts(played):
    return [m.text for m in played.conversation.messages if m.role == "user"]


def test_what_the_user_says_goes_on_and_what_it_thinks_does_not() -> None:
    played, requests = session(decides(POEM), decides())
    assert users_texts(played) == [LAMP.question, POEM]
    assert played.ended == "user"
    first, second, third = played.of_user
    assert (first.feedback, first.opinion) == (None, None)
    assert (second.feedback.round, second.feedback.score, second.feedback.ended) == (1, 4, False)
    assert (third.feedback.round, third.feedback.ended, third.text) == (2, True, "")
    assert second.opinion.reasoning == "It says nothing of the cause."
    assert "nothing of the cause" not in str(played.conversation)
    assert [r.role for r in requests] == ["simulator", "simulator"]


@pytest.mark.parametrize(
    ("bad", "kind", "says"),
    [
        ('{"reasoning": "the lamp', "invalid_json", "JSON"),
        (decides("How may I help you today?"), "invalid_schema", "speaks as the assistant"),
        (decides("这个回答太笼统了，请说得具体一些。"), "invalid_schema", "another language"),
        (decides(" ", "continue"), "invalid_schema", "response is no text"),
        (json.dumps({"behaviour": "end", "response": None}), "invalid_schema", "reasoning is missing"),
        (json.dumps({"reasoning": "a", "behaviour": "leave"}), "invalid_schema", "neither continue nor end"),
    ],
)
def test_a_broken_message_is_asked_for_anew_once_and_then_a_failure_by_name(bad, kind, says) -> None:
    played, requests = session(bad, decides(POEM), decides())
    assert (played.failure, len(requests)) == (None, 3)
    assert users_texts(played) == [LAMP.question, POEM]
    played, requests = session(bad, bad)
    assert len(requests) == 2
    assert played.ended == "simulator_failed"
    assert played.failure.kind == kind
    assert says in played.failure.message
    assert users_texts(played) == [LAMP.question]
    assert logged_dialogue(LAMP, played).feedback == ()


def test_silence_is_asked_about_by_the_critic_and_by_the_loop() -> None:
    played, requests = session(*[""] * 4)
    assert (played.ended, played.failure.kind, len(requests)) == ("simulator_failed", "empty_reply", 4)


def test_a_failed_call_is_a_failed_dialogue_and_no_end() -> None:
    played, _ = session(ChatFailure("timeout", "no answer within 60 s"))
    assert (played.ended, played.failure.kind) == ("simulator_failed", "timeout")
    judge = scorer(ChatFailure("server_error", "it is down"))
    played, _ = session(decides(), judge=judge)
    assert (played.ended, played.failure.kind) == ("simulator_failed", "server_error")
    assert "scorer" in played.failure.message


@pytest.mark.parametrize(
    "again", [LAMP.question, "Please explain why the lamp in my hall flickers when it rains."]
)
def test_a_repeated_question_is_asked_for_anew_once(again) -> None:
    played, requests = session(decides(again), decides(POEM), decides())
    assert users_texts(played) == [LAMP.question, POEM]
    assert "asked for that before" in requests[1].messages[-1]["content"]
    assert not any(r.opinion.repeated for r in played.of_user if r.opinion)


def test_who_repeats_itself_twice_leaves_and_it_is_counted() -> None:
    played, requests = session(decides(LAMP.question), decides(LAMP.question))
    assert (played.ended, played.failure, len(requests)) == ("user", None, 2)
    assert users_texts(played) == [LAMP.question]
    (feedback,) = logged_dialogue(LAMP, played).feedback
    assert (feedback.ended, feedback.score) == (True, 4)
    assert played.of_user[-1].opinion.repeated


def test_words_of_the_record_are_counted_where_a_model_blurts_them_out() -> None:
    blurted = "No, water gets into the junction box beside my gate."
    played, _ = session(decides(blurted), decides())
    assert played.of_user[1].opinion.leaked == "water gets into the junction"
    assert played.of_user[2].opinion.leaked is None


@pytest.mark.parametrize(
    ("text", "record", "before", "leak"),
    [
        ("It was Zorblax, of course", ["zorblax"], (), "zorblax"),
        ("It was not that.", ["That"], (), None),  # a function word
        ("It was in May.", ["May"], (), None),  # three letters are chance
        ("On 9 May 2024.", ["9 May 2024"], (), "9 may 2024"),
        ("On 9 May 2024.", ["9 May 2024"], ("Was it 9 May 2024?",), None),
        ("one two three four", ["one two three four five"], (), None),
        (
            "say: ONE, two three; four five",
            ["zero one two three four five six"],
            (),
            "one two three four five",
        ),
        ("应当双倍返还定金，并且赔偿", ["甲可以请求双倍返还定金"], (), None),
        (
            "请求双倍返还定金并赔偿损失",
            ["甲可以请求双倍返还定金并赔偿损失"],
            (),
            "请 求 双 倍 返 还 定 金 并 赔",
        ),
        ("", ["zorblax"], (), None),
        ("anything at all", ["", "?"], (), None),
    ],
)
def test_what_counts_as_given_away(text, record, before, leak) -> None:
    assert leaked_words(text, record, before) == leak


def test_the_model_knows_the_record_and_the_person_and_no_system_message() -> None:
    played, requests = session(decides("这个回答没有说明依据。"), decides(), task=ROUTE)
    assert [m.role for m in played.conversation.messages[:2]] == ["system", "user"]
    assert played.conversation.prefix == 1
    system, data = (m["content"] for m in requests[0].messages)
    assert feedback_files()["law"]["zh"]["persona"] in system
    assert "自实际交付定金时成立" in data
    assert "你是法律助手" not in data
    assert "Reply 0" in data
    assert "这个回答没有说明依据。" not in data
    assert "这个回答没有说明依据。" in requests[1].messages[1]["content"]
    assert requests[0].schema.strict


def test_the_scorer_judges_the_last_answer_by_the_record() -> None:
    judge = scorer(scored(3), scored(8))
    played, _ = session(decides(POEM), decides(), judge=judge)
    assert [f.score for f in logged_dialogue(LAMP, played).feedback] == [3, 8]
    first, second = (r.messages[1]["content"] for r in judge.client.requests)
    assert "verdigris gate" in first
    assert POEM not in first
    assert second.rindex("Reply 1") > second.rindex("Reply 0") > second.index("verdigris gate")


def test_a_question_without_a_record_is_judged_by_what_is_known() -> None:
    bare = replace(LAMP, dataset="NF-CATS", gold={})
    played, requests = session(decides(), task=bare)
    assert played.failure is None
    assert "(nothing is on record)" in requests[0].messages[1]["content"]


def test_the_scorer_needs_no_record() -> None:
    talk = Conversation("c", (Message("user", "Why?"), Message("assistant", "Because.")))
    (judged,) = asyncio.run(scorer().judge(Request(talk)))
    assert judged.outcome.numbers == {"satisfaction": 4}


def test_every_published_data_set_has_a_user_of_its_own() -> None:
    files = feedback_files()
    for name in DATASETS:
        task = replace(LAMP, dataset=name, gold={"answer": "a", "category": 4})
        by_metric = name == "LoCoMo" or name.startswith("DialSim")
        assert (metric_rule(task) is not None) == by_metric
        if not by_metric:
            assert ModelCritic.of(task, ScriptedClient([]), scorer()).family not in ("general", "fixed")
    assert ModelCritic.of(LAMP, ScriptedClient([]), scorer()).family == "general"
    keys = {"persona", "expertise", "wants", "criteria", "reading"}
    for name, file in files.items():
        if name != "fixed":
            assert set(file) == {"datasets", "record", "en", "zh"}, name
            assert set(file["en"]) == set(file["zh"]) == keys, name
            assert len(file["en"]["criteria"]) == len(file["zh"]["criteria"]), name


def test_scores_of_metrics_are_the_published_ones() -> None:
    locomo, dialsim = feedback_files()["fixed"]["users"]
    assert locomo["scores"] == [[n / 10, n + 1] for n in range(9, 0, -1)] + [[0.0, 1]]
    assert (locomo["satisfied"], dialsim["satisfied"]) == (6, 9)
    assert dialsim["scores"] == [[1.0, 9], [0.0, 3]]
    named = replace(LAMP, gold={"metric": "exact_match", "answer": "a"})
    assert metric_rule(named) == dialsim


def test_fixed_words_are_said_once_each_and_then_the_user_leaves() -> None:
    task = replace(LAMP, dataset="LoCoMo", gold={"answer": "zorblax", "category": 4})
    played, _ = session(task=task, turns=9)
    lines = feedback_files()["fixed"]["en"]["again"]
    assert users_texts(played)[1:] == lines
    assert (played.ended, len(played.of_user)) == ("user", len(lines) + 2)
    assert played.usage["simulator"].calls == 0


def test_what_cannot_be_simulated_is_refused_before_the_first_call() -> None:
    with pytest.raises(UsageError, match="needs a model that plays its user"):
        user_of_task(LAMP)
    with pytest.raises(UsageError, match="scores 1-5, and satisfaction is 1 to 10"):
        user_of_task(LAMP, ScriptedClient([]), RubricJudge(load_rubric("grade"), ScriptedClient([])))
    with pytest.raises(UsageError, match="needs gold"):
        user_of_task(replace(LAMP, dataset="LoCoMo", gold={"category": 4}))
    with pytest.raises(UsageError, match="needs category"):
        user_of_task(replace(LAMP, dataset="LoCoMo", gold={"answer": "a"}))


def test_actions_come_of_score_seed_and_task_alone() -> None:
    likes = ActionModel(1.0, 0.0, {4: ActionChances(4, 0.25, 0.5)})

    async def actions(seeds, form):
        task = replace(LAMP, form=form)
        user = user_of_task(task, ScriptedClient(lambda _: decides()), scorer(), likes)
        plays = (play(user, Says(), task_beginning(task), 3, seed=seed) for seed in seeds)
        sessions = await asyncio.gather(*plays)
        return {
            seed: [f.actions for f in logged_dialogue(task, s).feedback]
            for seed, s in zip(seeds, sessions, strict=True)
        }

    one_by_one = {k: v for seed in range(200) for k, v in asyncio.run(actions([seed], "SiLo")).items()}
    together = asyncio.run(actions(list(reversed(range(200))), "SiLo"))
    assert one_by_one == together
    drawn = [action for rounds in together.values() for of in rounds for action in of]
    # Of 200 dialogues about a quarter is liked, a half disliked, and each with an output of that kind copied.
    assert 30 < drawn.count("like") < 70
    assert 75 < drawn.count("dislike") < 125
    assert drawn.count("copy") == 200
    short = asyncio.run(actions(range(200), "SiSo"))
    assert not any("copy" in of for rounds in short.values() for of in rounds)
    assert {k: [tuple(a for a in of if a != "copy") for of in v] for k, v in together.items()} == short


def test_logs_are_written_and_read_as_the_published_ones(tmp_path) -> None:
    played, _ = session(decides("这个回答没有说明依据。"), decides(), task=ROUTE)
    log = logged_dialogue(ROUTE, played)
    (tmp_path / "logs.jsonl").write_bytes(b"".join(log_lines([log], {"route": ROUTE})))
    (again,) = read_logs(str(tmp_path / "logs.jsonl"))
    assert again.feedback == log.feedback
    assert [f.round for f in log.feedback] == [1, 2]
    assert again.conversation.id == log.conversation.id == "route/says"
    assert again.conversation.messages == log.conversation.messages
    assert read_tasks(str(tmp_path / "logs.jsonl")).tasks[0].gold == ROUTE.gold


def test_a_question_of_several_messages_stands_before_the_dialogue() -> None:
    before = (Message("user", "Hello."), Message("assistant", "Hello!"))
    task = replace(LAMP, messages=(*before, *LAMP.messages))
    played, _ = session(decides(), task=task)
    assert [m.text for m in played.conversation.messages[:3]] == ["Hello.", "Hello!", LAMP.question]
    # Rounds count replies of the whole dialogue, as logs do.
    assert [f.round for f in logged_dialogue(task, played).feedback] == [2]


def test_digests_change_with_all_that_can_change_a_message() -> None:
    def made(task=LAMP, name="sim", judge=None):
        return user_of_task(task, ScriptedClient([], name=name), judge or scorer()).digest

    grades = RubricJudge(load_rubric("satisfaction-ten"), ScriptedClient([], name="other"))
    digests = [
        made(),
        made(name="other"),
        made(judge=grades),
        made(replace(LAMP, gold={"answer": "a"})),
        made(replace(LAMP, dataset="JuDGE")),
        made(replace(LAMP, form="SiLo")),
    ]
    assert len(set(digests)) == len(digests)
    assert made() == digests[0]
