from __future__ import annotations

import base64
import json
import random
import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.llm.endpoint import Endpoint
from dialogauge.llm.secrets import (
    MASK,
    Secrets,
    is_credential,
    parameter_secrets,
    secret_values,
    shown_parameters,
    without_credentials,
)
from dialogauge.llm.transport import read_body
from servers.echoing import FORMS

KEY = "sk-Zq7+x/9 y&W~2é"


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_masked_in_every_form(form):
    echo = FORMS[form](KEY)
    masked = Secrets([KEY]).mask(f"key <{echo}> is wrong")
    assert masked.startswith("key <")
    assert masked.endswith("> is wrong")
    assert MASK in masked
    assert len(masked) < len("key <> is wrong") + 10


@pytest.mark.parametrize("before", ["", "a", "ab", "Bearer "])
def test_base64_of_more_than_the_secret_shows_nothing_of_it(before):
    coded = base64.b64encode(f"{before}{KEY}!".encode()).decode()
    masked = Secrets([KEY]).mask(f"got {coded}")
    assert MASK in masked
    assert len(masked) - len("got ***") <= 16


@pytest.mark.parametrize(
    "text",
    [
        "key sk-Zq7+x/",
        "key sk-Zq7+x/9... is wrong",
        '{"key": "sk-Zq7+x/9"}',
        "(…/9 y&W~2é) no",
        "/9 y&W~2é no",
    ],
)
def test_what_a_server_cut_is_masked_too(text):
    masked = Secrets([KEY]).mask(text)
    assert MASK in masked
    assert "q7" not in masked
    assert "W~2" not in masked


def test_a_short_part_and_a_short_secret_stay():
    secrets = Secrets([KEY, "abc"])
    for text in ("sk-Zq7 is how it begins", "the abc", "2é"):
        assert secrets.mask(text) == text


PLACES = (
    lambda s: {"choices": [{"message": {"content": s}, "finish_reason": s}]},
    lambda s: {"choices": [{"message": {"content": None, "reasoning": s, "refusal": s, s: s}}]},
    lambda s: {"error": {"message": f"bad key {s}", "code": s, "param": s, "type": s}},
    lambda s: {"model": s, "usage": {s: 1, "prompt_tokens": s}, s: {s: [s, {s: None}]}},
    lambda s: [s, [[s]]],
)
SECRET = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x24F, exclude_categories=["Cc"]), min_size=6, max_size=40
)


@given(
    secret=SECRET,
    form=st.sampled_from([f for f in FORMS if f not in ("upper", "lower")]),
    place=st.sampled_from(PLACES),
    before=st.text(max_size=4),
)
def test_no_place_of_a_reply_shows_a_secret(secret, form, place, before):
    value = place(f"{before} {FORMS[form](secret)} end")
    raw = orjson.dumps(value) if before.isascii() else json.dumps(value).encode()
    body, payload = read_body(raw, Secrets([secret]))
    shown = json.dumps(payload, ensure_ascii=False) + body.decode()
    if secret not in json.dumps(place(f"{before}  end")):
        assert secret not in shown
        assert FORMS[form](secret) not in shown
    text, nothing = read_body(raw[:-1] + b"<html>", Secrets([secret]))
    assert nothing is None
    assert FORMS[form](secret).encode() not in text


def test_masking_leaves_everything_else_as_it_is():
    rng = random.Random(1)
    signs = "abcxyz %&\\u0041\"'\n&amp;{}[]é中😀"
    for _ in range(300):
        text = "".join(rng.choices(signs, k=60))
        value = {"a": [text, 1, 2.5, None, True]}
        raw = orjson.dumps(value)
        assert read_body(raw, Secrets([KEY])) == (raw, value)
        assert Secrets([KEY]).mask(f"{text} {KEY} {text}") == f"{text} {MASK} {text}"


@pytest.mark.parametrize(
    ("name", "tells"),
    [
        ("Authorization", True),
        ("X-Api-Key", True),
        ("apiKey", True),
        ("ocp-apim-subscription-key", True),
        ("access_token", True),
        ("Cookie", True),
        ("max_tokens", False),
        ("tokenizer", False),
        ("stop_token", False),
        ("X-Title", False),
        ("api-version", False),
    ],
)
def test_names_tell_credentials(name, tells):
    assert is_credential(name) is tells


def test_which_headers_and_query_values_are_secrets():
    named = [("X-Title", "research group"), ("X-Team", "assistant"), ("api-version", "2024-10-21-preview")]
    assert list(secret_values([*named, ("X-Day", "2024-10-21"), ("X-Org", "acme")])) == []
    assert list(secret_values([("X-Org", "acme-4711-internal")])) == ["acme-4711-internal"]
    assert {"Bearer abcd-1234", "abcd-1234"} <= set(secret_values([("Authorization", "Bearer abcd-1234")]))
    assert "s3cr3tpw" in set(secret_values([("Authorization", "Basic dTpzM2NyM3Rwdw==")]))
    assert "abcdefgh" in set(secret_values([("Cookie", "sid=abcdefgh; a=b")]))


def test_keys_among_parameters_are_secrets_at_any_depth():
    extra = {
        "api_key": "first-key",
        "max_tokens": 5,
        "reasoning": {"effort": "high"},
        "metadata": [{"userToken": "second-one"}],
        "extra_headers": {"X-Org": "third-secret"},
    }
    assert set(parameter_secrets(extra)) == {"first-key", "second-one", "third-secret"}
    shown = shown_parameters({"seed": 1, **extra})
    assert shown == {
        "seed": 1,
        "api_key": MASK,
        "max_tokens": 5,
        "reasoning": {"effort": "high"},
        "metadata": [{"userToken": MASK}],
        "extra_headers": {"X-Org": MASK},
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("m@http://u:p@h:8000/v1?key=x#MY_KEY", "m@http://h:8000/v1#MY_KEY"),
        ("pool:a@http://u:p@h/v1,b@https://v:q@i/v1#K", "pool:a@http://h/v1,b@https://i/v1#K"),
        ("http://u:p@ss@h/v1", "http://h/v1"),
        ("http://u:p#w@h/v1", "http://h/v1"),
        ("http://u:p/w@h/v1", "http://h/v1"),
        ("http://u:p,w@h/v1", "http://h/v1"),
        ("http://u:p@h:notaport/v1", "http://h:***/v1"),
        ("http://key:secret/v1", "http://key:***/v1"),
        ("http://h/v1#not a variable", "http://h/v1#***"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("no url", "no url"),
    ],
)
def test_a_url_is_shown_without_credentials(text, shown):
    assert without_credentials(text) == shown


@pytest.mark.parametrize("between", [" ", "\n", "\r\n  ", "\u200b", "\0"])
@pytest.mark.parametrize("every", [1, 2, 10])
def test_a_secret_that_is_spread_is_masked(between, every):
    secret = "sk-Live9f8e7d6c5b4a3Zq0Xw"
    for text in (secret, secret.encode().hex(), base64.b64encode(secret.encode()).decode()[:-3]):
        spread = between.join(text[i : i + every] for i in range(0, len(text), every))
        for shown in (spread, json.dumps(spread)[1:-1]):
            masked = Secrets([secret]).mask(f"The key {shown} is wrong: that much is known.")
            assert masked == "The key *** is wrong: that much is known."


LIVE = "sk-proj-Q7vX2mN9pL4tR8wY1zA6bC3dE5fG0hJkM"
PARTS = {
    "without five signs at each end": LIVE[5:-5],
    "twelve signs": LIVE[12:26],
    "the same, spaced": " ".join(LIVE[5:-5]),
    "the same, as hex": LIVE.encode().hex()[10:-10],
    "the same, in base64": base64.b64encode(LIVE.encode()).decode()[6:-6],
    "bold": "**".join(LIVE[i : i + 6] for i in range(0, len(LIVE), 6)),
    "each in a tag": "".join(f"<b class='x'>{sign}</b>" for sign in LIVE),
    "a list": json.dumps(list(LIVE)),
    "in brackets": "".join(f"[{sign}]" for sign in LIVE),
    "behind dashes": "\u2014".join(LIVE[i : i + 5] for i in range(0, len(LIVE), 5)),
    "numbered bytes": " ".join(f"0x{byte:02x}" for byte in LIVE.encode()),
    "backward": LIVE[::-1],
    "base64 twice": base64.b64encode(base64.b64encode(f"ab{LIVE}".encode())).decode(),
    "hex in base64": base64.b64encode(LIVE.encode().hex().encode()).decode(),
    "base64 as hex": base64.b64encode(LIVE.encode()).hex(),
}


@pytest.mark.parametrize("form", PARTS)
def test_twelve_signs_in_a_row_are_masked_whatever_stands_between(form):
    masked = Secrets([LIVE]).mask(f"You sent {PARTS[form]} today.")
    assert MASK in masked
    assert len(masked) <= len("You sent *** today.") + 24


def test_what_only_looks_spread_stays():
    text = "He may pass: word for word, up a s s."
    assert Secrets(["password", "pass word for"]).mask(text) == text


@pytest.mark.parametrize(
    ("secret", "echo"),
    [
        ("user-17:two words & more", "u ser-1 7:two wo\nrds  & mo re"),
        (HEX_KEY := "sk-Live9f8e7d6c5b", HEX_KEY.encode().hex("-").upper()),
        (HEX_KEY, HEX_KEY.encode().hex(" ").replace(" ", ", ")),
        (HEX_KEY, "+".join(HEX_KEY)),
        ("pass\\6 & more-990", " ".join("pass\\6") + "  &amp;  " + " ".join("more-990")),
        (HEX_KEY, "".join(f"{sign}&#0;" for sign in HEX_KEY).removesuffix("&#0;")),
        ("a+b/c==x9&y81z", base64.b64encode(b"a%2Bb%2Fc%3D%3Dx9%26y81z").decode()),
        ('pass"word & \\ more', base64.b64encode(b"pass&quot;word &amp; \\ more").decode()),
        ('pass"word & \\ more!', base64.b64encode(b'pass\\"word & \\\\ more!').decode()),
        ("naïve-Passwörter-Ж9", "NAÏVE-PASSWÖRTER-Ж9"),
        ("STRASSE-ÄÖÜ-77ЖЖ", "strasse-äöü-77жж"),
        ("sk-Live9f8e7", r"\\u0073%5c\x6b%5C\u002dLive9f8e7"),
        ("pa5\\5x-more-9", r"pa5\\\\5x-more-9"),
        ("sk-Live9f8e7", "".join(f"&#{ord(sign):09d};" for sign in "sk-Live9f8e7")),
    ],
)
def test_a_secret_in_a_form_of_forms_is_masked(secret, echo):
    assert Secrets([secret]).mask(f"The key '{echo}' is wrong.") == "The key '***' is wrong."


@pytest.mark.parametrize("secret", ["0egP@@;é0#dlU'e😀dK{bi,中gwo[U1cf中ñzhUzf", "sk-" + "Xy7" * 30])
def test_half_a_secret_is_masked_however_long_its_signs_are(secret):
    half = len(secret) // 2
    for part in (secret[:half], secret[-half:]):
        for text in (part, base64.b64encode(b"?" + part.encode() + b"?").decode(), part.encode().hex()):
            assert Secrets([secret]).mask(f"The key {text} is wrong").count(MASK) == 1


def test_the_header_that_is_made_of_user_info_is_masked_in_every_form():
    endpoint = Endpoint("http://user-17:pass%40word-1@h/v1")
    sent = endpoint.request_headers()["Authorization"]
    assert endpoint.redact(f"You sent <{sent}>") in ("You sent <***>", "You sent <Basic ***>")
    for before, after in (("x", "y"), ("xx", "y"), ("xxx", ""), ("", "yy")):
        twice = base64.b64encode(f"{before}{sent}{after}".encode()).decode()
        # A sign of base64 beside the secret also holds bits of what stands there.
        assert re.fullmatch(r"You sent [\w=]{0,5}\*\*\*[\w=]{0,4}", endpoint.redact(f"You sent {twice}"))
