from dialogauge.core.json_keys import as_json
from dialogauge.report import to_text
from dialogauge.studies.evidence import RunEvidence
from dialogauge.studies.judging.brief import summary_blocks
from dialogauge.studies.judging.summary import summarise
from report_samples import CARD, made_run, row


def shown(summary):
    return to_text(summary_blocks(summary, RunEvidence(unchecked=True)))


def test_the_same_honest_figures_as_the_summary():
    summary = summarise(made_run(40, failing=0.1).rows, dimensions=CARD, unreadable=["x"], pending=2)
    text = shown(summary)
    lines = text.splitlines()
    assert lines[0] == "What was judged"
    assert "43 requested, 40 judged" in lines[1]
    assert "1 unreadable, 2 pending" in lines[1]
    assert f"{summary.requested:,} requested, {summary.scored:,} scored" in lines[2]
    assert lines[2].endswith(f"{summary.failed:,} failed")
    assert lines[3] == "intervals          95 %, by users (40 users, 40 conversations)"
    assert all(f"{kind.replace('_', ' ')} {n}" in lines[4] for kind, n in summary.failures.items())
    for found in summary.dimensions:
        line = next(x for x in lines if x.startswith(found.name.replace("_", " ")))
        for part in (
            f"{found.mean.value:.2f}",
            f"[{found.mean.low:.2f}, {found.mean.high:.2f}]",
            f"{found.n}/{found.requested}",
            f" {found.n_na} ",
            f" {found.n_failed} ",
            f"{found.bounds[0]:.2f}–{found.bounds[1]:.2f}",
        ):
            assert part in line + " "
    assert f"no verdict {summary.verdicts.missing}" in text
    assert "differ from the model’s own verdict" in text
    assert "\njudge " in text
    assert max(map(len, lines)) <= 120


def test_intervals_say_what_they_stand_on():
    rows = [row(f"c{i}", turn=1, scores={"helpfulness": 4}, user_id=f"u{i % 20}") for i in range(60)]
    summary = summarise(rows, dimensions=CARD[1:2])
    assert summary.stands_on == "20 users, 60 conversations"
    assert "95 %, by users (20 users, 60 conversations)" in shown(summary)


def test_nothing_judged_gives_dashes_not_zeros():
    text = shown(summarise([], dimensions=CARD))
    assert "0/0" in text
    assert "0.00" not in text
    assert "nan" not in text.lower()


def test_repeats_and_unknown_costs_are_said():
    usage = {"calls": 1, "cached": 0, "prompt_tokens": 9, "completion_tokens": 1, "cost": None}
    rows = [
        row("a", turn=1, scores={"helpfulness": s}, repeat=i, usage={**usage, "by_role": {"judge": usage}})
        for i, s in enumerate((3, 5), 1)
    ]
    text = shown(summarise(rows, dimensions=CARD[1:2]))
    assert "mean sd 1.41" in text
    assert "cost unknown" in text
    assert "repeats the previous prompt" not in text


def test_the_share_of_the_prompts_that_repeat_the_one_before_is_said():
    usage = {"calls": 1, "cost": None, "prompt_chars": 400, "repeated_chars": 250}
    rows = [row("a", turn=1, scores={"helpfulness": 4}, usage={**usage, "by_role": {"judge": usage}})]
    summary = summarise(rows, dimensions=CARD[1:2])
    assert "62.5 % of the prompt text repeats the previous prompt" in shown(summary)
    assert as_json(summary)["usage"]["total"]["repeated_share"] == 0.625
