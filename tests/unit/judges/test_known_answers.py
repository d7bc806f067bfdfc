import json
import re

from dialogauge.cli.doctor import answers_blocks
from dialogauge.core import Usage
from dialogauge.core.json_keys import as_json
from dialogauge.judges.known_answers import known_answers, known_cases
from dialogauge.llm.protocol import ChatFailure
from dialogauge.report import to_text
from rubric_samples import asked_turns, card_reply, client_of


def case_of(request):
    text = "\n".join(m["content"] for m in request.messages)
    return next(
        c for c in known_cases() if json.dumps(c.conversation.messages[0].text, ensure_ascii=False) in text
    )


def truthful(case, turns):
    """Scores in the bands; the turns that may be weakest are weak, all others fine."""
    weak = set(case.weakest or ())
    scores = {n: (3, 3, 5) if n in weak else (5, 5, 5) for n in turns}
    whole = []
    for name in ("coherence", "task_completion", "repair_handling"):
        band = case.bands.get(name, (4, 5) if name != "repair_handling" else "n/a")
        whole.append(band if isinstance(band, str) else int(band[0]))
    named = case.weakest[0] if case.weakest else None
    return card_reply(scores, tuple(whole), weakest_turn=named)


async def test_a_model_that_knows_the_truth_has_all_right():
    report = await known_answers(client_of(lambda r: truthful(case_of(r), asked_turns(r))))
    assert report.asked == len(known_cases())
    assert (report.right, report.failures) == (len(report.checks), {})
    assert report.returns_turn_average is False
    assert report.usage == Usage(calls=12)
    json.dumps(as_json(report))
    text = to_text(answers_blocks(report))
    head = f"known answers: {report.right} of {report.right} right; 12 of 12 answered"
    assert text.splitlines()[0] == head
    assert re.search("returns the average of its turns +no", text)


async def test_a_model_that_averages_the_turns_is_told_apart():
    def answer(request):
        case, turns = case_of(request), asked_turns(request)
        reply = truthful(case, turns)
        rows = [list(entry["scores"].values()) for entry in reply["per_turn"].values()]
        mean = round(sum(map(sum, rows)) / (3 * len(rows)))
        for entry in reply["conversation_level"].values():
            entry["score"] = mean
        return reply

    report = await known_answers(client_of(answer))
    assert report.diverging == 6
    assert report.returns_turn_average is True
    right, asked = report.by_kind["repair_handling"]
    assert right < asked / 2
    assert any(c.what == "task_completion" and not c.right for c in report.checks)


async def test_what_fails_is_counted_and_too_few_answers_tell_nothing():
    failure = ChatFailure("timeout", "x", Usage(calls=1))

    def answer(request):
        case = case_of(request)
        return truthful(case, asked_turns(request)) if case.diverges is None else failure

    report = await known_answers(client_of(answer))
    assert len(report.failures) == 6
    assert report.returns_turn_average is None
    assert as_json(report)["answered"] == 6
    assert "cannot tell" in to_text(answers_blocks(report))


async def test_a_conversation_of_which_turns_failed_has_no_valid_judgement():
    def answer(request):
        return {**truthful(case_of(request), asked_turns(request)), "per_turn": {}}

    report = await known_answers(client_of(answer))
    assert {f.kind for f in report.failures.values()} == {"invalid_schema"}
    assert len(report.failures) == 12
    assert report.checks == ()


def test_the_cases_are_sound():
    cases = known_cases()
    assert len({c.conversation.id for c in cases}) == len(cases) == 12
    assert [c.conversation.language for c in cases].count("zh") == 6
    for case in cases:
        turns = {t.number for t in case.conversation.replied_turns}
        assert set(case.weakest or ()) <= turns
        assert case.diverges is None or case.diverges in case.bands
        assert len(turns) <= 10
