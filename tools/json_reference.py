"""Writes docs/json.md from the schemas of what commands print with `--json`: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialogauge.app.printed.commands import PRINTED, json_schema

TARGET = Path(__file__).resolve().parents[1] / "docs" / "json.md"
HEAD = """\
# JSON output

<!-- Written by tools/json_reference.py (`make docs`); do not edit by hand. -->

With `--json` a command prints one JSON document on standard output and nothing else there; messages go to standard error, and the exit code is the same. `judge`, `satisfaction`, `success`, `arena` and `fit` print what the run's `summary.json` holds.

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


def render() -> str:
    """Return the page."""
    return HEAD + "".join(line for command in PRINTED for line in _section(command))


def _section(command: str) -> Iterator[str]:
    schema = json_schema(command)
    yield f"\n## {command}\n"
    for one in schema.get("anyOf", [schema]):
        if "$ref" in one:
            yield from _table(schema["$defs"][one["$ref"].rpartition("/")[2]])


def _table(record: dict[str, Any]) -> Iterator[str]:
    yield f"\n{record['description']}\n\n| key | type | |\n|---|---|---|\n"
    for key, of in record["properties"].items():
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
