"""The dimensions of agents that use tools: what a judge is shown, jointly and one by one."""

import json
from dataclasses import replace

import pytest

from dialogauge.core import Conversation, JudgeFailure, Judgement, Message, Request, ToolCall, UsageError
from dialogauge.core.protocols import Reply
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.judges.rubric.reply import ParsedPart
from dialogauge.judges.rubric.rows import with_means
from dialogauge.rubrics import load_policies, load_rubric
from rubric_samples import client_of, ideal, long_chat, satisfies

LANGUAGES = ("en", "zh")
NAMES = ["cohesion", "backend", "policy"]


def called(id: str, name: str, arguments: str, result: str | None) -> list[Message]:
    call = Message("assistant", None, (ToolCall(id, name, arguments),))
    return [call] if result is None else [call, Message("tool", result, tool_call_id=id, name=name)]


def trip(*leading: Message, **known) -> Conversation:
    messages = [
        *leading,
        Message("user", "Hello."),
        Message("assistant", "What can I do for you?"),
        Message("user", "A cheap place to eat, and one in the centre."),
        *called("1", "query_restaurants", '{"price": "cheap"}', "count 21"),
        *called("2", "query_restaurants", '{"area": "centre"}', "[]"),
        Message("assistant", "There are 21 cheap ones."),
        Message("user", "Thanks. Anything else?"),
        Message("assistant", "That is all."),
        Message("user", "Then a taxi."),
        *called("3", "book_taxi", "{to", None),
        Message("assistant", "Booked."),
    ]
    return Conversation("trip", tuple(messages), **known)


async def judged(rubric, conversation, answer=lambda r: ideal(r.schema.schema), **settings):
    client = client_of(answer)
    judge = RubricJudge(load_rubric(rubric), client, **settings)
    return await judge.judge(Request(conversation)), client.requests


def between(request, before, after="\n"):
    text = request.messages[-1]["content"]
    return json.loads(text.split(before, 1)[1].split(after, 1)[0])


async def test_every_call_of_the_turn_is_shown_with_its_own_result():
    _, requests = await judged("td-turn", trip())
    shown = [between(r, "each with its result, as JSON: ") for r in requests]
    assert [len(calls) for calls in shown] == [0, 2, 0, 1]
    assert [(c["function"], c["arguments"], c["result"]) for c in shown[1]] == [
        ("query_restaurants", '{"price": "cheap"}', "count 21"),
        ("query_restaurants", '{"area": "centre"}', "[]"),
    ]
    assert shown[3] == [{"call": 1, "function": "book_taxi", "arguments": "{to", "note": "no result"}]
    assert between(requests[1], "The reply, as a JSON string: ") == "There are 21 cheap ones."


async def test_the_domain_is_that_of_the_calls_else_the_last_one_and_is_stored():
    rows, requests = await judged("td-turn", trip())
    assert [r.outcome.details["domain"] for r in rows] == ["generic", "restaurant", "restaurant", "taxi"]
    policies = [between(r, "The agent's policy, as a JSON string: ") for r in requests]
    assert ["- food: cuisine" in p for p in policies] == [False, True, True, False]
    assert "where to be picked up" in policies[3]


async def test_what_is_wrong_with_calls_is_counted():
    rows, _ = await judged("td-turn", trip())
    counts = [{k: v for k, v in r.outcome.details.items() if k.startswith(("calls_", "arg"))} for r in rows]
    assert counts == [{}, {}, {}, {"calls_without_result": 1, "arguments_unread": 1}]


async def test_what_is_wrong_with_steps_is_counted_over_a_whole_dialogue():
    unread = Message("assistant", "Action: {", extra={"parse_failed": True})
    conversation = trip()
    messages = (*conversation.messages, Message("user", "And?"), unread, Message("tool", "what?"))
    (row,), _ = await judged("td-dialogue", replace(conversation, messages=messages))
    counts = ("calls_without_result", "results_without_call", "arguments_unread", "steps_unread")
    assert [row.outcome.details[name] for name in counts] == [1, 1, 1, 1]
    assert row.outcome.details["domain"] == "restaurant+taxi"


@pytest.mark.parametrize("rubric", ["td-turn", "td-dialogue"])
async def test_calls_of_one_function_at_once_are_told_apart_in_the_dialogue(rubric):
    both = Message("assistant", None, (ToolCall("x", "find", "1"), ToolCall("y", "find", "2")))
    results = [Message("tool", text, tool_call_id=id) for id, text in (("y", "second"), ("x", "first"))]
    other = called("z", "find", "3", "third")
    messages = (Message("user", "?"), both, *results, *other, Message("assistant", "So."))
    _, (request,) = await judged(rubric, Conversation("c", messages))
    text = request.messages[-1]["content"]
    lines = [json.loads(line) for line in text.splitlines() if line.startswith('{"turn"')]
    assert [c.get("id") for line in lines for c in line.get("calls", ())] == ["x", "y", None]
    assert [(m["text"], m.get("id")) for m in lines if m["role"] == "tool"] == [
        *(("second", "y"), ("first", "x"), ("third", None))
    ]


async def test_the_agents_own_system_prompt_is_its_policy_unless_a_file_is_named():
    conversation = trip(Message("system", "Never book a taxi."))
    _, requests = await judged("td-turn", conversation)
    assert between(requests[3], "The agent's policy, as a JSON string: ") == "Never book a taxi."
    rows, requests = await judged("td-turn", conversation, policies=load_policies())
    assert between(requests[3], "The agent's policy, as a JSON string: ").startswith("Domain: taxi")
    assert rows[3].outcome.details["domain"] == "taxi"


async def test_a_whole_dialogue_has_the_policies_of_all_its_domains_and_its_prompt_once():
    rows, (request,) = await judged("td-dialogue", trip())
    policy = between(request, "The agent's policy, as a JSON string: ")
    assert policy.startswith("Domain: restaurant")
    assert "Domain: taxi" in policy
    assert rows[0].outcome.details["domain"] == "restaurant+taxi"
    assert set(rows[0].outcome.numbers) == {*NAMES, "goal_completion"}
    _, (request,) = await judged("td-dialogue", trip(Message("system", "Never book a taxi.")))
    assert request.messages[-1]["content"].count("Never book a taxi.") == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rubric", ["td-turn", "td-dialogue", "td-unit", "td-unit-dialogue"])
async def test_there_is_wording_in_both_languages(rubric, language):
    rows, requests = await judged(rubric, trip(), language=language)
    assert all(isinstance(r.outcome, Judgement) for r in rows)
    assert all(satisfies(r.schema.schema, ideal(r.schema.schema)) for r in requests)
    assert ("规则" in requests[0].messages[0]["content"]) == (language == "zh")


async def test_every_score_has_its_justification():
    def answer(request):
        return {"scores": {name: {"note": f"why {name}", "score": 3} for name in NAMES}}

    rows, _ = await judged("td-turn", trip(), answer)
    outcome = rows[0].outcome
    assert outcome.numbers == dict.fromkeys(NAMES, 3)
    assert outcome.details["notes"] == {name: f"why {name}" for name in NAMES}
    assert outcome.rationale == "cohesion: why cohesion backend: why backend policy: why policy"


def single(request, worst=None):
    """Answer for the one dimension that is asked for; of `worst` off the scale."""
    (name,) = request.schema.schema["properties"]["scores"]["properties"]
    return {"scores": {name: {"note": f"why {name}", "score": 9 if name == worst else NAMES.index(name) + 1}}}


async def test_separate_calls_ask_for_one_dimension_each():
    rows, requests = await judged("td-turn", trip(), single, calls="separate")
    assert len(requests) == 3 * len(rows)
    assert all(r.outcome.numbers == {"cohesion": 1, "backend": 2, "policy": 3} for r in rows)
    assert rows[0].outcome.details["notes"]["policy"] == "why policy"
    assert rows[0].usage.calls == 3
    assert "**backend**" not in requests[0].messages[0]["content"]


async def test_a_dimension_that_fails_fails_its_turn_and_is_named():
    rows, _ = await judged("td-turn", trip(), lambda r: single(r, "backend"), calls="separate")
    for row in rows:
        assert isinstance(row.outcome, JudgeFailure)
        assert row.outcome.kind == "invalid_schema"
        assert row.outcome.message.startswith("backend: scores.backend.score: expected a whole number")
        assert row.usage.calls == 4  # the one that failed was asked once more


async def test_separate_calls_of_a_long_dialogue_go_by_window():
    rows, requests = await judged("td-dialogue", long_chat(13), calls="separate")
    (whole,) = rows
    assert set(whole.outcome.numbers.values()) == {5}
    asked = [r for r in requests if r.schema.name == "td-dialogue"]
    assert len(asked) == 4 * 3


async def test_a_unit_dimension_is_the_rounded_mean_of_its_three_tests():
    given = dict.fromkeys(("answers_request", "keeps_topic", "carries_on"), 5)
    given |= {"facts_match": 4, "results_used": 4, "results_followed": 5}
    given |= {"options_when_few": 1, "asks_what_is_missing": 2, "acts_in_time": 2}
    for calls in ("joint", "separate"):
        rows, requests = await judged(
            "td-unit",
            trip(),
            lambda r: {
                "scores": {n: given[n] for n in r.schema.schema["properties"]["scores"]["properties"]}
            },
            calls=calls,
        )
        scores = rows[0].outcome.scores
        assert [(scores[n].value, scores[n].whole) for n in NAMES] == [
            (5, 5),
            (pytest.approx(13 / 3), 4),
            (pytest.approx(5 / 3), 2),
        ]
        assert len(requests) == len(rows) * (1 if calls == "joint" else 9)


@pytest.mark.parametrize(
    ("scores", "mean", "whole"),
    [
        (("n/a", 4, 4), 4.0, {"backend": 4}),
        (("n/a", "n/a", 2), 2.0, {"backend": 2}),
        (("n/a",) * 3, "n/a", {}),
    ],
)
def test_what_does_not_apply_is_left_out_of_a_mean(scores, mean, whole):
    tests = ("facts_match", "results_used", "results_followed")
    others = [name for d in load_rubric("td-unit").at("turn") for name in d.mean_of if name not in tests]
    part = ParsedPart({**dict.fromkeys(others, "n/a"), **dict(zip(tests, scores, strict=True))})
    counted = with_means(load_rubric("td-unit"), "turn", part)
    assert (counted.scores["backend"], counted.whole) == (mean, whole)


def test_a_rubric_whose_reply_is_more_than_scores_is_not_split():
    with pytest.raises(UsageError, match="'card' asks for issues beside the scores"):
        RubricJudge(load_rubric("card"), client_of(lambda r: {}), calls="separate")


def test_a_policy_for_a_rubric_that_shows_none_is_refused():
    with pytest.raises(UsageError, match="'card' shows no policy"):
        RubricJudge(load_rubric("card"), client_of(lambda r: {}), policies=load_policies())


def test_calls_and_policies_are_part_of_the_judges_identity(tmp_path):
    def digest(**settings):
        return RubricJudge(load_rubric("td-turn"), client_of(lambda r: {}), **settings).digest

    other = tmp_path / "p.toml"
    other.write_text('text = "Be brief."\n[[domains]]\nname = "any"\n')
    made = [{}, {"calls": "separate"}, {"policies": load_policies()}, {"policies": load_policies(other)}]
    assert len({digest(**settings) for settings in made}) == 4


@pytest.mark.parametrize("calls", ["joint", "separate"])
async def test_unit_tests_of_a_whole_dialogue_with_its_goal(calls):
    given = dict.fromkeys(("answers_requests", "keeps_topic", "carries_on", "goal_completion"), 4)
    given |= {"facts_match": 4, "results_used": 4, "results_followed": 5}
    given |= {"options_when_few": 1, "asks_what_is_missing": 2, "acts_in_time": 2}

    def answer(request):
        value = ideal(request.schema.schema)
        for name, entry in value["conversation_level"].items():
            entry["score"] = given[name]
        return value

    (row,), requests = await judged("td-unit-dialogue", trip(), answer, calls=calls)
    assert row.target.level == "conversation"
    assert len(requests) == (1 if calls == "joint" else 10)
    scores = row.outcome.scores
    assert {n: scores[n].value for n in given} == given
    assert [(round(scores[n].value, 2), scores[n].whole) for n in NAMES] == [(4, 4), (4.33, 4), (1.67, 2)]


async def of_last_turn(rubric, **settings):
    """Ask about the last turn of the trip alone."""
    client, conversation = client_of(lambda r: ideal(r.schema.schema)), trip()
    reply = Reply("trip__turn_7", conversation, len(conversation.messages) - 1, 4, 7)
    judge = RubricJudge(load_rubric(rubric), client, **settings)
    return await judge.judge(Request(conversation, (reply,))), client.requests


@pytest.mark.parametrize(("rubric", "mode"), [("td-turn", "hindsight"), ("card", "foresight")])
async def test_a_target_is_asked_about_alone(rubric, mode):
    rows, requests = await of_last_turn(rubric, mode=mode)
    assert len(requests) == 1
    ((target, outcome),) = ((row.target, row.outcome) for row in rows)
    assert (target.level, target.turn) == ("turn", 4)
    assert isinstance(outcome, Judgement)


@pytest.mark.parametrize(("rubric", "mode"), [("card", "hindsight"), ("session", "foresight")])
async def test_what_is_judged_as_a_whole_has_no_targets(rubric, mode):
    rows, requests = await of_last_turn(rubric, mode=mode)
    assert requests == []
    assert [row.outcome.kind for row in rows] == ["judge_error"]
