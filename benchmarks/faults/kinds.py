"""The kinds of fault, and what a conversation comes to that meets one."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ALWAYS", "CAUSES", "OVERLOAD", "PASSING", "SCORED"]

SCORED = "scored"

#: What may stand where a number should and is none: N is the number that the case deserves.
NO_NUMBERS = (
    *("3 or N", "2 to N", "N to 5", ">N", "~N", "=N", "N 5", "N not 5", "1-N", "1–N", "N½", "N → 2", "N:5"),
    *(
        "N (good)",
        "N/5",
        "N out of 5",
        "four",
        "４",
        "N.",
        "+N",
        "0N",
        "0xN",
        "Ne0",
        "N.0",
        "N_0",
        "N,5",
        "N%",
    ),
    *(
        "[N]",
        '{"score": N}',
        '"N"',
        '"N "',
        "N // 5",
        "N /* 5 */",
        "N\n5",
        "NaN",
        "null",
        "true",
        "1e400",
        "N;",
    ),
)

_ODD_BUT_WHOLE = (
    *("garbage_after", "second_response", "second_response_later", "continue", "until_closed", "http10"),
    *("chunked", "trailers", "chunk_extensions", "byte_by_byte", "wrong_type", "no_type", "odd_headers"),
    *("many_headers", "bom", "spaces_around", "gzip", "gzip_twice", "gzip_members", "deflate", "deflate_raw"),
    *("surrogates", "usage_texts", "usage_huge", "usage_negative", "usage_fractions", "usage_null"),
    *("usage_list", "model_number", "finish_unknown", "finish_number", "two_choices", "parts"),
    *("reasoning_number", "unknown_fields"),
)
_BROKEN = (
    *("early_close", "head_only", "tls_alert", "ssh", "zeros", "icy", "length_too_long", "length_negative"),
    *("length_of_words", "two_lengths", "huge_header", "huge_status", "no_colon", "chunk_no_number"),
    *("chunk_negative", "chunk_cut", "chunk_huge", "length_too_short", "header_forever", "headers_forever"),
)
_NO_ANSWER = (
    *("gzip_cut", "gzip_not", "brotli", "utf16", "empty_body", "null_body"),
    *("number_body", "list_body", "event_stream", "two_bodies", "not_a_number", "deep", "deep_closed"),
    *("choices_object", "choices_null", "choice_text", "message_text", "no_message"),
    *("gemini503", "openrouter", "openrouter_finish", "error_object", "error_text"),
    *("status:408", "status:409", "status:425", "status:504", "status:520", "status:522", "status:599"),
    *("status_page:500", "status_page:503", "status_empty:500", "status_empty:502", "status_empty:504"),
    *("long_body:errors", "long_body:plain text", "long_body:escapes"),
)
_TOO_LARGE = (
    *("gzip_bomb", "too_large", "chunks_forever", "long_text:open objects", "long_body:empty objects"),
)
_WAITS = (
    *("gemini429", "openrouter_429", "retry_after_ms", "reset_header", "retry_after:0", "retry_after:0.3"),
    *("retry_after:-1", "retry_after:soon", "retry_after:1e400", "retry_after:NaN", "retry_after"),
    *("retry_after:Wed, 21 Oct 2015 07:28:00 GMT", "retry_after:Thu, 99 Foo 2026", "status_empty:429"),
    *("status_page:429",),
)
_LONG = ("bare members", "backslashes", "surrogates", "one number")

#: What a case comes to when each of its requests meets the fault.
ALWAYS: Mapping[str, str] = {
    "429": "rate_limited",
    "429:1": "rate_limited",
    "429:date": "rate_limited",
    "500": "server_error",
    "502": "server_error",
    "503": "server_error",
    "503:1": "server_error",
    "529": "server_error",
    "html502": "server_error",
    "error200": "server_error",
    "html": "server_error",
    "hang": "timeout",
    "drip:9": "timeout",
    "drip:0.2": SCORED,
    "drop": "connection",
    "reset": "connection",
    "close": SCORED,
    "empty": "empty_reply",
    "null": "empty_reply",
    "no_choices": "empty_reply",
    "cut": "truncated",
    "cut_stop": "invalid_json",
    "prose": "invalid_json",
    "wrong_schema": "invalid_schema",
    "filter": "refused",
    "refusal": "refused",
    "400:no": "rejected",
    "403": "rejected",
    "413": "too_long",
    "think": SCORED,
    "think_field": SCORED,
    "think_orphan": SCORED,
    "two_objects": SCORED,
    "two_verdicts": "invalid_schema",
    "verdict_again": SCORED,
    "two_keys": "invalid_schema",
    "fenced": SCORED,
    "faulty": SCORED,
    **{f"value:{text}": "invalid_schema" for text in NO_NUMBERS},
    "value:N": SCORED,
    "value: N ,": SCORED,
    **dict.fromkeys(_ODD_BUT_WHOLE, SCORED),
    **dict.fromkeys(_BROKEN, "connection"),
    **dict.fromkeys(_NO_ANSWER, "server_error"),
    **dict.fromkeys(_TOO_LARGE, "server_error"),
    **dict.fromkeys(("content_number", "content_object", "content_missing"), "empty_reply"),
    **dict.fromkeys(_WAITS, "rate_limited"),
    **{f"long_text:{name}": "invalid_json" for name in _LONG},
    "long_text:thoughts": "invalid_json",
    "long_text:open thoughts": "empty_reply",
    "long_text:prose": "refused",
    "long_body:choices": "invalid_schema",
    "groq": "invalid_json",
    "drip_forever": "timeout",
}

#: What a case comes to when only its first request meets the fault, where that is no score.
PASSING: Mapping[str, str] = {
    **dict.fromkeys(_TOO_LARGE, "server_error"),
    "filter": "refused",
    "refusal": "refused",
    "400:no": "rejected",
    "413": "too_long",
}

#: The faults of the reply itself, by what the model is asked once more for.
CAUSES: Mapping[str, str] = {
    fault: {"empty_reply": "empty", "truncated": "truncated"}.get(kind, "invalid")
    for fault, kind in ALWAYS.items()
    if kind in ("empty_reply", "truncated", "invalid_json", "invalid_schema", "refused")
    and fault not in PASSING
    and fault not in ("no_choices", "groq")
}

#: The faults that say that the server has too much to do.
OVERLOAD = frozenset(
    fault for fault, kind in ALWAYS.items() if kind == "rate_limited" or "503" in fault or fault == "529"
)
