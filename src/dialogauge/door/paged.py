"""What a result with a page offers: the page, as text or as a file."""

from __future__ import annotations

from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, overload

from dialogauge.door.library import AnyPath

if TYPE_CHECKING:
    from dialogauge.report import Page


class _WithPage(Protocol):
    @property
    def page(self) -> Page: ...


class Paged:
    """A result of which there is a page."""

    __slots__ = ()
    _outcome: _WithPage

    @overload
    def page(self, path: None = None) -> str: ...
    @overload
    def page(self, path: AnyPath) -> Path: ...
    def page(self, path: AnyPath | None = None) -> str | Path:
        """Return the page as HTML; with a path, write it there and return the path."""
        from dialogauge.app.outputs import output_file
        from dialogauge.report import to_html
        from dialogauge.runs.directory import write_whole

        page = to_html(self._outcome.page)
        if path is None:
            return page
        write_whole(output_file(fspath(path)), [page.encode()])
        return Path(path)
