from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.llm.limiter import AdaptiveLimiter


class Clock:
    def __init__(self):
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def make(maximum=100, **options):
    clock = Clock()
    return AdaptiveLimiter(maximum, clock=clock, sleep=clock.sleep, **options), clock


async def fill(limiter):
    """Use the limit up, with one more waiting."""
    held = limiter.state().limit
    for _ in range(held):
        await limiter.acquire()
    waiting = asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0)
    return held, waiting


def test_it_starts_at_twenty_or_the_maximum():
    assert make(100)[0].state().limit == 20
    assert make(7)[0].state().limit == 7
    assert make(0)[0].state().limit == 1


async def test_the_limit_is_kept_and_waiters_are_served_in_order():
    limiter, _ = make(2)
    served = []

    async def one(name):
        await limiter.acquire()
        served.append(name)

    tasks = [asyncio.create_task(one(i)) for i in range(5)]
    await asyncio.sleep(0)
    assert served == [0, 1]
    assert (limiter.state().in_flight, limiter.state().waiting) == (2, 3)
    limiter.release()
    await asyncio.sleep(0.001)
    assert served == [0, 1, 2]
    limiter.release()
    limiter.release()
    await asyncio.gather(*tasks)
    assert served == [0, 1, 2, 3, 4]


async def test_an_episode_cuts_once_and_the_next_one_again():
    limiter, clock = make()
    for _ in range(5):
        limiter.overloaded()
    assert limiter.state().limit == 16  # 20 * 0.8
    clock.now = 14.9
    limiter.overloaded()
    assert limiter.state().limit == 16
    clock.now = 15.0
    limiter.overloaded()
    assert limiter.state().limit == 12  # 16 * 0.8 = 12.8
    assert limiter.state().cuts == 2


def test_replies_between_refusals_tell_how_many_slots_there_are():
    limiter, clock = make()
    limiter.overloaded()
    for number in range(1, 7):  # six replies of .3 s in .6 s: three at once
        clock.now = number / 10
        limiter.succeeded(0.3)
        limiter.overloaded()
    assert limiter.state().limit == 3
    for _ in range(20):  # refused all of them: by the minute, which says nothing of slots
        limiter.overloaded()
    assert limiter.state().limit == 3


def test_few_refusals_and_a_pause_say_nothing_of_slots():
    limiter, clock = make()
    limiter.overloaded()
    for number in range(1, 40):
        clock.now = number / 10
        limiter.succeeded(0.3)
        if number % 4 == 0:
            limiter.overloaded()
    assert limiter.state().limit == 16
    limiter.overloaded(10)
    clock.now += 10.1
    limiter.succeeded(5.0)
    for _ in range(9):
        limiter.overloaded()
    assert limiter.state().limit == 16


def test_a_stray_unavailable_lowers_nothing_and_many_do() -> None:
    limiter, clock = make()
    for episode in range(50):  # one answer in ten, for ever
        clock.now = episode * 15.0
        limiter.unavailable()
        for _ in range(9):
            limiter.succeeded()
    assert (limiter.state().limit, limiter.state().cuts) == (20, 0)
    for _ in range(4):
        limiter.unavailable()
    assert limiter.state().cuts == 1


def test_from_the_start_on_the_fifth_unavailable_in_a_row_is_overload() -> None:
    limiter, _ = make()
    for _ in range(4):
        limiter.unavailable()
    assert limiter.state().cuts == 0  # 1 - 0.95 ** 4 = 0.185
    limiter.unavailable()
    assert limiter.state().limit == 16


async def test_an_episode_lasts_as_long_as_the_endpoint_asks_to_wait():
    limiter, clock = make()
    limiter.overloaded(40)
    assert limiter.state().paused_for == 40
    clock.now = 39
    limiter.overloaded()
    assert limiter.state().limit == 16
    clock.now = 40
    limiter.overloaded()
    assert limiter.state().limit == 12


def test_it_never_falls_below_one():
    limiter, clock = make()
    for episode in range(60):
        clock.now = episode * 15.0
        limiter.overloaded()
    assert limiter.state().limit == 1


async def test_a_window_of_successes_raises_a_limit_that_is_used_up():
    limiter, _ = make()
    limiter.strained()
    _, waiting = await fill(limiter)
    for _ in range(20):
        limiter.succeeded()
    assert limiter.state().limit == 21  # 20 * 1.05
    limiter.release()
    await waiting


async def crowd(limiter, size):
    """Let as many ask as there are places and `size` more; return those who wait."""
    tasks = [asyncio.create_task(limiter.acquire()) for _ in range(limiter.state().limit + size)]
    await asyncio.sleep(0)
    return tasks


def answer_all(limiter):
    """Every request in flight is answered, once."""
    for _ in range(limiter.state().in_flight):
        limiter.release()
        limiter.succeeded()


async def test_without_any_strain_the_limit_doubles_with_each_round_of_replies():
    limiter, _ = make(100)
    tasks = await crowd(limiter, 500)
    limits = []
    for _ in range(4):
        answer_all(limiter)
        await asyncio.sleep(0)
        limits.append(limiter.state().limit)
    assert limits == [40, 80, 100, 100]
    assert limiter.state().in_flight == 100
    for task in tasks:
        task.cancel()


async def test_doubling_stops_when_nobody_waits():
    limiter, _ = make(100)
    await crowd(limiter, 5)
    answer_all(limiter)
    # Five wait: four successes find others waiting behind the one that each release lets in.
    assert limiter.state().waiting == 0
    assert limiter.state().limit < 25
    limit = limiter.state().limit
    answer_all(limiter)
    assert limiter.state().limit == limit


async def test_the_first_overload_takes_back_the_last_doubling_and_ends_it():
    limiter, clock = make(1000)
    tasks = await crowd(limiter, 900)
    answer_all(limiter)
    answer_all(limiter)
    assert limiter.state().limit == 80
    limiter.overloaded()
    assert limiter.state().limit == 40
    clock.now = 15
    limiter.overloaded()
    assert limiter.state().limit == 32  # 40 * 0.8
    clock.now = 30
    for _ in range(32):
        limiter.succeeded()
    assert limiter.state().limit == 33  # 32 * 1.05, for good
    for task in tasks:
        task.cancel()


@pytest.mark.parametrize("grown", [0, 5])
async def test_an_overload_soon_after_the_start_never_costs_more_than_a_fifth(grown):
    limiter, _ = make(1000)
    tasks = await crowd(limiter, 100)
    for _ in range(grown):
        limiter.succeeded()
    limiter.overloaded()
    assert limiter.state().limit == 16  # 20 * 0.8, not (20 + 5) / 2
    for task in tasks:
        task.cancel()


async def test_a_server_that_errs_is_not_doubled_on():
    limiter, _ = make(1000)
    tasks = await crowd(limiter, 100)
    limiter.strained()
    for _ in range(20):
        limiter.succeeded()
    assert limiter.state().limit == 21
    for task in tasks:
        task.cancel()


async def test_a_limit_that_is_not_used_up_does_not_grow():
    limiter, _ = make()
    for _ in range(200):
        limiter.succeeded()
    assert limiter.state().limit == 20


async def test_nothing_grows_within_an_episode_or_above_the_maximum():
    limiter, clock = make(21)
    _, waiting = await fill(limiter)
    limiter.overloaded()
    for _ in range(100):
        limiter.succeeded()
    assert limiter.state().limit == 16
    clock.now = 15
    for _ in range(500):
        limiter.succeeded()
    assert limiter.state().limit == 21
    waiting.cancel()


async def test_nobody_passes_while_the_endpoint_has_asked_to_wait():
    limiter, clock = make()
    limiter.overloaded(3.0)
    await asyncio.gather(*(limiter.acquire() for _ in range(5)))
    assert clock.now == 3.0
    assert clock.slept == [3.0]
    assert limiter.state().in_flight == 5


async def test_cancelled_waiters_leave_no_trace():
    limiter, _ = make(1)
    await limiter.acquire()
    first, second = (asyncio.create_task(limiter.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    assert limiter.state().waiting == 1
    # The place comes and the cancellation comes in the same moment.
    limiter.release()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert (limiter.state().in_flight, limiter.state().waiting) == (0, 0)


async def test_closing_stops_the_alarm():
    limiter = AdaptiveLimiter(3)
    limiter.overloaded(1000)
    waiting = asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0)
    limiter.close()
    limiter.close()
    waiting.cancel()


@given(st.lists(st.sampled_from(["ok", "busy", "wait", "later"]), max_size=80), st.integers(1, 50))
def test_the_limit_stays_between_one_and_the_maximum(events, maximum):
    limiter, clock = make(maximum)
    limiter._crowded = True
    for event in events:
        if event == "ok":
            for _ in range(maximum):
                limiter.succeeded()
            limiter._crowded = True
        elif event == "later":
            clock.now += 16
        else:
            limiter.overloaded(5.0 if event == "wait" else None)
        assert 1 <= limiter.state().limit <= maximum


def test_silence_of_many_halves_the_limit_once_for_those_that_were_sent_together():
    limiter, clock = make(64)
    limiter.succeeded()
    clock.now += 15
    assert not any(limiter.timed_out(0.0) for _ in range(15))  # nobody was answered after they were sent
    assert (limiter.state().limit, limiter.state().cuts) == (10, 1)
    clock.now += 10
    limiter.succeeded()
    assert limiter.timed_out(16.0)
    assert (limiter.state().limit, limiter.state().cuts) == (5, 2)


def test_silence_at_a_limit_of_one_is_the_items_own():
    limiter, clock = make(1)
    for _ in range(9):
        limiter.timed_out(clock.now)
        clock.now += 1
        limiter.succeeded()
    assert not limiter.timed_out(clock.now - 0.5)
    assert limiter.state().cuts == 0


def after_one_wave(service_s):
    """Twenty requests at once to a server that does one at a time; 15 are given up after five services."""
    limiter, clock = make(20)
    for _ in range(5):
        clock.now += service_s
        limiter.succeeded(clock.now)
    for _ in range(15):
        limiter.timed_out(0.0)
    return limiter, clock


def test_silence_is_forgiven_while_the_server_may_go_on_with_what_was_given_up():
    limiter, clock = after_one_wave(1.0)
    # It has 15 s of work left after these 5 s; each wave is given up in its turn, and the limit falls to one.
    for sent, count in [(5.0, 10), (10.0, 5), (15.0, 2)]:
        clock.now = sent + 5
        assert [limiter.timed_out(sent) for _ in range(count)] == [True] * count
    assert limiter.state().limit == 1
    # 5 + 15 + 10 + 5 + 1: the last wave of two had one at a limit of one.
    clock.now = 40.9
    assert limiter.timed_out(35.9)
    clock.now = 41.1
    assert not limiter.timed_out(36.1)


def test_silence_after_quick_answers_is_no_queue():
    limiter, clock = after_one_wave(0.01)
    clock.now = 10.0
    assert [limiter.timed_out(5.0) for _ in range(10)] == [False] * 10


def test_a_request_that_is_never_answered_is_not_forgiven_for_ever():
    limiter, clock = after_one_wave(1.0)
    forgiven = 0
    while limiter.timed_out(clock.now):
        clock.now += 5
        forgiven += 1
    assert forgiven <= 6


async def test_who_asks_again_comes_first():
    limiter, _ = make(1)
    await limiter.acquire()
    order: list[str] = []

    async def wait(name, again):
        await limiter.acquire(again=again)
        order.append(name)
        limiter.release()

    waiting = [asyncio.create_task(wait(name, name == "old")) for name in ("new", "newer", "old")]
    await asyncio.sleep(0)
    limiter.release()
    await asyncio.gather(*waiting)
    assert order == ["old", "new", "newer"]


def test_stray_silence_lowers_nothing():
    limiter, clock = make(64)
    for _ in range(20):
        for _ in range(9):
            limiter.succeeded()
        limiter.timed_out(clock.now)
        clock.now += 1
    assert limiter.state().limit == 20
