"""Texts in other encodings than UTF-8 are named as iconv names them, and are what they were."""

import pytest

from dialogauge.core.encodings import encodings_of, utf8_hint

TEXTS = {
    "Sch\u00f6ne Gr\u00fc\u00dfe aus K\u00f6ln": ("cp1252", "latin-1", "mac_roman"),
    "Es kostet 5 \u20ac \u2013 \u201esag\u201c es": ("cp1252", "mac_roman"),
    "It\u2019s \u201cfine\u201d": ("cp1252",),
    "荷物はどこにありますか？": ("shift_jis", "euc_jp"),
    "我的包裹在哪里？您好，您的包裹明天会到。": ("gb18030", "gbk"),
    "我的包裹在哪裡？您好，您的包裹明天會到。": ("big5",),
    "제 소포는 어디에 있나요? 내일 도착합니다.": ("euc_kr",),
    "Где моя посылка? Она придёт завтра.": ("cp1251", "koi8_r"),
    "Gdzie jest moja przesyłka? Proszę się nie martwić": ("cp1250",),
}
PYTHONS = {"MACINTOSH": "mac_roman"}


@pytest.mark.parametrize(("text", "encoding"), [(t, e) for t, es in TEXTS.items() for e in es])
def test_the_first_name_gives_the_text_back(text, encoding):
    raw = text.encode(encoding)
    name = encodings_of(raw)[0]
    assert raw.decode(PYTHONS.get(name, name)) == text
    assert f"iconv -f {name} -t UTF-8" in utf8_hint(raw)


def test_what_may_be_two_is_named_so_and_what_nothing_says_is_not_guessed():
    assert "CP1252 or CP1250" in (hint := utf8_hint("balíček přijde zítra".encode("cp1250")))
    assert hint.endswith("and look at the text")
    assert "iconv -f ENCODING" in utf8_hint(b"\x81\xff\x8d\x90")


def test_a_long_text_is_cut_where_a_character_may_be_halved():
    assert encodings_of(b"x" + "我的包裹在哪里".encode("gb18030") * 9000) == ["GB18030"]
