"""The report page: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from dialogauge.report import words
from dialogauge.report.view import ReportView

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["environment", "page_of", "render_report"]


class View(Protocol):
    """What a page shows."""

    @property
    def about(self) -> object:
        """What stands at its head and foot."""


def render_report(view: ReportView) -> str:
    """Write the report as one self-contained HTML document.

    All text of users and models is escaped, and its invisible characters are made visible. The page
    holds no script and loads nothing; its policy forbids both.
    """
    return page_of("report.html.j2", view, figures=view.figures)


def page_of(template: str, view: View, **more: object) -> str:
    """Fill in a page's template: it finds the view, what it is about, the style of all pages, and `more`."""
    style = resources.files("dialogauge.report").joinpath("style.css").read_text(encoding="utf-8")
    return environment().get_template(template).render(view=view, about=view.about, style=style, **more)


_CHARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "charts": ("histogram", "curve", "segments"),
    "satisfaction_charts": ("forest", "reliability", "scatter", "confusion", "correlations"),
}
"""By module, the functions that templates call as `NAME_of`."""


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the one template environment: everything is escaped, nothing may be undefined."""
    # jinja2 takes longer to import than all of this room
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from dialogauge.report.compiled import CompiledTemplates

    environment = Environment(
        loader=PackageLoader("dialogauge.report", "templates"),
        autoescape=True,
        bytecode_cache=CompiledTemplates(Path(__file__)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for filter_name in words.__all__:
        environment.filters[filter_name] = getattr(words, filter_name)
    for module, names in _CHARTS.items():
        for name in names:
            environment.globals[f"{name}_of"] = partial(_draw, f"dialogauge.report.{module}", name)
    return environment


def _draw(module: str, name: str, *told: object, **more: object) -> object:
    """Call a chart, whose module is loaded when a page first has one."""
    draw: Callable[..., object] = getattr(import_module(module), name)
    return draw(*told, **more)
