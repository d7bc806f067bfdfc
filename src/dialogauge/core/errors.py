"""Every error that dialogauge raises on purpose.

The tree (each also inherits the matching built-in and can be pickled)::

    DialogaugeError
    ├── UsageError (ValueError)          what was asked cannot be done; exit code 2
    │   ├── ConfigError                  a configuration file, role or price table is wrong
    │   ├── RubricError                  a rubric file is wrong; names file and key
    │   ├── DialogueTooLong              a dialogue does not fit into a model, without its oldest turns either
    │   └── MissingExtra (ImportError)   an optional dependency is not installed; says which extra
    ├── InputError (ValueError)          data that cannot be read; exit code 1
    │   ├── FileFault                    a whole file: not UTF-8, truncated, empty, unknown format
    │   └── RecordFault                  one record: bad JSON, unknown role, id seen before ...
    ├── StoreError (OSError)             the run directory: read-only, full, held by another process
    ├── EndpointError (ConnectionError)  an endpoint as a whole is of no use: refused, 401, unknown model
    ├── BudgetSpent (RuntimeError)       the cap on calls or cost was reached; not a failure of a unit
    └── NotConverged (ArithmeticError)   an iterative fit did not settle

A failed judgement is no exception: it is a `JudgeFailure` value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dialogauge.core.patterns import lazy_pattern


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found: a file, and a line or a conversation in it."""

    file: str
    line: int | None = None
    """1-based; None when the whole file is meant."""
    conversation_id: str | None = None
    turn: int | None = None

    def __str__(self) -> str:
        """Write the place as `file:line, conversation X, turn N`."""
        text = self.file if self.line is None else f"{self.file}:{self.line}"
        if self.conversation_id is not None:
            text += f", conversation {self.conversation_id!r}"
        if self.turn is not None:
            text += f", turn {self.turn}"
        return text


_USER_INFO: Final = lazy_pattern(
    r"""(?<=://)(?:(?!,[^,\s]*@https?://)[^\s'"])+(?=@)|[^\s'"@/,]+:(?!//)(?![^\s,'"]*://)[^\s'"]*(?=@)"""
)
"""Up to the last @ of a URL, also of each in a list of `MODEL@URL`, and of one that lacks its http://."""
_QUERY: Final = lazy_pattern(r"""(://[^\s'"?]*\?)[^\s'"#]+""")


def without_user_info(text: str) -> str:
    """Return a message without the user info and the query of the URLs in it, well formed or not."""
    return _QUERY.sub(r"\1***", _USER_INFO.sub("***", text)) if "@" in text or "?" in text else text


class DialogaugeError(Exception):
    """Base of all our errors; `str()` of it is fit to be shown to a user."""

    def __init__(self, message: str, *, place: Place | None = None, hint: str | None = None) -> None:
        """Keep what was found, where, and what to do about it; URLs without what may be secret in them."""
        self.message = without_user_info(message)
        super().__init__(self.message)
        self.place = place
        self.hint = None if hint is None else without_user_info(hint)

    def __str__(self) -> str:
        """`place: message. hint`."""
        text = self.message if self.place is None else f"{self.place}: {self.message}"
        return text if self.hint is None else f"{text} ({self.hint})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by message, with place and hint as state."""
        return (type(self), (self.message,), {"place": self.place, "hint": self.hint})


class UsageError(DialogaugeError, ValueError):
    """What was asked for cannot be done as asked."""


class ConfigError(UsageError):
    """A configuration file, a role or a price table is wrong."""


class RubricError(UsageError):
    """A rubric file is wrong."""


class MissingExtra(UsageError, ImportError):
    """An optional dependency is needed and not installed."""


class DialogueTooLong(UsageError):
    """A dialogue does not fit into a model, without its oldest turns either."""


class InputError(DialogaugeError, ValueError):
    """Data that cannot be read."""


class FileFault(InputError):
    """A whole file cannot be read."""


class RecordFault(InputError):
    """One record of a file cannot be read; the others may be."""


class StoreError(DialogaugeError, OSError):
    """The run directory cannot be used."""


class EndpointError(DialogaugeError, ConnectionError):
    """An endpoint as a whole is of no use; going on would only repeat the failure."""


class BudgetSpent(DialogaugeError, RuntimeError):
    """The cap on calls or cost was reached; what is left undone stays undone."""


class NotConverged(DialogaugeError, ArithmeticError):
    """An iterative fit did not settle within its limit."""
