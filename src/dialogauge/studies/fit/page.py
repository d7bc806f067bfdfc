"""The page of a fitted run: the figures of each way of cutting, beside those of the controls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from importlib import resources
from typing import Any

_VIEWS = {
    "all": "All examples",
    "without_whole": "Without ratings of the whole",
    "whole_only": "Ratings of the whole only",
}


def render_fit(summary: Mapping[str, Any]) -> str:
    """Write the summary of a fit as one self-contained HTML document."""
    style = resources.files("dialogauge.report").joinpath("style.css").read_text(encoding="utf-8")
    title = f"Fitted to ratings: {escape(str(summary['dimension']))}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        f"'unsafe-inline'\"><style>{style}</style><main>{''.join(_body(title, summary))}</main></html>\n"
    )


def _body(title: str, summary: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h1>{title}</h1><p>{summary['examples']:,} rated places of {summary['conversations']:,} "
    yield f"conversations, {summary['votes']:,} votes. Every figure is of predictions left out.</p>"
    for part in summary["parts"].values():
        yield f"<h2>{summary['folds']} parts: {part['what']}</h2>"
        for view, words in _VIEWS.items():
            if view in part:
                yield f"<h3>{words}, n = {part[view]['metrics']['n']:,}</h3>"
                yield _table(part[view], list(summary["figures"]))
    yield "<dl>"
    for name, what in summary["figures"].items():
        yield f"<dt>{name}</dt><dd>{escape(what)}</dd>"
    yield "</dl>"


def _table(view: Mapping[str, Any], names: list[str]) -> str:
    rows = {"model": view["metrics"], **view["controls"]}
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(
        f"<tr><th>{name}</th>{''.join(f'<td>{_cell(figures, n)}</td>' for n in names)}</tr>"
        for name, figures in rows.items()
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(figures: Mapping[str, Any], name: str) -> str:
    value = figures[name]
    if value is None:
        return "–"
    low, high = figures.get("intervals", {}).get(name, (None, None))
    return f"{value:z.3f}" if low is None else f"{value:z.3f} [{low:z.3f}, {high:z.3f}]"
