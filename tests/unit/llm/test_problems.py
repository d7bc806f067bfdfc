from __future__ import annotations

import json

import pytest

from dialogauge.llm.problems import Problem, read_problem, refused_parameter

SENT = ("model", "messages", "temperature", "top_p", "max_tokens", "seed", "response_format")


FILTERED = ("refused", "give_up")
LONG = ("too_long", "mend")
WAIT = ("rate_limited", "wait")
RETRY = "Please retry in 17.5s."


def problem(message="", payload=None):
    return Problem("rejected", message, "mend", 400, payload=payload)


@pytest.mark.parametrize(
    ("message", "payload", "name"),
    [
        ("Unsupported value: 'temperature' does not support 0", None, "temperature"),
        ("no idea", {"error": {"message": "no idea", "param": "seed"}}, "seed"),
        ("bad", {"error": {"message": "bad", "param": "response_format.json_schema"}}, "response_format"),
        ("bad", {"detail": [{"loc": ["body", "top_p"], "msg": "extra"}]}, "top_p"),
        ("temperature and top_p cannot both be given", None, "top_p"),
        ("json_schema is not supported", None, "response_format"),
        ("the model is busy with messages", None, None),
        ("temperatures are rising", None, None),
        ("param of another", {"error": {"param": "messages"}}, None),
        ("", None, None),
    ],
)
def test_the_refused_parameter_is_found(message, payload, name):
    assert refused_parameter(problem(message, payload), SENT) == name


@pytest.mark.parametrize(
    ("status", "body", "kind", "remedy"),
    [
        (400, {"error": {"message": "bad"}}, "rejected", "mend"),
        (422, {"detail": [{"loc": ["body", "seed"], "msg": "extra"}]}, "rejected", "mend"),
        (400, {"error": {"message": "x is not a valid model ID"}}, "rejected", "confirm"),
        (400, {"error": {"message": "Credit balance is too low"}}, "rejected", "confirm"),
        (400, {"error": {"message": "m", "code": "json_validate_failed"}}, "invalid_json", "mend"),
        (400, {"error": {"message": "request (9 tokens) exceeds the available context size"}}, *LONG),
        (400, {"error": {"message": "m", "code": "context_length_exceeded"}}, *LONG),
        (413, "<html>", *LONG),
        (400, {"error": {"message": "m", "code": "content_filter"}}, "refused", "give_up"),
        (403, {"error": {"message": "flagged by moderation"}}, "refused", "give_up"),
        (401, "no", "rejected", "endpoint"),
        (404, {"error": "model not found, try pulling it"}, "rejected", "confirm"),
        (402, "", "rejected", "endpoint"),
        (407, "", "rejected", "endpoint"),
        (301, "", "rejected", "endpoint"),
        (408, "", "server_error", "retry"),
        (429, {"error": {"message": "slow"}}, "rate_limited", "wait"),
        (429, {"error": {"message": "m", "code": "insufficient_quota"}}, "rate_limited", "confirm"),
        (429, [{"error": {"message": f"You exceeded your current quota. {RETRY}"}}], *WAIT),
        (500, {"error": {"message": "oops"}}, "server_error", "retry"),
        (529, {"error": {"message": "overloaded"}}, "server_error", "retry"),
        (200, {"error": {"message": "slow", "code": 429}}, "rate_limited", "wait"),
        (200, {"error": "upstream"}, "server_error", "retry"),
        (200, {"error": {"message": "slow", "code": "429"}}, *WAIT),
        (200, {"choices": [{"error": {"message": "slow", "code": 429}}]}, *WAIT),
        (200, {"choices": [{"finish_reason": "error", "message": {}}]}, "server_error", "retry"),
        (200, {"object": "error", "message": "bad", "code": 400}, "rejected", "mend"),
        (200, {"error": {"message": "m", "code": "9" * 5000}}, "server_error", "retry"),
        (200, {"error": "Rate limit exceeded"}, *WAIT),
        (200, {"error": {"type": "rate_limit_error", "message": "slow"}}, *WAIT),
        (200, {"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, *WAIT),
        (200, {"base_resp": {"status_code": 1004, "status_msg": "login fail"}}, "rejected", "endpoint"),
        (200, {"error": {"message": "m", "code": "context_length_exceeded"}}, *LONG),
        (200, {"error": {"message": "m", "type": "content_filter"}}, *FILTERED),
        (429, {"error": {"message": "Request too large (TPM): Limit 30000, Requested 40000."}}, *LONG),
        (429, {"error": {"message": "Used 9000, Requested 3000. Please try again in 9s"}}, *WAIT),
        (
            400,
            {"error": {"message": "The input token count (9) exceeds the maximum number of tokens"}},
            *LONG,
        ),
        (400, {"error": {"message": "Your request exceeded model token limit: 8192"}}, *LONG),
        (400, {"error": {"message": "Output blocked by content filtering policy"}}, *FILTERED),
        (400, {"error": {"message": "considered high risk", "type": "content_filter"}}, *FILTERED),
        (400, {"error": {"message": "Content Exists Risk"}}, *FILTERED),
        (400, {"error": {"message": "m", "code": "data_inspection_failed"}}, *FILTERED),
        (400, {"error": {"message": "输入或生成内容可能包含不安全或敏感内容", "code": "1301"}}, *FILTERED),
        (403, {"error": "Content violates guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}, *FILTERED),
        (403, {"error": "Your account was flagged"}, "rejected", "confirm"),
        (400, {"error": {"message": "Access denied", "code": "Arrearage"}}, "rejected", "confirm"),
        (429, {"error": {"message": "余额不足或无可用资源包,请充值。"}}, "rate_limited", "confirm"),
        (200, {"choices": []}, "empty_reply", "retry"),
        (200, "<html>", "server_error", "retry"),
        (200, "[1]", "server_error", "retry"),
    ],
)
def test_answers_that_are_no_reply(status, body, kind, remedy):
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    found = read_problem(status, raw, None)
    assert (found.kind, found.remedy) == (kind, remedy)


def test_the_wait_may_stand_in_the_body_or_in_the_reset_of_a_limit():
    raw = json.dumps([{"error": {"message": "slow", "details": [{"retryDelay": "17s"}]}}]).encode()
    assert read_problem(429, raw, None).retry_after == 17.0
    assert read_problem(429, raw, 1.0, 2.0).retry_after == 1.0
    assert read_problem(429, b"slow", None, 2.0).retry_after == 2.0
    assert read_problem(500, b"try again in 9s", None, 2.0).retry_after is None


def test_messages_are_short_and_plain():
    assert len(read_problem(500, b"x" * 10_000, None).message) < 500
    assert "HTML page (Bad)" in read_problem(502, b"<html><title>Bad</title>", None).message
    assert read_problem(500, b"", None).message == "HTTP 500: no message"
    assert (
        "body.seed: extra"
        in read_problem(422, b'{"detail":[{"loc":["body","seed"],"msg":"extra"}]}', None).message
    )
    assert "\ufffd" in read_problem(500, b"\xff", None).message


@pytest.mark.parametrize("loc", [3.5, True, "body", None, {"a": 1}])
def test_a_location_may_be_anything(loc):
    raw = json.dumps({"detail": [{"loc": loc, "msg": "seed is extra"}]}).encode()
    assert refused_parameter(read_problem(422, raw, None), SENT) == "seed"


def test_an_error_nested_without_end_is_no_json():
    raw = b'{"detail": [' + b"[" * 900 + b"]" * 900 + b"]}"
    assert read_problem(422, raw, None).payload is None


@pytest.mark.parametrize(
    "raw", [b"<title" * 1_300_000, b"x:y," * 2_000_000, b'{"error": "' + b"x" * 8_000_000 + b'"}']
)
@pytest.mark.parametrize("status", [200, 400, 429, 500])
def test_of_a_huge_answer_only_the_beginning_is_searched_and_kept(status, raw):
    problem = read_problem(status, raw, None)
    assert len(problem.message) < 600
    assert len(problem.raw) == 65536
