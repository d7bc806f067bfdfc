"""Filling a template in one pass, so that nothing inside the data is ever read as a placeholder."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["placeholders", "render"]

_ANY = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")


def placeholders(template: str) -> tuple[str, ...]:
    """Return what stands between double braces, in order of first appearance, spaces stripped."""
    return tuple(dict.fromkeys(match.strip() for match in _ANY.findall(template)))


def render(template: str, values: Mapping[str, str]) -> str:
    """Replace every `{{name}}` by its value.

    Values are put in as they are and are not looked at again: braces in them do nothing. Values that
    the template does not name are left out. Raises KeyError for a name without a value.
    """
    return _NAME.sub(lambda match: values[match.group(1)], template)
