"""In what two judges differ, by what they say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialogauge.app.versions import versions

__all__ = ["differences"]

_SHOWN = {"model": "model", "base_url": "endpoint"}
_PROMPTS = ("rubric", "rubric_version", "prompts")


def differences(manifest: Mapping[str, Any], described: Mapping[str, Any]) -> tuple[str, ...]:
    """Say in what a judge differs from the one that a manifest describes; empty when nothing is told.

    Args:
        manifest: Of a run: `judge` and `versions`.
        described: What the other judge says of itself.
    """
    before = manifest["judge"]
    then, now = before.get("client") or {}, described.get("client") or {}
    out = [
        f"{name} ({then.get(key)} judged the run, this is {now.get(key)})"
        for key, name in _SHOWN.items()
        if then.get(key) != now.get(key)
    ]
    if then.get("parameters") != now.get("parameters"):
        out.append("parameters of the model")
    if any(before.get(key) != described.get(key) for key in _PROMPTS):
        out.append("prompts")
    old, new = before.get("settings") or {}, described.get("settings") or {}
    out += [f"setting {name}" for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    version, here = manifest["versions"].get("dialogauge"), versions()["dialogauge"]
    if version != here:
        out.append(f"version of dialogauge ({version} judged the run, this is {here})")
    return tuple(out)
