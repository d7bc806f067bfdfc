"""Responses that break the rules of HTTP or of the chat format, byte by byte."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain, repeat
from typing import Any

from servers.long_texts import long_bodies, long_texts

Pieces = Iterable[bytes | float]
"""Bytes to send, and seconds to wait; after the last the server closes."""

_MB = 1_000_000
_MOST = 1_900_000
"""Bytes; a little less than is read by default."""
_OTHER = str.maketrans("012345", "154213")


def http(body: bytes, status: int = 200, **headers: str) -> bytes:
    """Return a response of HTTP/1.1 with these headers, `_` for `-` in their names."""
    lines = {"Content_Type": "application/json", "Content_Length": str(len(body)), **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} Fine\r\n{head}\r\n".encode("utf-8", "surrogateescape") + body


def _chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in chunks) + end


def _changed(change: Callable[[dict[str, Any]], Any]) -> Callable[[bytes, str], Pieces]:
    """Make a response whose JSON is changed: in place, or to what `change` returns."""

    def respond(body: bytes, _: str) -> Pieces:
        payload = json.loads(body)
        other = change(payload)
        return [http(json.dumps(payload if other is None else other).encode())]

    return respond


def _message(**fields: object) -> Callable[[bytes, str], Pieces]:
    return _changed(lambda p: p["choices"][0]["message"].update(fields))


def _choice(**fields: object) -> Callable[[bytes, str], Pieces]:
    return _changed(lambda p: p["choices"][0].update(fields))


def _usage(*values: object) -> Callable[[bytes, str], Pieces]:
    names = ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details")
    return _changed(lambda p: p.update(usage=dict(zip(names, values, strict=False))))


def _error(status: int, error: object, **headers: str) -> Callable[[bytes, str], Pieces]:
    return lambda *_: [http(json.dumps(error).encode(), status, **headers)]


@cache
def _bomb(packed_mb: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(_MB)) for _ in range(packed_mb)) + packer.flush()


@cache
def _long_texts(size: int) -> Mapping[str, str]:
    return long_texts(size)


@cache
def _long_bodies(size: int) -> Mapping[str, bytes]:
    return long_bodies(size)


def _made_up(body: bytes) -> bytes:
    """Return a healthy response to another question."""
    payload = json.loads(body)
    message = payload["choices"][0]["message"]
    message["content"] = message["content"].translate(_OTHER)
    return http(json.dumps(payload).encode())


def _parts(payload: dict[str, Any]) -> None:
    message = payload["choices"][0]["message"]
    texts = [message["content"][:20], message["content"][20:]]
    message["content"] = [7, None, *({"type": "text", "text": text} for text in texts), {"type": "image"}]


def _second_choice(payload: dict[str, Any]) -> None:
    other = json.loads(json.dumps(payload["choices"][0]))
    other["message"]["content"] = other["message"]["content"].translate(_OTHER)
    payload["choices"].append(other)


def _surrogates(body: bytes, _: str) -> Pieces:
    text = json.loads(body)["choices"][0]["message"]["content"].replace("parcel", "\ud83d parcel \udc00")
    payload = json.loads(body)
    payload["choices"][0]["message"]["content"] = text
    return [http(json.dumps(payload).encode())]


_SLOW_DOWN = {
    "error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota."}
}
_RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"}

#: What a name makes of the bytes of a healthy body and an argument.
WIRES: Mapping[str, Callable[[bytes, str], Pieces]] = {
    # The answer is there, whatever else is.
    "garbage_after": lambda b, _: [http(b), 0.02, b"\x00\xff garbage \r\n\r\n"],
    "second_response": lambda b, _: [http(b), _made_up(b)],
    "second_response_later": lambda b, _: [http(b), 0.02, _made_up(b)],
    "continue": lambda b, _: [b"HTTP/1.1 100 Continue\r\n\r\n" * 20, http(b)],
    "until_closed": lambda b, _: [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", 0.01, b],
    "http10": lambda b, _: [b"HTTP/1.0 200 OK\r\n\r\n", b],
    "chunked": lambda b, _: [_chunked(*(b[i : i + 7] for i in range(0, len(b), 7)))],
    "trailers": lambda b, _: [_chunked(b, end=b"0\r\nX-Score: 5\r\n\r\n")],
    "chunk_extensions": lambda b, _: [_chunked(end=b"%x;score=5\r\n%s\r\n0\r\n\r\n" % (len(b), b))],
    "byte_by_byte": lambda b, _: chain.from_iterable((bytes([c]), 0.0) for c in http(b)),
    "wrong_type": lambda b, _: [http(b, Content_Type="text/html; charset=utf-16")],
    "no_type": lambda b, _: [http(b, Content_Type="")],
    "odd_headers": lambda b, _: [http(b, X_Odd="\udcff\udcfe\t=?utf-8?", Set_Cookie="a=b", Server="é")],
    "many_headers": lambda b, _: [http(b, **{f"X_{n}": "y" * 50 for n in range(60)})],
    "bom": lambda b, _: [http(b"\xef\xbb\xbf" + b)],
    "spaces_around": lambda b, _: [http(b"\n \t" * 99 + b + b"\r\n" * 99)],
    "gzip": lambda b, _: [http(gzip.compress(b), Content_Encoding="gzip")],
    "gzip_twice": lambda b, _: [http(gzip.compress(gzip.compress(b)), Content_Encoding="gzip, gzip")],
    "gzip_members": lambda b, _: [
        http(gzip.compress(b[:50]) + gzip.compress(b[50:]), Content_Encoding="gzip")
    ],
    "deflate": lambda b, _: [http(zlib.compress(b), Content_Encoding="deflate")],
    "deflate_raw": lambda b, _: [http(zlib.compress(b, wbits=-15), Content_Encoding="deflate")],
    "surrogates": _surrogates,
    "usage_texts": _usage("many", "3", [], "none"),
    "usage_huge": _usage(1e300, 2**70, -1, {"cached_tokens": 2**80}),
    "usage_negative": _usage(-5, -7, -12, {"cached_tokens": -3}),
    "usage_fractions": _usage(1.5, 2.5, True, 7),
    "usage_null": _changed(lambda p: p.update(usage=None)),
    "usage_list": _changed(lambda p: p.update(usage=[1, 2, 3])),
    "model_number": _changed(lambda p: p.update(model=7, id=None, object=[], created="yesterday")),
    "finish_unknown": _choice(finish_reason="because"),
    "finish_number": _choice(finish_reason=7, index="0", logprobs=[]),
    "two_choices": _changed(_second_choice),
    "parts": _changed(_parts),
    "reasoning_number": _message(reasoning_content=7, reasoning={"a": [1]}, tool_calls=7, refusal=""),
    "unknown_fields": _changed(lambda p: p.update({"error": None, "detail": [], "": {}, "choices ": []})),
    # The connection breaks, or what comes is no HTTP.
    "early_close": lambda b, _: [http(b)[:-9]],
    "head_only": lambda b, _: [http(b).partition(b"\r\n\r\n")[0]],
    "tls_alert": lambda *_: [b"\x15\x03\x01\x00\x02\x02\x28"],
    "ssh": lambda *_: [b"SSH-2.0-OpenSSH_9.6\r\n"],
    "zeros": lambda *_: [bytes(5000)],
    "icy": lambda b, _: [b"ICY 200 OK\r\n\r\n" + b],
    "length_too_long": lambda b, _: [http(b, Content_Length=str(len(b) + 7))],
    "length_negative": lambda b, _: [http(b, Content_Length="-1")],
    "length_of_words": lambda b, _: [http(b, Content_Length="many")],
    "two_lengths": lambda b, _: [http(b, Content_length="5")],
    "huge_header": lambda b, _: [http(b, X_Long="x" * 300_000)],
    "huge_status": lambda *_: [b"HTTP/1.1 200 " + b"O" * 300_000],
    "no_colon": lambda b, _: [http(b, **{"X_A: y\r\nno colon here\r\nX_B": "z"})],
    "chunk_no_number": lambda b, _: [_chunked(b[:50], end=b"zz\r\n" + b[50:])],
    "chunk_negative": lambda b, _: [_chunked(b[:50], end=b"-5\r\n" + b[50:])],
    "chunk_cut": lambda b, _: [_chunked(b[:50], end=b"")],
    "chunk_huge": lambda b, _: [_chunked(end=b"ffffffffff\r\n" + b)],
    # The response is whole and no answer.
    "length_too_short": lambda b, _: [http(b, Content_Length=str(len(b) - 9))],
    "gzip_cut": lambda b, _: [http(gzip.compress(b)[:-12], Content_Encoding="gzip")],
    "gzip_not": lambda b, _: [http(b, Content_Encoding="gzip")],
    "brotli": lambda b, _: [http(b, Content_Encoding="br")],
    "utf16": lambda b, _: [http(b.decode().encode("utf-16"))],
    "empty_body": lambda *_: [http(b"")],
    "null_body": lambda *_: [http(b"null")],
    "number_body": lambda *_: [http(b"4")],
    "list_body": lambda b, _: [http(b"[" + b + b"]")],
    "event_stream": lambda b, _: [
        http(b"data: " + b + b"\n\ndata: [DONE]\n\n", Content_Type="text/event-stream")
    ],
    "two_bodies": lambda b, _: [http(b + b)],
    "not_a_number": lambda b, _: [http(b.replace(b'"index": 0', b'"index": NaN'))],
    "deep": lambda *_: [http(b'{"a":' * 50_000)],
    "deep_closed": lambda *_: [http(b"[" * 50_000 + b"]" * 50_000)],
    "choices_object": _changed(lambda p: p.update(choices={"0": p["choices"][0]})),
    "choices_null": _changed(lambda p: p.update(choices=None)),
    "choice_text": _changed(lambda p: p.update(choices=[p["choices"][0]["message"]["content"]])),
    "message_text": _choice(message="A 4, I should say."),
    "no_message": _changed(lambda p: p["choices"][0].pop("message") and None),
    # Texts that are none.
    "content_number": _message(content=4),
    "content_object": _message(content={"conversation_level": {"solved": {"note": "", "score": 5}}}),
    "content_missing": _changed(lambda p: p["choices"][0]["message"].pop("content") and None),
    # Errors of vendors.
    "gemini429": _error(429, [{"error": {**_SLOW_DOWN["error"], "details": [_RETRY]}}]),
    "gemini503": _error(503, [{"error": {"code": 503, "message": "The model is overloaded."}}]),
    "openrouter": _choice(error={"code": 502, "message": "Provider returned error"}, finish_reason="error"),
    "openrouter_finish": _choice(finish_reason="error"),
    "openrouter_429": _choice(error={"code": 429, "message": "Rate limited, try again in 0.2s"}),
    "error_object": _changed(lambda _: {"object": "error", "message": "CUDA error", "code": 500}),
    "error_text": _changed(lambda _: {"error": "model runner has unexpectedly stopped"}),
    "groq": _error(400, {"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed"}}),
    "retry_after": lambda _, a: [http(b'{"error": {"message": "slow down"}}', 429, Retry_After=a)],
    "retry_after_ms": lambda *_: [http(b'{"error": "slow down"}', 429, retry_after_ms="150")],
    "reset_header": lambda *_: [http(b"{}", 429, x_ratelimit_reset_requests="150ms")],
    "status": lambda _, a: [http(b'{"error": {"message": "hm"}}', int(a))],
    "status_page": lambda _, a: [http(b"<html><title>No</title></html>", int(a), Content_Type="text/html")],
    "status_empty": lambda _, a: [http(b"", int(a))],
    # Too much of it.
    "gzip_bomb": lambda *_: [http(_bomb(5), Content_Encoding="gzip")],
    "too_large": lambda *_: [http(b" " * 3 * _MB)],
    "chunks_forever": lambda *_: chain([_chunked(end=b"")], repeat(b"10000\r\n" + b"x" * 65536 + b"\r\n")),
    "header_forever": lambda *_: chain([b"HTTP/1.1 200 OK\r\nX: "], repeat(b"x" * 65536, 16384)),
    "headers_forever": lambda *_: chain([b"HTTP/1.1 200 OK\r\n"], repeat(b"X: y\r\n" * 8192)),
    "drip_forever": lambda b, _: chain(
        [http(b, Content_Length="9999999")], chain.from_iterable(repeat((b" ", 0.1)))
    ),
    "continue_forever": lambda *_: repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 2048),
    "long_text": lambda b, a: _message(content=_long_texts(_MB)[a])(b, ""),
    "long_body": lambda _, a: [http(_long_bodies(_MB)[a])],
    "long_error": lambda _, a: [http(_long_bodies(_MB)[a], 400)],
    "long_headers": lambda b, a: [http(b, **{f"X_{n}": a * (7900 // len(a)) for n in range(100)})],
    "huge_text": lambda b, a: _message(content=_long_texts(_MOST // 2)[a])(b, ""),
    "huge_body": lambda _, a: [http(_long_bodies(_MOST)[a])],
    "huge_packed": lambda _, a: [http(gzip.compress(_long_bodies(_MOST)[a]), Content_Encoding="gzip")],
    "huge_echo": lambda _, a: [http(json.dumps({"k": (a + "\\n" * 20) * (_MOST // 90)}).encode())],
}
