"""Loading a rubric by the name of a shipped one or by the path of a user's own."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.core.errors import Place, RubricError
from dialogauge.prompts.assemble import assemble
from dialogauge.prompts.rubric import Rubric, Template

if TYPE_CHECKING:
    from dialogauge.prompts.rubric_file import RubricFile

__all__ = ["DATA_LINE", "load_personal", "load_rubric", "shipped_rubrics", "split_template"]

DATA_LINE = "<!-- data -->"
"""Alone on a line of a template: above it the instructions (the system message), below it the data."""

_FILES = Path(__file__).parent / "files"


def shipped_rubrics() -> tuple[str, ...]:
    """Return the names of the rubrics that come with the package, sorted."""
    return tuple(sorted(p.stem for p in (_FILES / "rubrics").glob("*.toml")))


def load_rubric(name_or_path: str | Path) -> Rubric:
    """Load a rubric and check all of it.

    Args:
        name_or_path: The name of a shipped rubric, or the path of a `.toml` file. The templates stand in
            the file (`template`) or beside it, one Markdown file for each language: `NAME.en.md`.

    Raises:
        RubricError: The file or a template is missing or wrong; names file, key and reason.
    """
    path = _find(name_or_path)
    content = _parse(path)
    file = _validate(path, content)
    templates = {lang: split_template(_template_text(path, file, lang)) for lang in file.languages}
    content.pop("template", None)
    content.pop("scenario_rules", None)  # looked at after judging: they change no judgement
    return assemble(file, templates, content, str(path))


def load_personal(name: str) -> Rubric:
    """Load a rubric of `dialogauge satisfaction`: these stand on a shelf of their own.

    Args:
        name: The stem of a file in `files/personal`, e.g. `zero_shot`.
    """
    return load_rubric(_FILES / "personal" / f"{name}.toml")


def _find(name_or_path: str | Path) -> Path:
    text = str(name_or_path)
    if text in shipped_rubrics():
        return _FILES / "rubrics" / f"{text}.toml"
    path = Path(text)
    if path.suffix == ".toml" or path.exists():
        return path
    names = ", ".join(shipped_rubrics())
    msg = f"there is no rubric {text!r}"
    raise RubricError(msg, hint=f"shipped: {names}; or give the path of a .toml file")


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        msg = f"{what} is not UTF-8 (byte {error.start})"
        raise RubricError(msg, place=Place(str(path)), hint="save it as UTF-8") from error
    except OSError as error:
        msg = f"{what} cannot be read: {error.strerror or error}"
        raise RubricError(msg, place=Place(str(path)), hint="check the path") from error


def _parse(path: Path) -> dict[str, Any]:
    text = _read(path, "the rubric file")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found.group(1)) if found else text.count("\n") + 1
        msg = f"not valid TOML: {error}"
        raise RubricError(msg, place=Place(str(path), line), hint="see docs/rubrics.md") from error


def _validate(path: Path, content: dict[str, Any]) -> RubricFile:
    from pydantic import ValidationError

    from dialogauge.prompts.rubric_file import RubricFile

    try:
        return RubricFile.model_validate(content)
    except ValidationError as error:
        faults = dict.fromkeys(
            _fault(detail["loc"], detail["type"], detail["msg"]) for detail in error.errors()
        )
        raise RubricError("; ".join(faults), place=Place(str(path)), hint="see docs/rubrics.md") from error


def _fault(loc: tuple[int | str, ...], kind: str, message: str) -> str:
    key = ""
    for part in loc:
        if isinstance(part, int):
            key += f"[{part + 1}]"
        elif re.fullmatch(r"[A-Za-z0-9_.-]+", part) and part not in ("str", "int", "dict"):
            key += f".{part}" if key else part
    reason = {
        "extra_forbidden": "unknown key",
        "missing": "missing",
        "string_pattern_mismatch": "not a plain name (lower-case letters, digits, underscores)",
    }.get(kind, message[:1].lower() + message[1:])
    return f"{key}: {reason}"


def _template_text(path: Path, file: RubricFile, language: str) -> str:
    if isinstance(file.template, str):
        return file.template
    if file.template is not None and language in file.template:
        return file.template[language]
    beside = path.with_name(f"{path.stem}.{language}.md")
    if not beside.exists():
        msg = f"template.{language}: missing; the rubric states the language {language!r}"
        hint = f"write {beside.name} beside it, or template.{language} in the file"
        raise RubricError(msg, place=Place(str(path)), hint=hint)
    return _read(beside, "the template")


def split_template(text: str) -> Template:
    """Split a template at its data line; without one, all of it is data."""
    above, line, below = text.partition(f"\n{DATA_LINE}\n")
    if not line:
        return Template(instructions="", data=text.strip())
    return Template(instructions=above.strip(), data=below.strip())
