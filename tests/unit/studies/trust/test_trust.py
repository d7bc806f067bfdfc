"""Each check against a judge that has the fault, one that has not, and too little to tell."""

import random
from dataclasses import replace

import pytest

from dialogauge.core import Conversation, Message, Rating
from dialogauge.core.json_keys import as_json
from dialogauge.report import to_text
from dialogauge.rubrics import ScenarioRule
from dialogauge.stats.reading import table_of
from dialogauge.studies.agreement.agreement import AgreementSettings
from dialogauge.studies.agreement.targets import (
    DimensionPair,
    RatedTarget,
    TargetKey,
    TargetTable,
)
from dialogauge.studies.trust.calibration import calibrate
from dialogauge.studies.trust.checks import only
from dialogauge.studies.trust.figures import trust_figures
from dialogauge.studies.trust.look import EarlierChecks, examine
from dialogauge.studies.trust.page import trust_brief
from dialogauge.studies.trust.result import Trust, TrustThresholds
from dialogauge.studies.trust.scenario import (
    check_scenario,
    draw_variants,
    find_breaches,
    scenario_text,
)
from report_samples import CARD, row

LIMITS = TrustThresholds()
TURN = ("context_use", "helpfulness", "safety")
WHOLE = ("coherence", "task_completion", "repair_handling")


def talk(name, *lines, **more):
    roles = ("user", "assistant")
    return Conversation(name, tuple(Message(roles[i % 2], t) for i, t in enumerate(lines)), **more)


def judged_rows(name, turns, whole, **more):
    """Rows of one conversation; a turn is one score for all dimensions or one for each."""
    out = []
    for number, given in enumerate(turns, 1):
        scores = given if isinstance(given, tuple) else (given,) * 3
        out.append(row(name, turn=number, scores=dict(zip(TURN, scores, strict=True))))
    out.append(row(name, "conversation", scores=dict(zip(WHOLE, whole, strict=True)), **more))
    return out


def look(rows, conversations=(), limits=LIMITS, scenario=None, calibration=None, judge="the judge", **more):
    rows = list(rows)
    held = {c.id: c for c in conversations}
    found = examine(
        trust_figures(table_of(rows), CARD, sample=limits.sample),
        lambda ids: [held[i] for i in ids if i in held],
        lambda ids: [r for r in rows if r["conversation_id"] in ids],
        judge=judge, limits=limits,
        kept=EarlierChecks(scenario, calibration), **more,
    )  # fmt: skip
    return found, {c.name: c for c in found.checks}


def averaging(n, spread=True):
    rng = random.Random(1)
    for i in range(n):
        turns = [rng.randint(1, 5) if spread else 5 for _ in range(4)]
        if spread and len(set(turns)) == 1:
            turns[0] = turns[0] % 5 + 1
        mean = round(sum(turns) / 4)
        yield from judged_rows(f"c{i}", turns, (mean, mean, "n/a"))


def test_a_judge_that_only_averages_is_named():
    _, checks = look(averaging(60))
    check = checks["single_turn_aggregation"]
    assert check.status == "flagged"
    assert "the judge only averages" in check.sentence
    share, chance, r = check.figures
    assert (share.value, share.n) == (1.0, 60)
    assert chance.value < 0.9
    assert r.value > 0.8


def test_scores_of_their_own_are_no_average():
    rng = random.Random(2)
    rows = [
        r
        for i in range(60)
        for r in judged_rows(f"c{i}", [rng.randint(1, 5), 1, 5], (rng.randint(1, 5),) * 3)
    ]
    check = look(rows)[1]["single_turn_aggregation"]
    assert check.status == "ok"


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (list(averaging(5)), "are needed"),
        (list(averaging(60, spread=False)), "No conversation has turns with different scores"),
        # every conversation alike: near the mean of any other's turns too
        ([r for i in range(60) for r in judged_rows(f"c{i}", [4, 5, 5], (5, 5, 5))], "hardly vary"),
    ],
)
def test_where_nothing_varies_averaging_cannot_be_told(rows, why):
    check = look(rows)[1]["single_turn_aggregation"]
    assert check.status == "cannot tell"
    assert why in check.sentence


@pytest.mark.parametrize(("users", "interval"), [(None, True), (4, False), (20, True)])
def test_shares_are_by_users_where_they_are_known(users, interval):
    rng = random.Random(7)
    rows = []
    for i in range(60):
        user = None if users is None else f"u{i % users}"
        turns = [rng.randint(1, 5) for _ in range(4)]
        judged = judged_rows(f"c{i}", [*turns, 1, 5], (rng.randint(1, 5), 3, 3))
        rows += [{**r, "user_id": user} for r in judged]
    share, *_ = look(rows)[1]["single_turn_aggregation"].figures
    assert share.n == 60
    assert (share.interval is not None) is interval


def test_the_share_that_a_scenario_changes_is_by_users():
    talks = [replace(t, user_id=f"u{i % 4}") for i, t in enumerate(scenario_talks(20))]
    users = {t.id: t.user_id for t in talks}
    judged = again(draw_variants(talks, 20, 1), lambda _: 2)
    rows = [{**r, "user_id": users[r["conversation_id"]]} for r in judged]
    check = check_scenario(rows_before(talks), rows, WHOLE)
    assert {f.interval for f in check.figures} == {None}


def correcting(name, *, note=None, handling="n/a"):
    conversation = talk(
        name,
        "Please book a table for four on Friday evening at the Lantern.",
        "I have booked a table for two on Thursday evening at the Lantern.",
        "No, that's wrong. I said Friday and four people.",
        "Your table at the Lantern is ready.",
    )
    details = {"notes": {"repair_handling": note}} if note else {}
    return conversation, judged_rows(name, [3, 3], (3, 3, handling), details=details)


def test_corrections_that_were_passed_over_are_listed():
    made = [correcting(f"c{i}", note="nothing to repair" if i else None) for i in range(8)]
    made += [correcting(f"d{i}", handling=2) for i in range(2)]
    check = look([r for _, rows in made for r in rows], [c for c, _ in made])[1]["repair_false_na"]
    assert (check.status, check.n, check.cases_total) == ("flagged", 10, 8)
    assert check.figures[0].value == 0.8
    assert all(case.turn == 2 and "that's wrong" in case.text for case in check.cases)
    assert sum("nothing to repair" in case.text for case in check.cases) == 7


def test_corrections_that_were_seen_are_fine_and_few_say_nothing():
    made = [correcting(f"c{i}", handling=2) for i in range(6)]
    rows, talks = [r for _, rows in made for r in rows], [c for c, _ in made]
    assert look(rows, talks)[1]["repair_false_na"].status == "ok"
    assert look(rows[:3], talks[:1])[1]["repair_false_na"].status == "cannot tell"


def sized(n, score):
    rows, talks = [], []
    rng = random.Random(4)
    for i in range(n):
        size = rng.randint(1, 200)
        talks.append(talk(f"c{i}", "Tell me of the sea.", "wave " * size))
        rows += judged_rows(f"c{i}", [score(size, rng)], (4, 4, "n/a"))
    return rows, talks


def test_a_judge_that_rewards_length_is_flagged_and_terciles_show_it():
    check = look(*sized(60, lambda size, _: 1 + size // 50))[1]["length"]
    assert check.status == "flagged"
    figures = {f.name: f for f in check.figures}
    assert figures["Spearman, tokens"].value > 0.9
    short, long = figures["helpfulness, short replies"], figures["helpfulness, long replies"]
    assert short.value < long.value
    assert sum(f.n for name, f in figures.items() if "replies" in name) == 60
    assert short.interval[0] <= short.value <= short.interval[1]


def test_other_judges_are_not():
    assert look(*sized(60, lambda _, rng: rng.randint(1, 5)))[1]["length"].status == "ok"
    assert look(*sized(60, lambda *_: 4))[1]["length"].status == "cannot tell"
    assert look(*sized(8, lambda size, _: 1 + size // 50))[1]["length"].status == "cannot tell"


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (lambda size, _: 5 - size // 50, "scores long replies lower: helpfulness correlates"),
        (lambda size, rng: 5 - (size // 50 if rng.random() < 0.25 else 2), "slightly favours short replies"),
        (lambda size, rng: 1 + (size // 50 if rng.random() < 0.25 else 2), "slightly favours long replies"),
        (lambda _, rng: rng.randint(1, 5), "hardly rewards length"),
    ],
)
def test_the_sentence_tells_a_leaning_against_length_from_none(score, said):
    check = look(*sized(60, score))[1]["length"]
    assert check.status == "ok"
    assert said in check.sentence
    lowest = min(f.value for f in check.figures if "," in f.name and "replies" not in f.name)
    assert (f"at {lowest:z.2f} at the lowest" in check.sentence) == (lowest < -0.3)


def test_thresholds_are_the_users():
    rows, talks = sized(60, lambda size, _: 1 + size // 50)
    lax = TrustThresholds(length_correlation=1.0)
    assert look(rows, talks, lax)[1]["length"].status == "ok"
    none_read = TrustThresholds(sample=0)
    assert look(rows, talks, none_read)[1]["length"].n == 0


def test_own_verdicts_that_do_not_follow_are_counted():
    rows = []
    for i in range(10):
        own = "excellent" if i < 4 else "good"
        rows += judged_rows(f"c{i}", [4], (4, 4, 4), verdict="good", details={"model_verdict": own})
    check = look(rows)[1]["verdict_mismatch"]
    assert (check.status, check.figures[0].value, check.n) == ("flagged", 0.4, 10)
    assert look(judged_rows("c", [4], (4, 4, 4), verdict="good"))[1]["verdict_mismatch"].status == (
        "cannot tell"
    )


def test_a_rubric_without_verdicts_is_not_said_to_compute_one():
    (none, computed, named) = (
        look(judged_rows("c", [4], (4, 4, 4), **more))[1]["verdict_mismatch"]
        for more in ({}, {"verdict": "good"}, {"details": {"class": "SAT"}})
    )
    assert (none.status, none.sentence) == ("cannot tell", "There are no verdicts.")
    assert computed.sentence.endswith("the verdict is computed from its scores.")
    assert named.sentence == computed.sentence


def test_an_own_verdict_is_compared_with_a_class_of_the_rubrics_own():
    details = {"class": "SAT", "model_verdict": "DSAT"}
    check = look(judged_rows("c", [4], (4, 4, 4), details=details))[1]["verdict_mismatch"]
    assert (check.n, check.figures[0].value) == (1, 1.0)


def looping(name, turns):
    """A long talk of which the reply to one turn is another turn's, word for word."""
    lines = []
    for i in range(turns):
        asked = ("trains", "museums", "bakeries", "bridges", "gardens", "markets")[i % 6]
        lines.append(f"What do you know about the {asked} number {i} in town?")
        if i:
            lines[-1] = f"Thanks. And what of the {asked} number {i} in town?"
        lines.append(f"The {asked} number {i} open at nine, close at five, and cost {i + 3} euros to visit.")
    lines[-2] = "You keep giving me the same answer, that is not what I asked!"
    return talk(name, *lines, "Never mind, that is useless.")


def test_long_conversations_scored_alike_are_flagged_where_turns_differ():
    talks = [looping(f"c{i}", 12) for i in range(6)]
    alike = [r for c in talks for r in judged_rows(c.id, [4] * 12, (4, 4, 4))]
    short = [r for i in range(4) for r in judged_rows(f"s{i}", [4, 5, 3], (4, 4, 4))]
    check = look(alike + short, talks)[1]["identical_scores"]
    assert (check.status, check.n) == ("flagged", 6)
    assert check.cases_total == 6
    varied = [r for c in talks for r in judged_rows(c.id, [4] * 10 + [2, 5], (4, 4, 4))]
    assert look(varied, talks)[1]["identical_scores"].status == "ok"
    assert look(short)[1]["identical_scores"].status == "cannot tell"


def test_scores_made_of_findings_are_not_checked_by_them():
    talks = [looping(f"c{i}", 12) for i in range(6)]
    alike = [r for c in talks for r in judged_rows(c.id, [4] * 12, (4, 4, 4))]
    check = look(alike, talks, judge="local")[1]["identical_scores"]
    assert check.status == "cannot tell"
    assert "Ratings by people would show" in check.sentence

    def rated(talk, *scores):
        ratings = [Rating(talk.id, "satisfaction", s, turn) for turn, s in enumerate(scores, 1)]
        return replace(talk, ratings=tuple(ratings))

    differing = [rated(c, 5, 2, 4) for c in talks]
    check = look(alike, differing, judge="local")[1]["identical_scores"]
    assert (check.status, check.cases_total) == ("flagged", 6)
    assert check.cases[0].turn == 2
    assert check.cases[0].text == "People rated it 2, and turn 1 5."
    even = [rated(c, 5, 4, 4) for c in talks]
    for judge in ("local", "the judge"):
        assert look(alike, even, judge=judge)[1]["identical_scores"].status == "ok"
    rewards = look(alike, [rated(c, 1, 0, 1) for c in talks], judge="local")[1]["identical_scores"]
    assert (rewards.status, rewards.cases_total) == ("flagged", 6)
    of_a_hundred = look(alike, [rated(c, 80, 78, 75) for c in talks], judge="local")[1]["identical_scores"]
    assert of_a_hundred.status == "cannot tell"
    few = look(alike, [rated(talks[0], 5, 2, 4), *talks[1:]], judge="local")[1]["identical_scores"]
    assert "the turns themselves differ (1 of 1 checked)" in few.sentence


def test_only_the_first_repeat_counts_and_failures_take_no_part():
    rows = list(averaging(30))
    again = [{**r, "repeat": 2} for r in rows]
    failed = [row(f"f{i}", turn=1, failure={"kind": "timeout", "message": ""}) for i in range(9)]
    assert look(rows)[0] == look([*rows, *again, *failed])[0]


def scenario_talks(n):
    return [
        talk(f"c{i}", "Hello, can you help?", "Yes, what is it?", context=f"Help with matter {i}")
        for i in range(n)
    ]


def test_variants_have_no_scenario_or_that_of_another():
    talks = [*scenario_talks(4), talk("none", "Hi", "Hello")]
    instructed = Conversation("s", (Message("system", "Be brief."), *talks[0].messages), scenario="support")
    variants = draw_variants([*talks, instructed], 10, 0)
    assert {v.conversation.id for v in variants} == {"c0", "c1", "c2", "c3", "s"}
    own = {c.id: scenario_text(c) for c in (*talks, instructed)}
    for variant in variants:
        told = scenario_text(variant.conversation)
        assert told != own[variant.conversation.id]
        assert bool(told) is (variant.kind == "another")
        assert len(variant.conversation.replied_turns) == 1
    assert len(variants) == 10
    assert draw_variants(talks, 2, 0)[0].conversation.id == draw_variants(talks, 4, 0)[0].conversation.id
    assert [v.kind for v in draw_variants(talks[:1], 5, 0)] == ["without"]


def again(variants, score):
    for variant in variants:
        (of_one,) = judged_rows(variant.conversation.id, [], (score(variant), "n/a", "n/a"))
        yield {**of_one, "variant": variant.kind}


def rows_before(talks):
    return [r for c in talks for r in judged_rows(c.id, [4], (4, 4, "n/a"))]


@pytest.mark.parametrize(
    ("score", "status"),
    [
        (lambda v: 4, "flagged"),
        (lambda v: 4 if v.kind == "without" else 2, "ok"),
        # as often up as down: no mean change
        (lambda v: 3 + 2 * (int(v.conversation.id[1:]) % 2), "flagged"),
    ],
)
def test_a_scenario_that_changes_nothing_is_said_to_be_ignored(score, status):
    talks = scenario_talks(20)
    check = check_scenario(rows_before(talks), again(draw_variants(talks, 20, 1), score), WHOLE)
    assert (check.status, check.n) == (status, 20)
    assert "coherence" in [f.name.partition(": ")[2] for f in check.figures]
    assert ("neither is distinguishable" in check.sentence) is (status == "flagged")
    assert look([], scenario=check)[1]["scenario_ignored"] == check


def test_few_or_failed_judgements_say_nothing_of_the_scenario():
    talks = scenario_talks(20)
    before = rows_before(talks)
    few = check_scenario(before, again(draw_variants(talks, 3, 1), lambda _: 1), WHOLE)
    assert few.status == "cannot tell"
    variants = draw_variants(talks, 20, 1)
    timeout = {"scores": None, "failure": {"kind": "timeout", "message": ""}}
    lost = [{**r, **timeout} for r in again(variants, lambda _: 1)]
    check = check_scenario(before, lost, WHOLE)
    assert check.status == "cannot tell"
    assert "40 of the new judgements failed" in check.sentence
    part = check_scenario(before, again(variants[:30], lambda _: 1), WHOLE, missing=10)
    assert "10 of the sample are still to be judged: the same command goes on" in part.sentence
    assert look([])[1]["scenario_ignored"].status == "cannot tell"
    assert "does not show" in look([], scenario_shown=False)[1]["scenario_ignored"].sentence


LAW = ScenarioRule("no_advice", "legal", r"you should sue", "safety", 3)


def lawyer(name, score, context="A LEGAL helpline"):
    conversation = talk(name, "They owe me.", "I see.", "What now?", "You should sue them.", context=context)
    return conversation, judged_rows(name, [5, (5, 5, score)], (5, 5, "n/a"))


def test_breaches_of_a_scenario_rule_must_cost_points():
    made = [lawyer("a", 5), lawyer("b", 2), lawyer("c", 5, "a bakery"), lawyer("d", "n/a")]
    found = find_breaches(made, [LAW])
    assert ([above for *_, above in found.scored], found.unscored) == ([True, False], 1)
    check = look([], rules=found)[1]["scenario_rules"]
    assert (check.status, check.n, check.cases_total) == ("flagged", 2, 1)
    assert (check.cases[0].conversation_id, check.cases[0].turn) == ("a", 2)
    fine = look([], rules=find_breaches([lawyer("b", 2)], [LAW]))[1]["scenario_rules"]
    assert fine.status == "ok"
    assert look([], rules=find_breaches([], [LAW]))[1]["scenario_rules"].status == "cannot tell"
    whole = ScenarioRule("whole", "legal", "sue", "coherence", 2)
    assert [above for *_, above in find_breaches([lawyer("a", 5)], [whole]).scored] == [True]


def rated(n, noise, per=2, name="coherence"):
    rng = random.Random(5)
    table = TargetTable(DimensionPair(name, name))
    for i in range(n * per):
        people = rng.randint(1, 5)
        score = min(5, max(1, people + rng.choice([-noise, 0, noise])))
        key = TargetKey(f"c{i // per}", None, i)
        table.targets.append(RatedTarget(key, None, float(people), float(score), None, float(i % 9)))
    table.counts.rated = table.counts.scored = n * per
    table.languages["en"] = n
    return table


def gate(*tables):
    return calibrate(tables, ratings="r.csv", limits=LIMITS, settings=AgreementSettings(shuffles=4))


def test_the_gate_marks_what_is_below_the_threshold():
    found = gate(rated(120, 1), rated(120, 4, name="helpfulness"))
    good, poor = found.dimensions
    assert (good.status, poor.status) == ("ready", "not ready")
    assert good.kappa > 0.5 > poor.kappa
    assert good.interval[0] < good.kappa < good.interval[1]
    assert set(good.controls) == {"constant", "position", "reply length", "shuffled"}
    assert all(good.above.values())
    assert found.not_ready == ("helpfulness",)
    assert "Not ready: helpfulness" in found.sentence
    assert found.languages == {"en": 120}


def drawn(seed, kappa, n=100):
    """Ratings of n conversations and scores whose true weighted kappa with them is `kappa`."""
    rng = random.Random(seed)
    table = TargetTable(DimensionPair("coherence", "coherence"))
    for i in range(n):
        people, other = rng.randint(1, 5), rng.randint(1, 5)
        score, key = people if rng.random() < kappa else other, TargetKey(f"c{i}", None, i)
        length = float(rng.randint(9, 99))
        table.targets.append(RatedTarget(key, None, float(people), float(score), None, length))
    table.counts.rated = table.counts.scored = n
    return table


def test_a_judge_below_the_threshold_is_hardly_ever_ready():
    """The share of samples in which a kappa of .466 was above .5 was 28 %."""
    found = [gate(drawn(seed, 0.466)).dimensions[0] for seed in range(40)]
    above = [d for d in found if d.kappa >= LIMITS.calibration_kappa]
    assert len(above) > 8
    assert sum(d.status == "ready" for d in found) <= 1
    assert all("the lower end is below 0.5" in d.sentence for d in above if d.status != "ready")
    assert sum(gate(drawn(seed, 0.85)).dimensions[0].status == "ready" for seed in range(10)) >= 8


def test_ready_takes_being_above_every_control():
    table = rated(120, 1)
    for i, t in enumerate(table.targets):
        table.targets[i] = replace(t, length=t.people * 10)
    by_length = gate(table).dimensions[0]
    assert by_length.interval[0] > LIMITS.calibration_kappa
    assert by_length.status == "cannot tell"
    assert "these ratings do not show that it beats these controls: reply length" in by_length.sentence


def test_the_gate_says_nothing_below_a_hundred_dialogues_and_nothing_of_nothing():
    few = gate(rated(99, 1))
    assert few.dimensions[0].status == "cannot tell"
    assert "100 dialogues are needed" in few.dimensions[0].sentence
    assert "Only 99 rated dialogues" in few.sentence
    assert gate().dimensions == ()
    assert "no two scores were compared. To compare two of other names" in gate().sentence


def test_a_check_that_saw_too_few_counts_in_plain_words():
    told = [only(n, "reply was", "replies were") for n in (0, 1, 4)]
    assert told == ["No reply was", "Only 1 reply was", "Only 4 replies were"]


def test_what_was_found_survives_json_and_is_shown():
    made = [correcting(f"c{i}") for i in range(8)]
    found, _ = look(
        [r for _, rows in made for r in rows], [c for c, _ in made], calibration=gate(rated(120, 4))
    )
    again = Trust.from_json(as_json(found))
    assert again == found
    lines = to_text(trust_brief(again)).splitlines()
    assert any("FLAGGED" in line and "corrections" in line for line in lines)
    assert any("NOT READY" in line and "coherence" in line for line in lines)
    assert again.calibration.not_ready == ("coherence",)
