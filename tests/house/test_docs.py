"""The documentation contract: the command reference is fresh, links lead somewhere, options exist."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import get_args

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_FENCE = re.compile(r"^ *(```|~~~)")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)(?: \"[^\"]*\")?\)")
_COMMAND = re.compile(r"(?<!from )\bdialogauge +((?:replay|annotate|learn|tune) +[a-z]+|[a-z]+)\b(.*)")
_SPAN = re.compile(r"(`+)(.+?)\1")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")

# Options of other programs that the documentation speaks of.
_FOREIGN = {"--check", "--quick", "--write", "--inputs", "--only", "--at", "--tiny", "--short", "--resume"}


def _tool(name: str) -> ModuleType:
    path = ROOT / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


REFERENCE = _tool("command_reference")
FLAGS = {name: REFERENCE.flags_of(name) for name in REFERENCE.commands()}
FLAGS["replay"] = FLAGS["annotate"] = FLAGS["learn"] = {"--help"}
ALL_FLAGS = set().union(*FLAGS.values()) | {"--version", "--dialogauge-report"} | _FOREIGN


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield each line with whether it is code; continued lines of a shell are joined."""
    fenced = False
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced or re.match(r" {4,}\S", line):
            yield True, line
        else:
            yield False, line


def _prose(page: Path) -> Iterator[str]:
    for code, line in _lines(page.read_text(encoding="utf-8")):
        if not code:
            yield _SPAN.sub("", line)


def _code(page: Path) -> Iterator[str]:
    for code, line in _lines(page.read_text(encoding="utf-8")):
        yield from [line] if code else (m[2] for m in _SPAN.finditer(line))


def _anchors(page: Path) -> set[str]:
    """Return the anchors that a page has both in a clone and on the site; these differ for some headings."""
    found: set[str] = set()
    for code, line in _lines(page.read_text(encoding="utf-8")):
        if not code and (heading := re.match(r"#+ (.*)", line)):
            words = re.sub(r"[^\w\- ]", "", heading[1].lower()).strip()
            in_clone, on_site = words.replace(" ", "-"), re.sub(r"[-\s]+", "-", words)
            found |= {in_clone} if in_clone == on_site and words.isascii() else set()
    return found


def test_library_reference_is_fresh() -> None:
    library = _tool("library_reference")
    written = library.TARGET.read_text(encoding="utf-8")
    assert written == library.render(), "docs/reference.md is stale: run `make docs`"


def test_json_reference_is_fresh() -> None:
    printed = _tool("json_reference")
    written = printed.TARGET.read_text(encoding="utf-8")
    assert written == printed.render(), "docs/json.md is stale: run `make docs`"


def test_command_reference_is_fresh() -> None:
    written = REFERENCE.TARGET.read_text(encoding="utf-8")
    assert written == REFERENCE.render(), "docs/commands.md is stale: run `make docs`"


def test_every_command_says_how_it_ends() -> None:
    assert set(REFERENCE.ENDS) == set(REFERENCE.commands())


def test_readme_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in REFERENCE.commands() if f"`{name}`" not in readme] == []


def test_links_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        for link in (link for line in _prose(page) for link in _LINK.findall(line)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in _anchors(target)):
                broken.append(f"{page.name}: {link}")
    assert broken == []


def test_options_exist() -> None:
    unknown = []
    for page, code in ((p, code) for p in PAGES for code in _code(p)):
        found = _COMMAND.search(code)
        if found is None:
            unknown += [(page.name, o) for o in _OPTION.findall(code) if o not in ALL_FLAGS]
        elif found[1] not in FLAGS:
            unknown.append((page.name, f"dialogauge {found[1]}"))
        else:
            options = _options(found[2])
            unknown += [(page.name, f"{found[1]} {o}") for o in options if o not in FLAGS[found[1]]]
    assert unknown == []


def _options(rest: str) -> list[str]:
    """Return the options among the words of one command, up to a pipe, a list or a comment."""
    words = shlex.split(rest.split(" #")[0], posix=True)
    until = next((i for i, word in enumerate(words) if word in {"|", "&&", ";", ">", "||"}), len(words))
    return [w.partition("=")[0] for w in words[:until] if re.match(r"--?[a-z]", w)]


def test_pages_are_linked_from_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [p.relative_to(ROOT / "docs").as_posix() for p in PAGES if (ROOT / "docs") in p.parents]
    assert [p for p in pages if p != "index.md" and f"({p})" not in index] == []


def test_file_formats_name_every_field() -> None:
    from typing import get_args

    from dialogauge.core import Conversation, FailureKind, Judged, Judgement, Target
    from dialogauge.core.json_keys import as_json
    from dialogauge.core.judgement import row_json
    from dialogauge.studies.judging.summary import summarise

    formats = (ROOT / "docs" / "file-formats.md").read_text(encoding="utf-8")
    concepts = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    rows, summary = (formats.split(f"## {name}\n")[1].split("\n## ")[0] for name in FILES)
    judged = Judged(Target("c", "turn", 1), Judgement())
    row = row_json(Conversation("c", ()), judged, repeat=1, judge="j")
    assert [f for f in row if f"`{f}`" not in rows] == []
    assert [k for k in as_json(summarise([], dimensions=[])) if f"`{k}`" not in summary] == []
    assert [k for k in get_args(FailureKind) if f"`{k}`" not in concepts] == []


FILES = ("judgements.jsonl", "summary.json")


def _format_examples() -> dict[str, tuple[str, str]]:
    """Return, by format, the ending and the text of its example."""
    text = (ROOT / "docs" / "file-formats.md").read_text(encoding="utf-8")
    part = text.split("## Conversations")[1].split("### Field maps")[0]
    found = {}
    for section in part.split("\n### ")[1:]:
        name, _, rest = section.partition("\n")
        block = re.search(r"```(\w+)\n(.*?)```", rest, re.DOTALL)
        assert block is not None, f"{name} has no example"
        found[name] = (block[1], block[2])
    return found


EXAMPLES = _format_examples()


def test_every_format_has_an_example() -> None:
    from dialogauge.data import format_names

    assert sorted(EXAMPLES) == sorted(format_names())


def test_examples_of_formats_are_read(tmp_path: Path) -> None:
    from dialogauge.core import Conversation
    from dialogauge.data import read_conversations

    for name, (ending, text) in EXAMPLES.items():
        file = tmp_path / name / "User_1" / "trip" / f"0.{ending}"
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        reader = read_conversations([str(file)])
        read = list(reader)
        assert [f.format for f in reader.files.values()] == [name]
        assert all(isinstance(c, Conversation) for c in read), read
        assert all(c.replied_turns for c in read if isinstance(c, Conversation)), name


def test_findings_of_the_local_judge_exist() -> None:
    from dialogauge.signals.signal import _NOTES, FaultKind

    text = (ROOT / "docs" / "local-judge.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    named = {name for line in rows for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert named - set(_NOTES) == set()
    assert [kind for kind in get_args(FaultKind) if kind not in text] == []


def test_dependencies_are_argued_for() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    decision = (ROOT / "docs" / "decisions" / "0001-dependencies.md").read_text(encoding="utf-8")
    names = [re.split(r"[<>=\[ ]", d)[0] for d in project["dependencies"]]
    assert [name for name in names if f"| `{name}` |" not in decision] == []


def test_the_architecture_names_what_is_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", text))
    source = ROOT / "src" / "dialogauge"
    assert named
    assert [
        name for name in sorted(named) if not (source / name).exists() and not (ROOT / name).exists()
    ] == []
