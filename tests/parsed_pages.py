"""Pages taken apart: their text, ids and attributes; judged runs made up for them; contrast of colours."""

import re
from html.parser import HTMLParser
from importlib import resources
from types import SimpleNamespace

import pytest

import browser
from dialogauge.report import to_html
from dialogauge.runs import Manifest
from dialogauge.studies.judging.opening import Known
from dialogauge.studies.judging.page import report_page
from dialogauge.studies.judging.sampling import Sampler
from dialogauge.studies.judging.summary import summarise
from dialogauge.studies.judging.transcripts import read_sample
from report_samples import CARD, checked

VOID = {"meta", "br", "input", "rect", "line", "circle", "path"}
OPTIONAL_END = {"tr", "td", "th"}

needs_chromium = pytest.mark.skipif(
    browser.binary() is None, reason="no Chromium found: install one or set DIALOGAUGE_CHROMIUM"
)


def without_own_script(html):
    """Return a page without the script that may stand on it; any other script stays."""
    script = resources.files("dialogauge.report").joinpath("page.js").read_text("utf-8")
    return html.replace(f"<script>{script}</script>", "", 1)


class ParsedPage(HTMLParser):
    """Text, ids and attributes of a page, our own script aside; complains of elements that do not close."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.attributes, self.words, self.tags = [], [], [], [], []
        self.feed(without_own_script(html))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [v for k, v in attrs if k == "id"]
        if tag not in VOID | OPTIONAL_END:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        if tag not in OPTIONAL_END | VOID:  # a circle may hold a title
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


def manifest_of(**changes):
    """Of a run of the card by a model."""
    fields = {
        "study": "judge",
        "settings": {
            "rubric": "card 1", "mode": "hindsight", "inputs": ["week46.jsonl"], "seed": 0,
            "role": {"model": "judge-model"},
        },
        "judge": {
            "name": "card", "checked_languages": ["en"],
            "notes": ["Two records were cut."],
        },
        "written": "2026-11-20T08:00:00+00:00",
        "versions": {"dialogauge": "0.1.0"},
        "command": "dialogauge judge week46.jsonl -o runs/week46",
    }  # fmt: skip
    return Manifest(**{**fields, **changes})


def run_of(made, manifest=None, title="Guest service, week 46"):
    """A stored run that holds made-up rows and conversations."""
    return SimpleNamespace(
        directory=SimpleNamespace(path=SimpleNamespace(resolve=lambda: SimpleNamespace(name=title))),
        manifest=manifest or manifest_of(),
        rows_of=lambda ids: (r for r in made.rows if r["conversation_id"] in ids),
        conversations=lambda ids: list(made.fetch(ids)),
        mask=None,
    )


def judged_page(made, run=None, trust=None, against_users=(), known=None, **more):
    """Return the summary of made-up rows, and their page."""
    specs = more.pop("dimensions", CARD)
    sampler = Sampler(specs)
    summary = summarise(sampler.through(iter(made.rows)), dimensions=specs, **more)
    run = run or run_of(made)
    evidence = checked(*(spec.name for spec in specs if spec.name != "repair_handling"))
    known = known or Known(trust, evidence=evidence)
    summary = summary.with_evidence(known.evidence)
    sample = read_sample(run, sampler.result(), summary.dimensions, known.findings)
    return summary, report_page(run, summary, sample, known, against_users=against_users)


def judged_html(made, run=None, **more):
    """Return the summary of made-up rows, and their page as HTML."""
    summary, page = judged_page(made, run, **more)
    return summary, to_html(page)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)
