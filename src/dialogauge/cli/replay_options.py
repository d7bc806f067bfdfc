"""The options that only `dialogauge replay` has, each said once for its commands."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "Agents",
    "BaseUrl",
    "Candidates",
    "Context",
    "DataNow",
    "DrawSeed",
    "Draws",
    "Family",
    "Judge",
    "K",
    "KeyEnv",
    "Lang",
    "Licence",
    "Margin",
    "Model",
    "Reference",
    "RetryFailed",
    "Rule",
    "Seed",
    "Size",
    "Split",
    "Strategy",
]

_CANDIDATE = (
    "MODEL@URL#KEYVAR, replies:FILE, pool:REF,REF, py:MODULE:NAME, file:PATH, or a name of agents.toml or "
    "the configuration; NAME= before it names it."
)
_JUDGE = "The evaluator: any judge of `satisfaction` (the reply is judged in foresight)."
_RULE = "How turns are chosen: hard is the published rule and looks at the ratings."
_CONTEXT = "What a candidate is shown beside the messages before the reply; prefix is nothing."
_AGENTS = "agents.toml: organisation, version, licence and family of candidates, and where each is reached."
_MODEL = "The evaluator's model, where it asks one; short for --role judge=MODEL@URL#KEYVAR."
_REFERENCE = "A run whose scores of the original replies are taken over; it must be of this very evaluator."
_DATA = "Where the conversations are now, if not where they were selected from; repeatable."

Rule = Annotated[str, typer.Option(metavar="hard|random|stratified|all", help=_RULE)]
Size = Annotated[int, typer.Option("-n", "--size", min=1, help="Turns at most.")]
Split = Annotated[str, typer.Option(metavar="test|train|all", help="Whose turns are chosen from.")]
Licence = Annotated[str | None, typer.Option(help="Licence of the data, for the card.")]
Seed = Annotated[int, typer.Option(help="Of the selection, and of pools and repeats of candidates.")]
Candidates = Annotated[list[str] | None, typer.Option(metavar="[NAME=]REF", help=_CANDIDATE)]
Context = Annotated[
    str,
    typer.Option(metavar="prefix|task|profile|memory-tfidf|memory-diverse|memory-compressed", help=_CONTEXT),
]
Agents = Annotated[str | None, typer.Option(help=_AGENTS)]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Do again what failed.")]
Judge = Annotated[str, typer.Option(metavar="NAME", help=_JUDGE)]
Strategy = Annotated[
    str | None,
    typer.Option(metavar="topk|boundary-paired|score-balanced", help="Of episodic-nearest (else topk)."),
]
K = Annotated[int | None, typer.Option(min=1, help="Turns that episodic-nearest takes (else 6).")]
Lang = Annotated[
    str | None, typer.Option(metavar="en|zh|auto", help="Language of the evaluator's prompts, with a model.")
]
Model = Annotated[str | None, typer.Option(help=_MODEL)]
BaseUrl = Annotated[str | None, typer.Option(help="The evaluator's endpoint.")]
KeyEnv = Annotated[str | None, typer.Option(help="Variable that holds the key of the evaluator's endpoint.")]
Reference = Annotated[str | None, typer.Option(metavar="RUN", help=_REFERENCE)]
DataNow = Annotated[list[str] | None, typer.Option("--data", metavar="PATH", help=_DATA)]
Margin = Annotated[float, typer.Option(min=0, help="A difference of no more than this is a tie.")]
Draws = Annotated[int, typer.Option(min=100, help="Bootstrap draws of users.")]
DrawSeed = Annotated[int, typer.Option(help="Of the draws and of the shuffled control.")]
Family = Annotated[str | None, typer.Option(help="The evaluator's family of models, for self-preference.")]
