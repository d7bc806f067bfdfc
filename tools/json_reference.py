"""Writes docs/json.md from the schemas of what commands print with `--json`: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialogauge.app.printed.commands import json_schema, printing_commands

TARGET = Path(__file__).resolve().parents[1] / "docs" / "json.md"
HEAD = """\
# JSON output

<!-- Written by tools/json_reference.py (`make docs`); do not edit by hand. -->

With `--json` a command prints one JSON document on standard output and nothing else there. Messages go to standard error, and the exit code is the same. `judge`, `satisfaction`, `success`, `arena` and `fit` print what the run's `summary.json` holds.

```
dialogauge judge sample.jsonl --json | jq '.dimensions.helpfulness | {mean, interval95, n, n_failed}'
dialogauge judge sample.jsonl --json | jq -r '.findings.first[] | [.conversation_id, .turn, .reason] | @tsv'
```

`--json-schema` prints the JSON Schema (draft 2020-12) of what `--json` prints, and does nothing else:

```
dialogauge judge --json-schema > judge.schema.json
```

**What holds.** The schemas are strict: an object with fixed keys has these and no others, and keys that are always there are required. Each output in our tests is held against its schema. A figure that is undefined is `null`, never 0; `n` beside it says over how many. Maps by names of yours (dimensions, raters, candidates) have any keys.

**Between versions.** A patch release (0.2.1) changes no key. A minor one (0.3) may add keys; one that is renamed, removed or means something else is named in the [changelog](../CHANGELOG.md) as breaking. Readers should pass over keys that they do not know, so validate with the schema of the version that wrote the document. Sentences (`words`, `sentence`, `answer`) are for people, and may be reworded at any time.

With `--dry-run` (`judge`, `satisfaction`, `arena`, `trust`, `replay run`) what is printed is the plan: the last keys below.

The keys of each document; the schema has those inside.
"""


_MANY = 10


def render() -> str:
    """Return the page."""
    return HEAD + "".join(line for command in printing_commands() for line in _section(command))


def _section(command: str) -> Iterator[str]:
    yield f"\n## {command}\n"
    known = {} if command == "judge" else next(_records("judge"))["properties"]
    for record in _records(command):
        yield from _table(record, known)


def _records(command: str) -> Iterator[dict[str, Any]]:
    schema = json_schema(command)
    for one in schema.get("anyOf", [schema]):
        if "$ref" in one:
            yield schema["$defs"][one["$ref"].rpartition("/")[2]]


def _table(record: dict[str, Any], known: dict[str, Any]) -> Iterator[str]:
    """Lay out the keys; many that are those of `judge` are only named."""
    own = {key: of for key, of in record["properties"].items() if known.get(key) != of}
    shared = [key for key in record["properties"] if key not in own]
    yield f"\n{record['description']}\n"
    if len(shared) > _MANY:
        yield f"\nAs [judge](#judge) prints them: {', '.join(f'`{key}`' for key in shared)}. And:\n"
    else:
        own = record["properties"]
    yield "\n| key | type | |\n|---|---|---|\n"
    for key, of in own.items():
        absent = "" if key in record["required"] else " (may be absent)"
        words = of.get("description", "").replace("|", "\\|")
        yield f"| `{key}`{absent} | {_type(of)} | {words} |\n"


def _type(schema: dict[str, Any]) -> str:
    """Name the type of a value."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2].removesuffix("Json"))
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}" if schema["items"] else "list"
    if schema.get("type") == "object":
        return f"map to {_type(schema['additionalProperties'])}"
    names = schema.get("type", "any")
    return " or ".join(names) if isinstance(names, list) else str(names)


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
    print(TARGET)
