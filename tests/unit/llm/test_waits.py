from __future__ import annotations

import pytest

from dialogauge.llm.waits import read_reset, read_retry_after, wait_in_words


def looking_up(**headers):
    return {k.replace("_", "-"): v for k, v in headers.items()}.get


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry_After": "7"}, 7.0),
        ({"Retry_After": "0.5"}, 0.5),
        ({"Retry_After": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"Retry_After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"Retry_After": "Thu, 01 Jan 1970 00:01:40"}, 90.0),
        ({"Retry_After": "soon"}, None),
        ({"Retry_After": "-3"}, None),
        ({"Retry_After": "inf"}, None),
        ({"Retry_After": "nan"}, None),
        ({"Retry_After": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}, None),
        ({"retry_after_ms": "250", "Retry_After": "7"}, 0.25),
    ],
)
def test_retry_after_in_seconds_and_as_a_date(headers, seconds):
    assert read_retry_after(looking_up(**headers), now=10.0) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"x_ratelimit_reset_requests": "6m0s"}, 360.0),
        ({"x_ratelimit_reset_requests": "2m59.56s", "x_ratelimit_reset_tokens": "7.66s"}, 7.66),
        (
            {
                "x_ratelimit_reset_requests": "8.64s",
                "x_ratelimit_reset_tokens": "820ms",
                "x_ratelimit_remaining_requests": "0",
                "x_ratelimit_remaining_tokens": "5999",
            },
            8.64,
        ),
        (
            {
                "x_ratelimit_reset_requests": "8.64s",
                "x_ratelimit_reset_tokens": "20s",
                "x_ratelimit_remaining_requests": "0",
                "x_ratelimit_remaining_tokens": "0",
            },
            20.0,
        ),
        ({"x_ratelimit_reset": "1700000030"}, 30.0),
        ({"x_ratelimit_reset": "1700000030000"}, 30.0),
        ({"x_ratelimit_reset": "1699999999"}, 0.0),
        ({"ratelimit_reset": "12"}, 12.0),
        ({"anthropic_ratelimit_requests_reset": "2023-11-14T22:13:40Z"}, 20.0),
        ({"x_ratelimit_reset_requests": "soon"}, None),
        ({"x_ratelimit_reset_requests": ""}, None),
    ],
)
def test_the_reset_of_a_limit(headers, seconds):
    assert read_reset(looking_up(**headers), now=1_700_000_000.0) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please try again in 6.2s. Visit ...", 6.2),
        ("Please try again in 6m0s.", 360.0),
        ("Please try again in 1h2m3.5s.", 3723.5),
        ("try again in 20ms", 0.02),
        ("try again in 820 milliseconds", 0.82),
        ("Please retry in 2m", 120.0),
        ("Please retry in 45.578569677s.", 45.578569677),
        ("Please retry after 6 seconds.", 6.0),
        ("Try again in 5 seconds. Passed model=x", 5.0),
        ("wait 1 minute and 30 seconds", 90.0),
        ("try again in 3", 3.0),
        ('{"retryDelay": "17s"}', 17.0),
        ('{"retryDelay": {"seconds": 17}}', 17.0),
        ('{"retry_after": 4.5}', 4.5),
        ('{"retry_after_ms": 250}', 0.25),
        ("try again later, request 12ab", None),
        ("Please wait until 2025-11-22", None),
        ("try again later. 5 errors so far", None),
        ("try again later", None),
        ("", None),
    ],
)
def test_the_wait_in_words(words, seconds):
    assert wait_in_words(words) == pytest.approx(seconds)
