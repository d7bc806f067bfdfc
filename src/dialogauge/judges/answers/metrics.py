"""The metrics of tasks by name: what each needs of a task's record, and one call for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dialogauge.core.errors import UsageError
from dialogauge.judges.answers.grades import readability
from dialogauge.judges.answers.ideas import gold_rank_score
from dialogauge.judges.answers.judgments import judge_scores
from dialogauge.judges.answers.locomo import abstains, exact_match, locomo_f1, locomo_option, token_f1
from dialogauge.judges.answers.overlap import meteor_exact_stem, rouge_l, rouge_l_distinct

_Scores = Mapping[str, float | None]
_Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TaskMetric:
    """A metric of one reply to one task."""

    function: Callable[[str, _Record], _Scores]
    """Of the reply and the record, named values; None where one is not defined."""
    needs: tuple[str, ...] = ("gold",)
    """The fields of the record without which there is no score."""


def _locomo(reply: str, record: _Record) -> _Scores:
    category, options = record["category"], record.get("options")
    if category == 5:
        option = locomo_option(reply, options) if options else None
        return {"f1": None, "option": option, "abstained": abstains(reply)}
    _require("locomo", record, ("gold",))
    f1 = locomo_f1(reply, str(record["gold"]), category, record.get("lang", "en"))
    return {"f1": f1, "option": None, "abstained": None}


def _of_texts(name: str, function: Callable[[str, str, str], float]) -> TaskMetric:
    """Make a metric of a function of the reply, the right answer and the language."""
    return TaskMetric(
        lambda reply, record: {name: function(reply, str(record["gold"]), record.get("lang", "en"))}
    )


def _report(reply: str, record: _Record) -> _Scores:
    """Score a journalistic report as JRE-L does; its grades of readability have no common range with F1."""
    gold, near = str(record["gold"]), record.get("bert_score")
    nearness = None if near is None else near(reply, gold)
    return {"rouge_l": rouge_l(reply, gold, "en"), "bert_score": nearness, **readability(reply)}


METRICS: Mapping[str, TaskMetric] = {
    "locomo": TaskMetric(_locomo, needs=("category",)),
    "token_f1": _of_texts("token_f1", token_f1),
    "exact_match": _of_texts("exact_match", lambda reply, gold, _: exact_match(reply, gold)),
    "rouge_l_distinct": _of_texts("rouge_l_distinct", rouge_l_distinct),
    "rouge_l": _of_texts("rouge_l", rouge_l),
    "meteor_exact_stem": _of_texts("meteor_exact_stem", meteor_exact_stem),
    "readability": TaskMetric(lambda reply, _: readability(reply), needs=()),
    "judge": TaskMetric(
        lambda reply, record: judge_scores(reply, str(record["gold"]), record.get("bert_score"))
    ),
    "report": TaskMetric(_report),
    "idea_rank": TaskMetric(
        lambda reply, record: {"idea_rank": gold_rank_score(reply, record["letters"])}, needs=("letters",)
    ),
}
"""`gold` is the right answer, `lang` is `en` or `zh`; `category` and `options` are LoCoMo's; `letters` comes
from `shuffled_letters`, and the reply is then that of the model which ranks; `bert_score` is a function."""


def score(name: str, record: _Record, reply: str) -> _Scores:
    """Return the values of one of `METRICS` for a reply to a record's task; None where one is not defined.

    Raises:
        UsageError: There is no such metric, or the record lacks a field or has None there.
        MissingExtra: The text is Chinese, the metric cuts it into words, and jieba is not installed.
    """
    if name not in METRICS:
        message = f"there is no metric {name!r}"
        raise UsageError(message, hint=f"one of {', '.join(METRICS)}")
    _require(name, record, METRICS[name].needs)
    return METRICS[name].function(reply, record)


def _require(name: str, record: _Record, fields: tuple[str, ...]) -> None:
    if missing := [field for field in fields if record.get(field) is None]:
        message = f"the metric {name} needs {' and '.join(missing)}, which the task does not have"
        raise UsageError(message)
