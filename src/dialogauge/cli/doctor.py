"""`dialogauge doctor`: what an endpoint can do, and whether a model is fit to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dialogauge.app.settings import DoctorOptions
from dialogauge.cli.options import AsJson, takes

if TYPE_CHECKING:
    from dialogauge.judges.known_answers import KnownAnswerReport
    from dialogauge.llm.doctor import EndpointCheck
    from dialogauge.report import Block


@takes(DoctorOptions)
def doctor(options: DoctorOptions, as_json: AsJson = False) -> None:
    """Test an endpoint and a model.

    Probes reachability, schemas, log-probabilities and latency, and asks questions with known answers.
    """
    from dialogauge.app.doctor import examine_endpoint
    from dialogauge.cli.terminal import print_blocks, print_json
    from dialogauge.report import Callout, Section

    if as_json:
        examined = examine_endpoint(options)
        print_json(examined)
    else:
        examined = examine_endpoint(options, _print_check)
        typer.echo()
        answers = () if examined.answers is None else answers_blocks(examined.answers)
        print_blocks((*answers, Section("", (Callout((examined.verdict,)),))))
    raise typer.Exit(1 if examined.against else 0)


_STATUS = {"ok": "ok", "limited": "limited", "failed": "FAILED", "not_checked": "–"}
_MESSAGE_CHARS = 120


def _print_check(check: EndpointCheck) -> None:
    """Print one check as soon as it is done."""
    from dialogauge.cli.terminal import print_folded
    from dialogauge.report import plain

    print_folded(f"{_STATUS[check.status]:<7}  {check.name:<11}  ", plain(check.sentence))


def answers_blocks(report: KnownAnswerReport) -> tuple[Block, ...]:
    """Lay out what was right, whether turns are averaged, and what was wrong."""
    from dialogauge.report import Definitions, Items, Section

    averaged = {True: "yes", False: "no", None: "cannot tell"}[report.returns_turn_average]
    pairs = [(kind, f"{right} of {total}") for kind, (right, total) in report.by_kind.items()]
    pairs.append(
        (
            "returns the average of its turns",
            f"{averaged} ({report.like_the_mean} of {report.diverging} informative conversations scored "
            "wrong and like the mean)",
        )
    )
    wrong = [
        f"failed: {case}: {failure.kind}, {failure.message[:_MESSAGE_CHARS]}"
        for case, failure in report.failures.items()
    ]
    wrong += [f"wrong: {c.case}: {c.what} is {c.answer}, should be {c.expected}" for c in report.wrong]
    answered = f"{report.answered} of {report.asked} answered"
    title = f"known answers: {report.right} of {report.checked} right; {answered}"
    return (Section(title, (Definitions(tuple(pairs)), *([Items(tuple(wrong))] if wrong else []))),)
