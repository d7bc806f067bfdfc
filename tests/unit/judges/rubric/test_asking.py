import asyncio

import pytest

from dialogauge.judges.rubric.prompt import gathered, messages_of, reasker, recent_turns
from dialogauge.rubrics import Recent, Template
from talks import talk


async def test_if_one_raises_the_others_are_stopped():
    stopped = []

    async def waits():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append("waits")
            raise

    async def raises():
        await asyncio.sleep(0)
        msg = "no use"
        raise ConnectionError(msg)

    with pytest.raises(ConnectionError, match="no use"):
        await gathered([waits(), raises()])
    assert stopped == ["waits"]


async def test_results_come_in_order():
    assert await gathered([asyncio.sleep(0.01, "a"), asyncio.sleep(0, "b")]) == ["a", "b"]


def test_a_template_without_a_data_line_is_one_message():
    assert messages_of(Template("", "x {{a}}"), {"a": "1"}) == ({"role": "user", "content": "x 1"},)


@pytest.mark.parametrize("language", ["en", "zh", "fr"])
def test_the_re_ask_names_the_error_and_nothing_in_it_is_a_placeholder(language):
    assert "scores: {{error}} missing" in reasker(language)("scores: {{error}} missing")


FOUR = talk("u: a", "a: bb", "u: a", "a: bb", "u: a", "a: bb", "u: a", "a: " + "b" * 99).turns


@pytest.mark.parametrize(
    ("recent", "first"),
    [
        (Recent(), 1),
        (Recent(turns=9), 1),
        (Recent(turns=3), 2),
        (Recent(turns=1), 4),
        (Recent(chars=9), 1),  # three turns of three characters each before the judged one
        (Recent(chars=8), 2),
        (Recent(chars=0), 4),  # the judged turn is whole, however long
        (Recent(turns=2, chars=9), 3),
        (Recent(turns=4, chars=5), 3),
    ],
)
def test_recent_turns_end_with_the_judged_one(recent, first):
    assert [t.number for t in recent_turns(FOUR, recent)] == list(range(first, 5))
