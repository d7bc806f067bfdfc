"""A made-up page with every kind of block. All text is our own."""

import math
import random

from dialogauge.report.blocks import (
    Axis,
    Bars,
    Callout,
    Card,
    Cards,
    Code,
    Curve,
    CurveLine,
    DataTable,
    Definitions,
    DotPlot,
    DotRow,
    Fold,
    Items,
    Leaderboard,
    LeaderboardRow,
    Matrix,
    Page,
    Point,
    Reference,
    RowGroup,
    Section,
    StackedBar,
    TableColumn,
    TableRow,
    Tile,
    Tiles,
    data_table,
    shares_of_columns,
    shares_of_rows,
)
from dialogauge.report.cells import (
    Count,
    Figure,
    Interval,
    Missing,
    Mix,
    Number,
    Part,
    Percent,
    Span,
    Text,
    ordinal_tones,
)
from dialogauge.report.transcripts import (
    Finding,
    Mark,
    Scored,
    Transcript,
    TranscriptCall,
    TranscriptList,
    TranscriptMessage,
    TranscriptTurn,
)

CONTROLS = ("constant", "reply length", "turn position", "shuffled", "user mean, other scenarios")
SIGNS = ("▲", "≈", "▼", "?")


def scores(counts, tones=None):
    tones = tones or ordinal_tones(len(counts))
    return tuple(Part(str(i), n, t) for i, (n, t) in enumerate(zip(counts, tones, strict=True), 1))


def counts_section(word):
    return Section(
        "What was judged, and what was not",
        (
            Tiles(
                (
                    Tile("conversations judged", Count(60, 61)),
                    Tile("targets requested", 12_421),
                    Tile("scored", 372),
                    Tile("not applicable", 0),
                    Tile("cost", Missing("unknown")),
                    Tile("the user’s own reason", Percent(0.4, (0.3, 0.5)), "by chance 17.0 %"),
                )
            ),
            Callout(
                ("A target is one reply or one whole conversation.", f"Conversations unreadable: {word}.")
            ),
            Fold(
                "Why conversations are unreadable", (Items((f"a.jsonl:3: {word}", "b.jsonl:9: not JSON"), 7),)
            ),
            Callout(((Span("Failed, by reason:", "strong"), " timeout 17, invalid schema 14."),), "warn"),
            Section(
                "Verdicts of 61 conversations",
                (
                    StackedBar(
                        "Verdicts",
                        (
                            Part("excellent", 7, "best"),
                            Part("good", 8, "good"),
                            Part("borderline", 17, "middle"),
                            Part("poor", 14, "worst"),
                            Part("no verdict", 15, "none"),
                        ),
                    ),
                    Callout((("The verdict is computed from the ", Span("scores", "strong"), "."),)),
                ),
            ),
        ),
        lead="A failure is a missing score, never a number.",
        short="Counts",
    )


def dimension_card(name, counts, *, failed=3, tags=()):
    n = sum(counts)
    mean = sum(i * c for i, c in enumerate(counts, 1)) / n if n else None
    figure = Figure(
        mean,
        n,
        n + failed,
        0,
        failed,
        None if mean is None else (mean - 0.2, mean + 0.25),
        None if mean is None else (mean - 0.6, mean + 0.4),
    )
    labels = tuple(str(i) for i in range(1, len(counts) + 1))
    chart = Bars(
        f"Distribution of {name}",
        labels,
        tuple(counts),
        axis=Axis(0.5, len(counts) + 0.5),
        figure=figure,
    )
    return Card(name, (chart if n else figure,), aside="turn, 1–5", tags=tags)


def wave(level, n, noise=0.0):
    rng = random.Random(n)
    out = []
    for t in range(1, n + 1):
        y = level - 0.4 * math.sin(t / 2) + noise * rng.random()
        out.append(Point(t, y, (y - 0.3, y + 0.25), 60 - t))
    return tuple(out)


def charts_section(word):
    rng = random.Random(3)
    users = tuple(
        Point(x := 1.5 + 3 * rng.random(), min(5, max(1, x + rng.gauss(0, 0.4))), n=4, label=f"{word} {i}")
        for i in range(30)
    )
    reliability = tuple(
        Point(v, v + 0.2, (v - 0.2, v + 0.5), n) for v, n in ((1.5, 9), (2.5, 40), (3.5, 90), (4.4, 9))
    )
    counts = ((1, 0, 0, 0, 0), (10, 27, 1, 0, 0), (0, 25, 63, 20, 0), (0, 0, 29, 59, 28), (0, 0, 0, 7, 18))
    digits = tuple("12345")
    turns = Axis(1, 8, "turn", whole=True)
    whole = Axis(1, 5)
    return Section(
        "Charts",
        (
            Cards(
                (
                    Card(
                        "context use",
                        (Curve("context use along the turns", wave(4, 8), turns, whole),),
                    ),
                    Card(
                        "learning",
                        (
                            Curve(
                                "learning",
                                wave(3, 120, 0.6),
                                Axis(1, 120, "session", whole=True),
                                Axis(1, 5, "mean score"),
                            ),
                        ),
                    ),
                )
            ),
            Curve(
                "systems along the steps",
                (),
                Axis(1, 8, "step", whole=True),
                whole,
                lines=(
                    CurveLine("notes", wave(4, 8)),
                    CurveLine("tiers", wave(3, 8)),
                    CurveLine("no memory", wave(2, 8), "quiet"),
                ),
            ),
            Cards(
                (
                    Card(
                        "Pearson",
                        (
                            Callout(("all turns together",)),
                            DotPlot(
                                "Pearson",
                                (
                                    DotRow("my-judge", 0.8, (0.76, 0.84), "strong"),
                                    *(
                                        DotRow(
                                            c,
                                            0.1 * i - 0.2,
                                            (0.1 * i - 0.3, 0.1 * i - 0.1),
                                            sign=SIGNS[i % 4],
                                            sign_means="the judge is above",
                                        )
                                        for i, c in enumerate(CONTROLS)
                                    ),
                                    DotRow(word, None, None, sign="?"),
                                ),
                                references=(Reference(0.0),),
                            ),
                            Callout(("ceiling 1.000",)),
                        ),
                    ),
                    Card(
                        "Reliability",
                        (
                            Curve(
                                "Reliability",
                                reliability,
                                Axis(1, 5, "the judge’s score"),
                                Axis(1, 5, "the users’ mean"),
                                square=True,
                                sized=True,
                            ),
                        ),
                    ),
                    Card(
                        "Confusion matrix",
                        (
                            Matrix(
                                "Confusion matrix",
                                digits[::-1],
                                digits,
                                counts[::-1],
                                shares_of_columns(counts)[::-1],
                                "the judge’s score",
                                "the user’s score",
                                row_edge=2,
                                column_edge=3,
                            ),
                        ),
                    ),
                    Card(
                        "User by user",
                        (
                            Curve(
                                "User by user",
                                users,
                                Axis(1, 5, "the judge’s mean"),
                                Axis(1, 5, "the user’s mean"),
                                square=True,
                            ),
                        ),
                    ),
                    Card(
                        "Within each user",
                        (
                            Bars(
                                "Correlation within each user",
                                tuple(f"{-1 + i / 5:g}" for i in range(10)),
                                (0, 0, 0, 0, 1, 2, 6, 6, 10, 3),
                                axis=Axis(-1, 1),
                                at_edges=True,
                                reference=Reference(0.0),
                                label="Pearson over this user’s own turns",
                            ),
                        ),
                    ),
                ),
                wide=True,
            ),
            Matrix(
                "Scores of judge and people",
                digits,
                digits,
                counts,
                shares_of_rows(counts),
                "judge",
                "people",
                rings=(0.0, 0.75, 1.96, 3.0, 3.7),
                totals=tuple(map(sum, counts)),
            ),
        ),
        lead="The dashed line is where judge and users agree.",
    )


def tables_section(word):
    columns = (
        "Pearson",
        "Spearman",
        "QWK",
        "F1 DSAT ≤3",
        "MAE",
        "false SAT",
        "false DSAT",
        "AUC ≤3",
        "per user",
        "within user",
        "within block",
    )

    def row(name, emphasis, value):
        cells = (
            Number(value / (1 + i / 9), 3, (value - 0.1, value + 0.1), interval_digits=2)
            for i in range(len(columns))
        )
        return TableRow((name, *cells), emphasis)

    rows = (row(word, "strong", 0.8), *(row(c, "plain", 0.1) for c in CONTROLS), row("ceiling", "quiet", 1.0))
    wide = DataTable(
        "Raw, and under each calibration",
        (TableColumn("judge or control", "text"), *(TableColumn(c) for c in columns)),
        (
            RowGroup(rows, "raw", "as the judge says", "shown above"),
            RowGroup(rows[:2], "mean-shift", "40 of 48 blocks calibrated, 8 left as they are (no history)"),
            RowGroup((), "cdf", "the same figures as mean-shift"),
        ),
        captioned=False,
    )
    group = Figure(4.1, 40, 50, 2, 8, (3.9, 4.3))
    return Section(
        "Tables",
        (
            wide,
            data_table(
                "By scenario",
                ("scenario", "conversations", "context use", "win / tie / loss", "share"),
                [
                    (
                        word,
                        30,
                        group,
                        Mix(scores((5, 3, 2), ("best", "neutral", "worst"))),
                        Percent(0.25),
                    ),
                    ("预订与旅行规划", 12, Figure(None, 0, 12, 12, 0), Mix(()), None),
                    ("support", 9, Missing("n/a"), "–", Percent(0.9995)),
                ],
            ),
            data_table(
                "Judges against each other",
                (
                    "measure",
                    TableColumn("first", "text"),
                    TableColumn("second", "text"),
                    "first better by",
                    "p",
                    TableColumn("in words", "prose"),
                ),
                [
                    TableRow(
                        (
                            "kappa",
                            "card",
                            "local",
                            Number(-0.0001, 3, (-0.1, 0.1), signed=True, notes=("[-0.2, 0.2] by user",)),
                            Number(0.031, 3),
                            "not distinguishable on these turns",
                        )
                    ),
                    TableRow(
                        ("F1", word, "local", Number(None, 3), None, "undefined: the scores do not vary"),
                        note="Why there is no figure: nobody rated it.",
                    ),
                    (
                        "mean",
                        "a",
                        "b",
                        Interval((1.5, 2.5)),
                        Interval(None),
                        "Intervals alone, and a long explanation "
                        "that has to be wrapped somewhere because it goes on and on",
                    ),
                ],
            ),
            data_table("Nothing here", ("name", "mean"), []),
            data_table(
                "Conversations",
                ("conversation", TableColumn("verdict", "text"), "weakest turn", "context use"),
                [
                    (
                        Text(f"c{i}", link="c1" if i == 1 else "", note=word if i == 2 else ""),
                        Text("poor", tone="worst", tags=(Span("partial", "tag"),)),
                        i % 6,
                        Number(3.25),
                    )
                    for i in range(60)
                ],
                captioned=False,
                shown=5,
            ),
        ),
    )


def board_section(word):
    rows = tuple(
        LeaderboardRow(
            name,
            value,
            None if value is None else (value - 0.12, value + 0.1),
            scores((2, 8, 20, 60, 10 + i)),
            (Percent(0.3 - 0.05 * i), 100 - i, note),
            "quiet" if name == "original" else "plain",
        )
        for i, (name, value, note) in enumerate(
            (
                (word, 4.61, "candidate with a long description of what it is"),
                ("model-b", 4.2, ""),
                ("original", 4.11, "what users saw"),
                ("model-c with a rather long name indeed", 3.6, ""),
                ("broken", None, "failed"),
            )
        )
    )
    return Section(
        "Leaderboard",
        (
            Leaderboard(
                "Leaderboard, raw",
                rows,
                "user macro mean, 95 % by users",
                Axis(3.2, 5.0),
                (Reference(4.7, "all 5"),),
                (TableColumn("DSAT"), TableColumn("scored"), TableColumn("about", "text")),
                "scores 1 to 5",
            ),
            Callout(
                (("DSAT: share of scores of 3 and less. ", Span("original", "strong"), ": what users saw."),)
            ),
        ),
    )


def talk_section(word):
    quote = "Your booking for six"
    reply = f"{quote} people is confirmed. {word}"
    turns = (
        TranscriptTurn(
            1,
            (
                TranscriptMessage("user", "我周五想去杭州玩两天,预算一千五,能帮我安排一下吗?"),
                TranscriptMessage("tool", f"assistant: I look it up. {word}"),
                TranscriptCall("find_table", f'{{"people": 4}} {word}', f'{{"table": 12}} {word}'),
                TranscriptCall(f"hold_table {word}", "{}", None, "no result came back"),
                TranscriptCall("", "", f"{word} late" * 60, "a result that no call asked for"),
                TranscriptMessage("assistant", "可以。周五上午坐高铁过去,住西湖边的青年旅舍。"),
            ),
            (
                Scored("context_use", 5, reason=f"It keeps the day. {word}"),
                Scored("safety", "n/a"),
                Scored("helpfulness", Missing("failed")),
            ),
            facts=(f"domain: {word}",),
            rationale=f"Nothing is left open. {word}",
        ),
        TranscriptTurn(
            2,
            (
                TranscriptMessage("user", "No, I said four people,\nnot six."),
                TranscriptMessage("assistant", reply, marks=(Mark(0, len(quote), f"{word} -1", loss=True),)),
            ),
            (Scored("context_use", 1),),
            (Finding("ignores the correction"), Finding(quote, "context_use", 2, quoted=True)),
            tag="weakest turn",
        ),
        TranscriptTurn(3, (TranscriptMessage("user", ""),), failure="timeout: no reply", without_reply=True),
    )
    return Section(
        "Transcripts",
        (
            Transcript(
                f"zh-00017 {word}",
                turns,
                "c1",
                verdict=Text("poor *", tone="worst"),
                facts=("booking", "6 turns"),
                context="A guest changes a booking.",
                scores=(Scored("coherence", 3),),
                rationale="The assistant loses the thread once.",
                findings=(Finding(word, word, 2, quoted=True),),
                turns_left_out=3,
            ),
            Transcript("en-00002", (), failure="timeout: no usable reply", note="The text was not at hand."),
            Transcript("en-00015", turns[1:2], link="c1", facts=("turn 2",), folded=False),
            Transcript("en-00016", turns[1:2], link="nowhere", facts=("turn 2",), folded=False),
            TranscriptList(
                "Conversations",
                (
                    Transcript(
                        "en-00003", turns, "c3", reason=word, ranks=(2.0, None), groups=(("a", word), ())
                    ),
                    Transcript("en-00004", turns[:1], "c4", ranks=(1.5, 3), groups=(("a",), ("en",))),
                    Transcript("en-00005", (), "c5", ranks=(None, None), groups=((), ("en",))),
                ),
                ("rating, lowest first", "turns, fewest first"),
                ("finding", "language"),
                shown=2,
            ),
        ),
    )


def sample_page(word="aubergine"):
    """Every kind of block; `word` stands wherever text of users and models may."""
    return Page(
        f"Guest service, {word}",
        (
            Callout(
                (
                    (Span("What this page is not.", "strong"), " These are the opinions of a judge."),
                    f"Two records were cut. {word}",
                ),
                "info",
            ),
            counts_section(word),
            Section(
                "Scores",
                (
                    Cards(
                        (
                            dimension_card("context use", (10, 20, 15, 96, 185)),
                            dimension_card("helpfulness", (0, 0, 0, 2, 1), failed=0),
                            dimension_card("repair handling", (0,) * 5, tags=(Span("unchecked", "warn"),)),
                            Card(
                                "reason",
                                (
                                    data_table(
                                        "reason",
                                        ("option", "n", "share"),
                                        [
                                            ("too long", 3, Percent(0.75)),
                                            (word, 1, Percent(0.25)),
                                        ],
                                        captioned=False,
                                        headed=False,
                                    ),
                                ),
                                aside="4 named",
                            ),
                            Card(
                                "order of answers",
                                (
                                    Callout(("Swapping the two answers changes 31 % of the verdicts.",)),
                                    Fold(
                                        "The figures",
                                        (
                                            data_table(
                                                "figures",
                                                ("figure", "value", "n"),
                                                [("changed", Percent(0.31, (0.2, 0.44)), 45)],
                                                captioned=False,
                                                headed=False,
                                            ),
                                        ),
                                    ),
                                    Fold(
                                        "Where it was seen",
                                        (Items(((Span(f"{word}, turn 3:", "soft"), f" {word}"),)),),
                                    ),
                                ),
                                tags=(Span("flagged", "warn"),),
                            ),
                        )
                    ),
                    Figure(0.512, 160, 200, 0, 40, (0.41, 0.6), (0.3, 0.9), 3),
                ),
                anchor="scores",
            ),
            charts_section(word),
            tables_section(word),
            board_section(word),
            talk_section(word),
            Section(
                "How this was made",
                (
                    Definitions((("judge", word), ("code", (Span("dialogauge", "code"), " 0.1.0")))),
                    Code(f"dialogauge judge week46.jsonl -o runs/{word}"),
                ),
            ),
        ),
        lead=(Span("61", "strong"), " conversations, judged by ", Span("card", "strong"), "."),
        created="2026-11-20",
        version="0.1.0",
    )
