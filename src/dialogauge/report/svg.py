"""Charts as inline SVG: from values to percentages of a width, nothing else.

Places along an axis are percentages, so that a chart fits any width and its words keep their size. Each
chart has a title and a description that says its figures; none uses colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dialogauge.report.blocks import Axis, Bars, Curve, CurveLine, DotRow, Point, Reference, StackedBar
from dialogauge.report.cells import Ends, Figure, Part
from dialogauge.report.elements import Child, Html, element, joined
from dialogauge.report.words import decimal, figure_line, interval, part_share, percent

_MOST_POINTS = 600
"""Points drawn in a chart; of more, evenly spread ones."""
_MOST_WHISKERS = 40
"""Of a longer line, the intervals are a band."""
_MOST_SAID = 60
"""Points of a line that its description says."""
_SIGNS = "●■▲◆▼✚"
"""Marks of lines, one after the other."""
_HOLLOW = "○△□◇"
"""Marks of controls, each with three dashes before the next."""
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)


def place(value: float, axis: Axis) -> float:
    """Return where a value lies on an axis, from 0 to 1; what is beyond its ends lies at them."""
    inside = min(max(value, axis.low), axis.high)
    return (inside - axis.low) / ((axis.high - axis.low) or 1)


def at(fraction: float) -> str:
    """Write a fraction as a percentage of the chart."""
    return f"{100 * fraction:.2f}".rstrip("0").rstrip(".") + "%"


def ticks(axis: Axis, most: int = 5) -> list[float]:
    """Return up to `most` round values on an axis."""
    span = axis.high - axis.low
    if span <= 0:
        return [axis.low]
    size = 10.0 ** math.floor(math.log10(span / most))
    step = next(size * s for s in _STEPS if span / (size * s) <= most - 1 + 1e-9)
    step = max(step, 1.0) if axis.whole else step
    first = -int(-(axis.low - 1e-9 * span) // step)
    last = int((axis.high + 1e-9 * span) // step)
    return [float(f"{i * step:.10g}") for i in range(first, last + 1)]


def with_room(axis: Axis) -> Axis:
    """Return an axis with a little room at both ends."""
    room = 0.03 * (axis.high - axis.low) or 0.5
    return Axis(axis.low - room, axis.high + room)


def chart(id: str, title: str, words: str, height: str, *children: Child, class_: str = "") -> Html:
    """Frame a chart: `words` say its figures to those who do not see it."""
    return element(
        "svg",
        element("title", title, id=f"{id}-t"),
        element("desc", words, id=f"{id}-d"),
        *children,
        class_=class_,
        style=f"height:{height}",
        role="img",
        aria_labelledby=f"{id}-t {id}-d",
    )


def _line(class_: str, x1: str, y1: str, x2: str, y2: str) -> Html:
    return element("line", class_=class_, x1=x1, y1=y1, x2=x2, y2=y2)


def _words(x: str, y: str, words: str, anchor: str = "middle", class_: str = "", dy: str = "") -> Html:
    return element("text", words, class_=class_, x=x, y=y, dy=dy, text_anchor=anchor)


# One whole in parts


def stack(id: str, bar: StackedBar) -> Html:
    """Draw a stacked bar over the whole width."""
    words = "; ".join(f"{p.name}: {p.n:,} ({percent(part_share(p.n, bar.total))})" for p in bar.parts)
    return chart(
        id, bar.title, words, "2.4rem", _hatch(id, bar.parts), _segments(id, bar.parts), class_="stack"
    )


def mix(id: str, parts: Sequence[Part], *, counted: bool = False) -> Html:
    """Draw parts small, for a cell; what they are stands in words beside it."""
    return element(
        "svg",
        _hatch(id, parts),
        _segments(id, parts, counted=counted),
        class_="stack mix",
        aria_hidden="true",
    )


def _hatch(id: str, parts: Sequence[Part]) -> Html | None:
    if all(p.tone != "none" for p in parts):
        return None
    pattern = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    lines = element("line", class_="hatch", x1="2", x2="2", y2="8")
    return element("defs", element("pattern", lines, id=f"{id}-h", width="8", height="8", **pattern))


def _segments(id: str, parts: Sequence[Part], *, counted: bool = False) -> Iterable[Html]:
    total, x = sum(p.n for p in parts), 0.0
    for part in parts:
        if not part.n:
            continue
        width = part_share(part.n, total)
        hatched = part.tone == "none"
        yield element(
            "rect",
            class_=None if hatched else f"t-{part.tone}",
            fill=f"url(#{id}-h)" if hatched else None,
            x=at(x),
            width=at(width),
            height="100%",
        )
        if counted and width >= 0.04 + 0.025 * len(f"{part.n:,}"):
            yield _words(at(x + width / 2), "50%", f"{part.n:,}", class_=f"on-{part.tone}", dy=".35em")
        x += width


# Distributions


def bars(id: str, block: Bars) -> Html:
    """Draw a distribution, with the mean of what is counted beneath."""
    tallest = max(block.counts, default=0) or 1
    slot = 1 / max(len(block.labels), 1)
    whiskers = block.figure is not None and block.axis is not None
    height = 122 if whiskers else 106
    children: list[Child] = [_bar(n, i, slot, 64 * n / tallest) for i, n in enumerate(block.counts)]
    children.append(_line("axis", "0", "82", "100%", "82"))
    children.append(_bar_labels(block, slot, height - 4))
    if block.reference is not None and block.axis is not None:
        x = at(place(block.reference.value, block.axis))
        children.append(_line("nought", x, "10", x, "82"))
    if block.figure is not None and block.axis is not None:
        children.append(_whisker(block.figure, block.axis))
    words = "; ".join(f"{label}: {n:,}" for label, n in zip(block.labels, block.counts, strict=True))
    return chart(
        id,
        block.title,
        words if block.figure is None else f"{words}. Mean {figure_line(block.figure)}",
        f"{height}px",
        children,
        class_="bars",
    )


def _bar(count: int, place: int, slot: float, height: float) -> Iterable[Html]:
    width = 0.84 * slot
    x = place * slot + (slot - width) / 2
    if count:
        height = max(height, 1.5)
        y = f"{82 - height:.1f}"
        yield element("rect", class_="s0", x=at(x), y=y, width=at(width), height=f"{height:.1f}", rx="2")
    if width > 0.05 or (count and width > 0.025):
        yield _words(at(x + width / 2), f"{77 - height:.1f}", f"{count:,}", class_="count")


def _bar_labels(block: Bars, slot: float, y: int) -> Iterable[Html]:
    step = -(-len(block.labels) // 12) or 1
    for i in range(0, len(block.labels), step):
        x = i * slot if block.at_edges else (i + 0.5) * slot
        yield _words(at(x), f"{y}", block.labels[i], "start" if block.at_edges else "middle")


def _whisker(figure: Figure, axis: Axis) -> Iterable[Html]:
    if figure.bounds is not None and figure.n_failed:
        low, high = (at(place(v, axis)) for v in sorted(figure.bounds))
        yield _line("bound", low, "95", high, "95")
        yield _line("bound", low, "89", low, "101")
        yield _line("bound", high, "89", high, "101")
    if figure.interval is not None:
        yield _line(
            "reach", at(place(figure.interval[0], axis)), "95", at(place(figure.interval[1], axis)), "95"
        )
    if figure.value is not None:
        yield element("circle", class_="mark", cx=at(place(figure.value, axis)), cy="95", r="4.5")


# Dots with intervals


def track(row: DotRow, axis: Axis, references: Sequence[Reference]) -> Html:
    """Draw one row of a dot plot; its value stands in words beside it."""
    lines = [_line("axis", at(x), "0", at(x), "100%") for x in (place(v, axis) for v in ticks(axis))]
    for one in references:
        x = at(place(one.value, axis))
        lines.append(_line("ceiling" if one.label else "nought", x, "0", x, "100%"))
    strong = row.emphasis == "strong"
    if row.interval is not None:
        low, high = (at(place(v, axis)) for v in row.interval)
        lines.append(_line("reach mine" if strong else "reach", low, "50%", high, "50%"))
    if row.value is not None:
        x = at(place(row.value, axis))
        class_, radius = ("dot mine", "5.5") if strong else ("ring", "4")
        lines.append(element("circle", class_=class_, cx=x, cy="50%", r=radius))
    return element("svg", lines, class_="track", aria_hidden="true")


def track_scale(axis: Axis, references: Sequence[Reference]) -> Html:
    """Draw the numbers beneath the rows of a dot plot."""
    words = [_words(at(place(v, axis)), "0", f"{v:g}", dy="1.1em") for v in ticks(axis)]
    for one in references:
        if one.label:
            words.append(_words(at(place(one.value, axis)), "0", one.label, "end", "warnword", "2.2em"))
    high = any(one.label for one in references)
    return element("svg", words, class_="track scale high" if high else "track scale", aria_hidden="true")


# Curves and points


def curve(id: str, block: Curve) -> Html:
    """Draw a line along turns or positions, or points on two axes."""
    edge = 0.0 if block.square else 0.04
    words = "; ".join(_point_words(p, block) for p in block.points[:_MOST_SAID])
    for line in block.lines:
        points = "; ".join(_point_words(p, block) for p in line.points[:_MOST_SAID])
        words += f"{line.name}: {points}. "
    return chart(
        id,
        block.title,
        words,
        "auto" if block.square else "14rem" if block.lines else "8.2rem",
        _grid(block, edge),
        _line("diag", "0", "100%", "100%", "0") if block.square else None,
        element("g", _points(block, edge)),
        [element("g", _line_of(line, looks, block, edge)) for line, looks in line_looks(block.lines)],
        class_="square" if block.square else "curve",
    )


def line_looks(lines: Sequence[CurveLine]) -> list[tuple[CurveLine, str]]:
    """Return each line with the class of its looks: a colour and a mark of its own, or dashes of a control.

    With more than six lines, or twelve controls, looks come again.
    """
    looks, seen = [], {True: 0, False: 0}
    for line in lines:
        quiet = line.emphasis == "quiet"
        looks.append((line, f"q{seen[quiet] % 12}" if quiet else f"c{seen[quiet] % 6}"))
        seen[quiet] += 1
    return looks


def key(looks: str) -> Html:
    """Draw what a line looks like, for a legend."""
    mark = _mark(looks, "50%", "50%", None)
    return element(
        "svg", _line(f"path {looks}", "0", "50%", "100%", "50%"), mark, class_="key", aria_hidden="true"
    )


def _mark(looks: str, x: str, y: str, title: Html | None) -> Html:
    """Draw the mark of a line around a place: a sign of text, so that it keeps its shape at any width."""
    number = int(looks[1:])
    sign = _SIGNS[number] if looks.startswith("c") else _HOLLOW[number // 3]
    return element("text", sign, title, class_=f"sign {looks}", x=x, y=y, dy=".35em", text_anchor="middle")


def _line_of(line: CurveLine, looks: str, block: Curve, edge: float) -> Iterable[Html]:
    points = line.points[:: -(-len(line.points) // _MOST_POINTS) or 1]
    if len(points) > 1:
        yield _path(points, block, edge, banded=line.emphasis != "quiet", class_=looks)
    for p in points if len(points) <= _MOST_WHISKERS else ():
        title = element("title", f"{line.name}, {_point_words(p, block)}")
        yield _mark(looks, at(_across(p.x, block.x, edge)), _up(p.y, block.y), title)


def _point_words(point: Point, block: Curve) -> str:
    """Say what a point is, or where it lies."""
    if point.label:
        return point.label
    x = f"{block.x.label} {point.x:g}".strip()
    ends = "" if point.interval is None else f" {interval(point.interval)}"
    n = "" if point.n is None else f", n {point.n:,}"
    return f"{x}: {decimal(point.y)}{ends}{n}"


def _grid(block: Curve, edge: float) -> Html:
    rows = [(at(1 - place(v, block.y)), _short(v)) for v in ticks(block.y)]
    columns = [(at(_across(v, block.x, edge)), f"{v:g}") for v in ticks(block.x, 6 if block.square else 9)]
    return joined(
        ((_line("axis", "0", y, "100%", y), _words("-8", y, label, "end", dy=".35em")) for y, label in rows),
        (
            (_line("axis", x, "0", x, "100%") if block.square else None, _words(x, "100%", label, dy="1.4em"))
            for x, label in columns
        ),
    )


def _short(value: float) -> str:
    """Write a value so that it fits beside an axis: 0.00025 as 2.5e-4."""
    if not 0 < abs(value) < 1e-3:
        return f"{value:g}"
    digits, _, power = f"{value:.3e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"


def _across(value: float, axis: Axis, edge: float) -> float:
    return edge + (1 - 2 * edge) * place(value, axis)


def _points(block: Curve, edge: float) -> Iterable[Html]:
    step = -(-len(block.points) // _MOST_POINTS) or 1
    points = block.points[::step]
    total = sum(p.n or 0 for p in points) or 1
    banded = not block.square and len(points) > _MOST_WHISKERS
    if not block.square and len(points) > 1:
        yield _path(points, block, edge, banded=banded)
    for p in () if banded else points:
        x, y = at(_across(p.x, block.x, edge)), _up(p.y, block.y)
        if p.interval is not None:
            low, high = (_up(end, block.y) for end in p.interval)
            yield _line("span s0", x, low, x, high)
        plain = 4.0 if len(points) < 60 else 3.2
        radius = 2.5 + 9 * ((p.n or 0) / total) ** 0.5 if block.sized else plain
        kind = "speck" if block.square and not block.sized else "dot"
        title = element("title", _point_words(p, block))
        yield element("circle", title, class_=f"{kind} s0", cx=x, cy=y, r=f"{radius:.1f}")


def _up(value: float, axis: Axis) -> str:
    return at(1 - place(value, axis))


def _path(points: Sequence[Point], block: Curve, edge: float, *, banded: bool, class_: str = "s0") -> Html:
    def put(x: float, y: float) -> str:
        return f"{100 * _across(x, block.x, edge):.2f},{100 * (1 - place(y, block.y)):.2f}"

    band = None
    if banded:
        ends: list[tuple[float, Ends]] = [(p.x, p.interval) for p in points if p.interval is not None]
        ring = [put(x, e[1]) for x, e in ends] + [put(x, e[0]) for x, e in reversed(ends)]
        band = element("polygon", class_=f"band {class_}", points=" ".join(ring)) if ring else None
    line = element("polyline", class_=f"path {class_}", points=" ".join(put(p.x, p.y) for p in points))
    return element("svg", band, line, viewBox="0 0 100 100", preserveAspectRatio="none", class_="fill")
