"""The settings of `dialogauge learn`; see `app/settings`."""

# Without the future import: annotations are read when commands are made, and must be types by then.

from typing import ClassVar, Literal

from dialogauge.app.option_groups import SEEDS, AgentsOptions, ModelOptions, Options, RunOptions
from dialogauge.core.settings import argument, setting


class LearnOptions(ModelOptions, RunOptions, AgentsOptions):
    """Ask tasks of memory systems, and measure what they are worth.

    The page says what each recalls, what that is worth to an answer, and what it costs. Beside the systems
    stand no memory, all of it, and the evidence itself. The run holds the answers: judge, annotate, compare
    and export take it.
    """

    asks: ClassVar[tuple[str, ...]] = ("answerer", "embedder", "memory")

    inputs: tuple[str, ...] = setting(
        (),
        "Files of tasks and corpora, family or support-desk, or a data set or partition in them.",
        "--tasks",
        otherwise="family, which ships",
        metavar="FILE|NAME",
    )
    systems: tuple[str, ...] = setting(
        ("bm25-message", "ranked-message"),
        "A name of `learn systems`, py:MODULE:NAME of a class, or http://... of a server; NAME= names it.",
        "--system",
        metavar="[NAME=]SYSTEM",
    )
    model: str | None = setting(
        None,
        "Model at --base-url that answers (default: words of what was recalled); short for --role answerer=.",
        recorded=False,
        metavar="MODEL",
    )
    models: tuple[str, ...] = setting(
        (),
        "answerer=, embedder= or memory=REF: MODEL@URL#KEYVAR, a name from [roles], or file:PATH.",
        "--role",
        metavar="ROLE=REF",
        recorded=False,
    )
    protocol: Literal["off-policy", "stepwise", "training"] = setting(
        "off-policy",
        "Logs first and then all tasks; tasks after each batch of logs; or the logs' own tasks.",
    )
    logs_file: str | None = setting(
        None, "Dialogues that the assistant led, with feedback; or support-desk.", "--logs", metavar="FILE"
    )
    step_size: int = setting(100, "Dialogues of a batch, stepwise.", low=1, metavar="N")
    sample: int | None = setting(
        None, "Tasks of each data set at most, drawn as MemoryBench does.", low=1, metavar="N"
    )
    k: int | None = setting(
        None,
        "Items that a system may give.",
        "--k",
        low=1,
        high=1_000,
        otherwise="5, without --context-tokens",
    )
    context_tokens: int | None = setting(
        None, "Tokens that a system may give, in place of --k.", low=1, metavar="N"
    )
    disputed_file: str | None = setting(
        None, "Ids of tasks whose gold readers dispute (JSON lines).", "--disputed", metavar="FILE"
    )
    norm_from: str | None = setting(
        None, "Run whose range of scores partitions are brought to, in place of this one's.", metavar="RUN"
    )
    planted: bool = setting(
        False, "Add right, wrong and vague answers, to measure a judge by the rubric answer."
    )
    options: bool = setting(
        False, "Give questions without an answer as published: with two options, one that nothing tells."
    )
    bert_score: str | None = setting(
        None, "Folder of the model of BERTScore, for JuDGE (bert-base-chinese).", metavar="DIR"
    )
    controls: bool = setting(True, "Leave out none, full and oracle.", "--no-controls")
    hours: float | None = setting(
        None, "Time of one system, after which it is not asked any more.", low=0, metavar="H"
    )
    system_timeout: float = setting(
        60.0, "Seconds that a system has for one call, after which it has failed.", low=0.001, metavar="S"
    )
    seed: int = setting(0, "Seed of the answerer.", low=0, high=SEEDS)
    out: str | None = setting(
        None,
        "Run directory.",
        "-o",
        "--out",
        otherwise="runs/ and the name of the first --tasks",
        metavar="DIR",
    )


class LearnCompareOptions(Options):
    """Lay runs beside each other, or make published tables anew.

    Of a run of answers that `judge --rubric answer` judged, it takes the judge's own error out. Beside the
    run of answers, the scores of judges take the place of metrics. A file of published results
    (final_evaluate_summary.json) stands alone: its figures have other references.
    """

    sources: tuple[str, ...] = argument(
        "RUN...|FILE", "Runs of `learn run`, one of `judge` on such a run, or published results."
    )
    out: str | None = setting(None, "Folder for compare.json and compare.html.", "-o", "--out", metavar="DIR")


class LearnTasksOptions(Options):
    """Count tasks by data set and partition.

    The layout is that of MemoryBench's Tables 1, 2, 5 and 6.
    """

    inputs: tuple[str, ...] = setting(
        (),
        "Files of tasks and corpora, family or support-desk, or a data set or partition in them.",
        "--tasks",
        otherwise="family, which ships",
        metavar="FILE|NAME",
    )
    logs_file: str | None = setting(None, "Dialogues about them, to count too.", "--logs", metavar="FILE")
    tokenizer: str | None = setting(
        None, "Folder of the tokenizer that says what is long.", otherwise="bytes / 3", metavar="DIR"
    )
    out: str | None = setting(None, "Folder for tasks.json and tasks.html.", "-o", "--out", metavar="DIR")


class LearnSystemsOptions(Options):
    """List the memory systems that come with dialogauge."""

    out: ClassVar[None] = None
