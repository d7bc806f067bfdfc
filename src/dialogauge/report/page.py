"""The report page: one HTML file that needs nothing else."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.report import charts, words
from dialogauge.report.view import ReportView

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["environment", "render_report", "style_sheet"]


def render_report(view: ReportView) -> str:
    """Write the report as one self-contained HTML document.

    All text of users and models is escaped, and its invisible characters are made visible. The page
    holds no script and loads nothing; its policy forbids both.
    """
    template = environment().get_template("report.html.j2")
    return template.render(view=view, about=view.about, figures=view.figures, style=style_sheet())


def style_sheet() -> str:
    """Return the style of all pages."""
    return resources.files("dialogauge.report").joinpath("style.css").read_text(encoding="utf-8")


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
    for chart in (charts.histogram, charts.curve, charts.segments):
        environment.globals[f"{chart.__name__}_of"] = chart
    return environment
