import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.report.markdown import is_markdown, markdown

TAG = re.compile(
    r'<(/?)(p|b|i|del|code|pre|ul|li|blockquote|div|table|tbody|tr|td|hr/)( class="[a-z0-9 ]+")?>'
)
MARKS = set("*`~|#>+-•_ \t\n\r:")
"""What layout may take away; a colon aligns columns."""


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain\ntext", "<p>plain\ntext</p>"),
        ("**bold** and *it*", "<p><b>bold</b> and <i>it</i></p>"),
        ("**a *b* `c`**", "<p><b>a <i>b</i> <code>c</code></b></p>"),
        ("`**no**`", "<p><code>**no**</code></p>"),
        ("2*3*4 and ** x ** and **open", "<p>2*3*4 and ** x ** and **open</p>"),
        ("snake_case __init__ stays", "<p>snake_case __init__ stays</p>"),
        ("## Plan ##", "<p><b>Plan</b></p>"),
        ("#hashtag", "<p>#hashtag</p>"),
        ("- a\n  - b", '<ul><li class="d0">a</li><li class="d1">b</li></ul>'),
        (
            "- a\n - b\n\t- c\n    - d\n     - e\n      - f",
            '<ul><li class="d0">a</li><li class="d1">b</li><li class="d2">c</li><li class="d2">d</li>'
            '<li class="d3">e</li><li class="d3">f</li></ul>',
        ),
        ("~~gone~~", "<p><del>gone</del></p>"),
        ("snake*b* c", "<p>snake*b* c</p>"),
        ("``x` y", "<p>``x` y</p>"),
        ("```\n~~~\n```", "<pre><code>~~~</code></pre>"),
        ("a\r\nb", "<p>a\nb</p>"),
        ("3. three\n7) seven", '<ul><li class="d0 n">3. three</li><li class="d0 n">7) seven</li></ul>'),
        ("2026 was good", "<p>2026 was good</p>"),
        ("> said", "<blockquote>said</blockquote>"),
        ("---", "<hr/>"),
        ("```py\nx = '<b>'\n```", "<pre><code>x = '&lt;b&gt;'</code></pre>"),
        ("```\nnever *closed*", "<pre><code>never *closed*</code></pre>"),
        (
            "|a|b|\n|--|:-:|\n|1|**2**|",
            '<div class="scroll"><table><tbody><tr><td>a</td><td>b</td></tr>'
            "<tr><td>1</td><td><b>2</b></td></tr></tbody></table></div>",
        ),
        ("|a|b|\nno table", "<p>|a|b|\nno table</p>"),
        ("[here](javascript:alert(1))", "<p>[here](javascript:alert(1))</p>"),
        ("![x](https://a.example/p.png)", "<p>![x](https://a.example/p.png)</p>"),
        ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>"),
        ("**<script>**", "<p><b>&lt;script&gt;</b></p>"),
        ("一、**杭州**:西湖", "<p>一、<b>杭州</b>:西湖</p>"),
    ],
)
def test_layout_is_shown_and_nothing_runs(written, shown):
    assert markdown(written) == shown


def test_what_holds_no_mark_is_no_markdown():
    assert not is_markdown("Just a sentence - with a dash, and 3.5 stars.")
    assert all(
        map(is_markdown, ("a *b*", "`x`", "text\n- item", "text\n2. item", "# head", "> quote", "a|b"))
    )


PIECES = st.sampled_from(
    ["**", "*", "`", "\n```\n", "~~", "\n", "\n\n", "- ", "1. ", "# ", "> ", "|", "|--|--|", "---", " ",
     "    ", "<b>", "&amp;", '"', "\u202e", "a", "word", "预订", "3", "\\", "[x](y)", "\r\n", "<!--", "]]>"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_character_is_lost_and_no_foreign_tag_is_made(written):
    made = markdown(written)
    bare = TAG.sub("", made)
    assert "<" not in bare
    tags = [m[1] + m[2] for m in TAG.finditer(made) if m[2] != "hr/"]
    assert sorted(t[1:] for t in tags if t[0] == "/") == sorted(t for t in tags if t[0] != "/")
    assert _words(html.unescape(bare).replace("⟨U+202E⟩", "\u202e")) == _words(written)


def _words(text):
    return "".join(c for c in text if c not in MARKS)


@pytest.mark.parametrize(
    "piece", ["**a ", "*a ", "`", "|", "- ", "# ", "~~a", "***", "1. ", "> ", "#" + " " * 50, "|-", "* * "]
)
def test_long_texts_of_marks_are_read_in_one_pass(piece):
    # A pattern that went back and forth would not end within the patience of any reader.
    text = (piece * 20_000)[:20_000]
    assert _words(html.unescape(TAG.sub("", markdown(text)))) == _words(text)


@pytest.mark.parametrize(
    ("start", "piece", "end"),
    [
        ("# a", " ", "x"),
        ("# a", " #", "x"),
        ("a ", "`", ""),
        ("- ", "`", "b"),
        ("**", "`", "**"),
        ("|a|\n|-|\n|", "`", "|"),
        ("```", " ", "!"),
        ("~~~", " ", "!"),
    ],
)
def test_one_long_line_of_marks_is_read_in_one_pass(start, piece, end):
    text = start + piece * (200_000 // len(piece)) + end
    assert _words(html.unescape(TAG.sub("", markdown(text)))) == _words(text)
