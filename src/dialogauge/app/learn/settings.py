"""The settings of `dialogauge learn`; see `app/settings`."""

# Without the future import: annotations are read when commands are made, and must be types by then.

from typing import ClassVar, Literal

from dialogauge.app.option_groups import (
    SEEDS,
    AgentsOptions,
    ModelOptions,
    Options,
    PrivacyOptions,
    RunOptions,
)
from dialogauge.core.settings import argument, setting
from dialogauge.stats.actions import DISLIKE_RATE, LIKE_RATE, MIDDLE, STEEPNESS

Control = Literal["shuffled", "echo", "last", "other-case"]
ROUNDS, BATCH, STEPS, ACTION = 3, 100, 10, "like"
"""What holds where nothing is said; a protocol that does not use a setting refuses it."""


class AskedOptions(ModelOptions, RunOptions, AgentsOptions, PrivacyOptions):
    """Tasks, memory systems, and who answers."""

    asks: ClassVar[tuple[str, ...]] = ("answerer", "embedder", "memory", "simulator", "judge")

    inputs: tuple[str, ...] = setting(
        (),
        "Files of tasks and corpora, family or support-desk, or a data set or partition in them.",
        "--tasks",
        otherwise="family, which ships",
        metavar="FILE|NAME",
    )
    systems: tuple[str, ...] = setting(
        ("bm25-message", "ranked-message"),
        "A name of `learn systems` (mem0:FILE.toml configures it), py:MODULE:NAME of a class, or http://... "
        "of a server; NAME= names it.",
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
        "answerer=, embedder=, memory= (of systems that ask one), simulator= (plays users) or judge= "
        "(says how satisfied they are; else the simulator does). REF is MODEL@URL#KEYVAR, a name from "
        "[roles], or file:PATH.",
        "--role",
        metavar="ROLE=REF",
        recorded=False,
    )
    logs_file: str | None = setting(
        None,
        "Dialogues with feedback: a file, a run of `learn dialogues`, or support-desk.",
        "--logs",
        metavar="FILE|RUN",
    )
    rounds: int | None = setting(
        None,
        "Answers of a dialogue at most, where dialogues are led.",
        low=1,
        high=100,
        otherwise=str(ROUNDS),
    )
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
    system_timeout: float = setting(
        60.0, "Seconds that a system has for one call, after which it has failed.", low=0.001, metavar="S"
    )
    seed: int = setting(0, "Seed of draws, of the answerer and of users.", low=0, high=SEEDS)
    out: str | None = setting(
        None,
        "Run directory.",
        "-o",
        "--out",
        otherwise="runs/ and the name of the first --tasks",
        metavar="DIR",
    )


class LearnOptions(AskedOptions):
    """Ask tasks of memory systems, and measure what they are worth.

    The page says what each recalls, what that is worth to an answer, and what it costs. Beside the systems
    stand no memory, all of it, and the evidence itself. The run holds the answers: judge, annotate, compare
    and export take it.
    """

    protocol: Literal["off-policy", "stepwise", "training", "on-policy", "action", "feedback-effect"] = (
        setting(
            "off-policy",
            "What memories hold, and which tasks are asked: see docs/learn.md.",
        )
    )
    batch: int | None = setting(
        None,
        "Dialogues of a step, stepwise and on-policy.",
        "--batch",
        "--step-size",
        low=1,
        metavar="N",
        otherwise=str(BATCH),
    )
    steps: int | None = setting(None, "Steps, on-policy.", low=1, high=10_000, otherwise=str(STEPS))
    action: Literal["like", "copy"] | None = setting(
        None, "What a user of a log must have done, with --protocol action.", otherwise=ACTION
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
    twins: tuple[Control, ...] = setting(
        (),
        "Add a twin of each system, from which one thing is withheld: shuffled, echo, last or other-case.",
        "--control",
        metavar="NAME",
    )
    hours: float | None = setting(
        None, "Time of one system, after which it is asked no more.", low=0, metavar="H"
    )


class LearnDialoguesOptions(AskedOptions):
    """Let users ask tasks, and say what they think of each answer.

    `learn run --logs` takes the run. LoCoMo and DialSim have users of fixed words, by a metric. A model plays
    the others, and another call scores their satisfaction. Likes, dislikes and copies are drawn from that.
    """

    systems: tuple[str, ...] = setting(
        ("none",),
        "Memory that reads the corpus of a task first: as `learn run` takes it.",
        "--system",
        metavar="[NAME=]SYSTEM",
    )
    candidate: str | None = setting(
        None,
        "Who answers: MODEL@URL#KEYVAR, py:MODULE:NAME, file:PATH, or a name of agents.toml or the "
        "configuration (default: --role answerer=).",
        metavar="REF",
    )
    part: Literal["train", "all"] = setting(
        "train", "Tasks that teach: those of --logs, else four of five, as MemoryBench draws; or all."
    )
    controls: ClassVar[bool] = False
    twins: ClassVar[tuple[Control, ...]] = ()
    hours: ClassVar[None] = None


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
    logs_file: str | None = setting(
        None, "Dialogues about them, whose feedback is counted too.", "--logs", metavar="FILE"
    )
    tokenizer: str | None = setting(
        None, "Folder of the tokenizer that says what is long.", otherwise="bytes / 3", metavar="DIR"
    )
    out: str | None = setting(None, "Folder for tasks.json and tasks.html.", "-o", "--out", metavar="DIR")


class LearnCalibrateOptions(Options):
    """Say how often users like, dislike and copy, by how satisfied they are.

    The model is that of MemoryBench (A.2.3): over all scores both are as frequent as was asked for. Where
    there are two scores, the higher one is liked and the lower one disliked, without a curve.
    """

    scores_file: str | None = setting(
        None,
        "Satisfaction scores, 1 to 10: one a line, JSON lines, logs, or their shares as one JSON object.",
        "--scores",
        otherwise="Table 3 of MemoryBench",
        metavar="FILE",
    )
    like_rate: float = setting(LIKE_RATE, "Share of replies that are liked.", low=0, high=1)
    dislike_rate: float = setting(DISLIKE_RATE, "Share of replies that are disliked.", low=0, high=1)
    k: float = setting(STEEPNESS, "Steepness of both curves.", "--k", low=0.01)
    middle: tuple[float, ...] = setting(
        MIDDLE,
        "Scores at which likes, and dislikes, are half as frequent as they can be.",
        values=2,
        otherwise="7.5 4.5",
        metavar="LIKES DISLIKES",
    )
    out: str | None = setting(
        None, "Folder for calibrate.json and calibrate.html.", "-o", "--out", metavar="DIR"
    )


class LearnSystemsOptions(Options):
    """List the memory systems that come with dialogauge."""

    out: ClassVar[None] = None
