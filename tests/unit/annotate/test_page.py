"""The rating page as it is written: its policy, its task, its words."""

import hashlib
import json
import re
from base64 import b64encode
from html.parser import HTMLParser
from importlib import resources

from dialogauge.annotate.page import rating_page
from rating_tasks import example

TALK = [{"role": "user", "turn": 1, "text": "Hello"}]
MARKUP = "</script><script>window.__pwned=1</script><img src=x onerror=alert(1)><!--"


class Parts(HTMLParser):
    """The elements of a page, with what stands in scripts and styles."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.inside = [], {}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.cdata_elem:
            name = self.elements[-1][1].get("id", self.cdata_elem)
            self.inside[name] = self.inside.get(name, "") + data


def parts(**changes):
    return Parts(rating_page(example(**changes)))


def task_of(page):
    return json.loads(page.inside["task"])


def item(*messages, **changes):
    return {"id": "i1", "conversation_id": "c1", "about": {}, "turns": [1], "messages": messages, **changes}


def test_nothing_is_loaded_and_only_our_own_script_and_style_are_allowed():
    page = parts()
    named = {a["http-equiv"]: a["content"] for tag, a in page.elements if "http-equiv" in a}
    sources = {
        name: f"'sha256-{b64encode(hashlib.sha256(page.inside[name].encode()).digest()).decode()}'"
        for name in ("script", "style")
    }
    assert named["Content-Security-Policy"] == (
        f"default-src 'none'; script-src {sources['script']}; style-src {sources['style']}; "
        "base-uri 'none'; form-action 'none'"
    )
    assert not {"src", "href", "srcset", "action", "style"} & {k for _, a in page.elements for k in a}
    assert "innerHTML" not in page.inside["script"]


def test_text_stands_in_the_page_as_json_without_markup():
    said = MARKUP + "\u2028&amp; \ud800 \u202e\0 end"
    page = parts(title=MARKUP, items=[item({"role": "user", "turn": 1, "text": said}, id="</script>\ud83d")])
    assert [tag for tag, _ in page.elements].count("script") == 3
    assert not re.search("[<>&\u2028]", page.inside["task"])
    task = task_of(page)
    assert task["title"] == MARKUP
    assert task["items"][0]["id"] == "</script>\ud83d"
    shown = task["items"][0]["messages"][0]["body"]
    assert shown == f"{MARKUP}⟨U+2028⟩&amp; ⟨U+D800⟩ ⟨U+202E⟩⟨U+0000⟩ end"
    rating_page(example(items=[item(id="\ud83d")])).encode()  # half a character is written as its escape


def test_a_reply_brings_its_markdown_as_elements_and_a_user_none():
    reply = "Two:\n- **one** <b>\n- a | b\n\n---\n`x && y`"
    messages = ({"role": "user", "turn": 1, "text": reply}, {"role": "assistant", "turn": 1, "text": reply})
    user, assistant = task_of(parts(items=[item(*messages)]))["items"][0]["messages"]
    assert user["body"] == reply
    assert assistant["body"] == [
        "div", "", ["p", "", "Two:"],
        ["ul", "", ["li", "d0", ["b", "", "one"], " <b>"], ["li", "d0", "a | b"]],
        ["hr", ""], ["p", "", ["code", "", "x && y"]],
    ]  # fmt: skip


def test_calls_names_and_what_it_is_about_are_made_visible():
    call = {"name": "find\u202e", "arguments": '{"a": "\u200b"}'}
    message = {"role": "assistant", "turn": 1, "text": None, "calls": [call]}
    result = {"role": "tool", "turn": 1, "text": "ok", "name": "find"}
    shown = task_of(parts(items=[item(message, result, about={"scenario": "a\0b"})]))["items"][0]
    assert shown["about"] == {"scenario": "a⟨U+0000⟩b"}
    assert shown["messages"] == [
        {"role": "assistant", "turn": 1, "body": "", "calls": [
            {"name": "find⟨U+202E⟩", "arguments": '{"a": "⟨U+200B⟩"}'}]},
        {"role": "tool", "turn": 1, "body": "ok", "name": "find"},
    ]  # fmt: skip


def test_a_very_long_reply_stays_text():
    long = "**word** " * 120_000
    message = {"role": "assistant", "turn": 1, "text": long}
    assert task_of(parts(items=[item(message)]))["items"][0]["messages"][0]["body"] == long


def test_another_task_has_another_digest_and_the_same_task_the_same():
    digests = [
        next(a["data-digest"] for _, a in parts(**changes).elements if "data-digest" in a)
        for changes in ({}, {}, {"title": "Another"}, {"items": [item(*TALK)]})
    ]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_language_is_english_or_chinese():
    for asked, language in (("en", "en"), ("zh", "zh"), ("zh-CN", "zh"), ("fr", "en")):
        page = parts(language=asked)
        assert page.elements[0] == ("html", {"lang": language})
        assert task_of(page)["language"] == language


def test_the_words_are_whole_in_both_languages():
    folder = resources.files("dialogauge.annotate")
    words = json.loads(folder.joinpath("rate.json").read_text("utf-8"))
    script = "".join(folder.joinpath(f"{name}.js").read_text("utf-8") for name in ("conversation", "rate"))
    assert list(words) == ["en", "zh"]
    assert list(words["en"]) == list(words["zh"])
    for key, text in words["en"].items():
        holes = set(re.findall(r"\{(\w+)\}", text))
        assert holes == set(re.findall(r"\{(\w+)\}", words["zh"][key])), key
    used = set(re.findall(r'"([a-z_]+)"', script))
    built = {f"each_{level}" for level in ("turn", "conversation", "pair")} | {
        "about_scenario",
        "about_context",
    }
    assert set(words["en"]) - used - built == set()
