from dialogauge.core import Usage
from dialogauge.judges.known_answers import best_constants, known_answers, known_cases, unfit
from dialogauge.llm.protocol import ChatFailure
from rubric_samples import asked_turns, client_of
from unit.judges.test_known_answers import case_of, truthful


def test_the_best_single_answers():
    # counted by hand in known_answers.toml
    assert best_constants(known_cases()) == {
        "coherence": 4,
        "task_completion": 6,
        "repair_handling": 3,
        "weakest_turn": 4,
    }


async def test_who_knows_the_truth_is_fit():
    report = await known_answers(client_of(lambda r: truthful(case_of(r), asked_turns(r))))
    assert unfit(report) == ()


async def test_who_always_says_the_same_is_not():
    def answer(request):
        reply = truthful(case_of(request), asked_turns(request))
        reply["conversation_level"]["coherence"]["score"] = 5
        return reply

    against = unfit(await known_answers(client_of(answer)))
    assert against == ("coherence is right in 4 of 6, the best single answer in 4",)


async def test_a_conversation_without_a_judgement_speaks_against():
    failed = known_cases()[0].conversation.id

    def answer(request):
        case = case_of(request)
        if case.conversation.id == failed:
            return ChatFailure("timeout", "x", Usage(calls=1))
        return truthful(case, asked_turns(request))

    report = await known_answers(client_of(answer))
    assert unfit(report) == ("1 of 12 conversations have no valid judgement",)
