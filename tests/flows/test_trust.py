"""Checks, calibration and judges against people, through the command line."""

from __future__ import annotations

import csv
import json
from importlib import resources

import pytest

from parsed_pages import without_own_script
from servers.faults import FaultPlan
from servers.verdicts import changed, ideal


@pytest.fixture
def rated(log, talk, tmp_path):
    """Thirty conversations, each with one turn that people dislike, and their ratings in a file."""
    records, ratings = [], []
    for i in range(30):
        name = f"c{i}"
        replies = (f"Museum {name} opens at nine, tickets are 5 euros.", "I cannot help with that.")
        records.append(talk(name, *replies, user_id=f"u{i % 6}", scenario_description=f"Desk {i}."))
        ratings += [(name, 1, "helpfulness", 4 + i % 2), (name, 2, "helpfulness", 1 + i % 2)]
    path = tmp_path / "ratings.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("conversation_id", "turn", "dimension", "score"), *ratings])
    return log(*records), path


def trust_of(run):
    return json.loads((run / "summary.json").read_text())["trust"]


def test_ratings_calibrate_and_a_few_say_so(dialogauge, rated, tmp_path):
    data, ratings = rated
    done = dialogauge("judge", data, "--ratings", ratings, "-o", "run")
    assert done.code == 0, done.err
    assert "\nHow far to trust these numbers\n" in done.out
    assert "Only 30 rated dialogues" in done.out
    calibration = trust_of(tmp_path / "run")["calibration"]
    (helpful,) = calibration["dimensions"]
    assert (helpful["name"], helpful["status"], helpful["n"]) == ("helpfulness", "cannot tell", 60)
    assert set(helpful["controls"]) == {"constant", "position", "reply length", "shuffled"}


def test_the_threshold_marks_a_dimension_in_summary_terminal_and_page(dialogauge, rated, tmp_path):
    data, ratings = rated
    (tmp_path / "dialogauge.toml").write_text(
        "[trust]\ncalibration_dialogues = 10\ncalibration_kappa = 0.999\n"
    )
    done = dialogauge("judge", data, "--ratings", ratings, "-o", "run")
    assert "helpfulness NOT READY 0.90 [" in done.unwrapped
    assert trust_of(tmp_path / "run")["calibration"]["dimensions"][0]["status"] == "not ready"
    page = (tmp_path / "run" / "report.html").read_text()
    assert '<span class="tag warn">not ready</span>' in page
    assert "How far to trust these numbers" in page
    # the page written anew says the same; so does the same command, without asking for anything
    dialogauge("report", "run", "-o", "again.html")
    assert (tmp_path / "again.html").read_text() == page
    lax = dialogauge("trust", "run", "--config", _lax(tmp_path))
    assert lax.code == 0, lax.err
    assert "NOT READY" in lax.out  # ratings were not given again: what was found then is kept
    assert "NOT READY" not in dialogauge("trust", "run", "--ratings", ratings, "--config", _lax(tmp_path)).out


def _lax(folder):
    path = folder / "lax.toml"
    path.write_text("[trust]\ncalibration_dialogues = 10\ncalibration_kappa = -1.0\n")
    return path


def test_a_threshold_that_is_none_is_refused(dialogauge, rated, tmp_path):
    (tmp_path / "dialogauge.toml").write_text("[trust]\nlength_correlation = 7\n")
    done = dialogauge("judge", rated[0], "-o", "run")
    assert done.code == 2
    assert "length_correlation" in done.err


def test_a_model_that_ignores_the_scenario_is_said_to(dialogauge, serve, rated, tmp_path):
    stub = serve(ideal)
    at = ("--model", "stub-model", "--base-url", stub.url)
    dialogauge("judge", rated[0], *at, "-o", "run")
    before = len(stub.asked)
    done = dialogauge("trust", "run", "--scenario-sample", 12)
    assert done.code == 0, done.err
    assert "No sign that the judge looks at the scenario" in done.out
    assert len(stub.asked) - before == 24
    check = trust_of(tmp_path / "run")["checks"]["scenario_ignored"]
    assert (check["status"], check["n"]) == ("flagged", 12)
    # judged again, nothing is asked and the check is kept
    dialogauge("judge", rated[0], *at, "-o", "run")
    assert len(stub.asked) - before == 24
    assert trust_of(tmp_path / "run")["checks"]["scenario_ignored"] == check


def test_the_sample_goes_on_after_a_spent_budget_and_stays_out_of_what_others_read(
    dialogauge, serve, rated, tmp_path
):
    stub = serve(ideal)
    dialogauge("judge", rated[0], "--model", "stub-model", "--base-url", stub.url, "-o", "run")
    run = tmp_path / "run"
    judged = (run / "judgements.jsonl").read_bytes(), (run / "manifest.json").read_bytes()
    dialogauge("export", "run", "-o", "before.csv")
    words = ("trust", "run", "--scenario-sample", 12, "--no-cache", "--max-concurrency", 1)
    before = len(stub.asked)
    spent = dialogauge(*words, "--max-calls", 10)
    assert spent.code == 1
    assert "the same command continues from here" in spent.err
    asked = len(stub.asked) - before
    told = trust_of(run)["checks"]["scenario_ignored"]
    assert 4 <= told["n"] <= asked <= 10
    assert f"{24 - asked} of the sample are still to be judged: the same command goes on" in told["sentence"]
    # one that gets nowhere does not take the place of what is there
    assert dialogauge(*words, "--max-calls", 0, "--seed", 7).code == 1
    assert trust_of(run)["checks"]["scenario_ignored"] == told
    assert dialogauge(*words).code == 0
    assert len(stub.asked) - before == 24
    check = trust_of(run)["checks"]["scenario_ignored"]
    assert (check["n"], "still" in check["sentence"]) == (12, False)
    assert dialogauge(*words).code == 0
    assert len(stub.asked) - before == 24
    # a larger sample holds the smaller one
    assert dialogauge("trust", "run", "--scenario-sample", 15, "--no-cache").code == 0
    assert len(stub.asked) - before <= 24 + 6 + 1
    assert ((run / "judgements.jsonl").read_bytes(), (run / "manifest.json").read_bytes()) == judged
    dialogauge("export", "run", "-o", "after.csv")
    assert (tmp_path / "after.csv").read_bytes() == (tmp_path / "before.csv").read_bytes()
    assert dialogauge("report", "run").code == 0
    assert dialogauge("judge", "run", "--dry-run", "--json", "-o", "again").json["conversations"] == 30
    done = dialogauge("judge", rated[0], "--model", "stub-model", "--base-url", stub.url, "-o", "run")
    assert "another judge" not in done.err
    assert (run / "judgements.jsonl").read_bytes() == judged[0]


def test_a_variant_that_failed_is_judged_again_when_asked_for(dialogauge, serve, rated, tmp_path):
    broken = []

    def fault(request):
        text = str(request["messages"])
        return "prose" if broken and "Asked for" in text and "Desk" not in text else None

    stub = serve(ideal, faults=FaultPlan(choose=fault))
    dialogauge("judge", rated[0], "--model", "stub-model", "--base-url", stub.url, "-o", "run")
    broken.append(True)
    words = ("trust", "run", "--scenario-sample", 12, "--no-cache")
    assert dialogauge(*words).code == 0
    assert (
        "of the new judgements failed" in trust_of(tmp_path / "run")["checks"]["scenario_ignored"]["sentence"]
    )
    broken.clear()
    before = len(stub.asked)
    assert dialogauge(*words).code == 0
    assert len(stub.asked) == before
    assert dialogauge(*words, "--retry-failed").code == 0
    assert len(stub.asked) - before == 12
    assert "failed" not in trust_of(tmp_path / "run")["checks"]["scenario_ignored"]["sentence"]


def test_another_model_is_not_taken_for_the_judge_of_the_run(dialogauge, serve, rated):
    stub = serve(ideal)
    dialogauge("judge", rated[0], "--model", "stub-model", "--base-url", stub.url, "-o", "run")
    done = dialogauge("trust", "run", "--scenario-sample", 5, "--model", "another", "--base-url", stub.url)
    assert done.code == 2
    assert "not the one that judged it" in done.err
    assert "what differs: model (stub-model judged the run, this is another). " in done.err
    other = serve(ideal)
    at = ("--model", "stub-model", "--base-url", other.url)
    done = dialogauge("trust", "run", "--scenario-sample", 5, *at)
    assert f"endpoint ({stub.url} judged the run, this is {other.url})" in done.err


def test_the_models_own_verdict_is_held_against_ours(dialogauge, serve, rated, tmp_path):
    stub = serve(changed(lambda value: value.update(verdict="poor")))
    dialogauge("judge", rated[0], "--model", "stub-model", "--base-url", stub.url, "-o", "run")
    check = trust_of(tmp_path / "run")["checks"]["verdict_mismatch"]
    assert (check["status"], check["n"]) == ("flagged", 30)


RULE = """
[[scenario_rules]]
name = "no_hours"
scenario = "desk"
reply = "opens at nine"
dimension = "helpfulness"
at_most = 2
"""


def test_scenario_rules_of_a_rubric_are_checked_and_faulty_ones_refused(dialogauge, rated, tmp_path):
    shipped = resources.files("dialogauge.rubrics") / "files" / "rubrics"
    for language in ("en", "zh"):
        (tmp_path / f"mine.{language}.md").write_text((shipped / f"card.{language}.md").read_text("utf-8"))
    card, rubric = (shipped / "card.toml").read_text("utf-8"), tmp_path / "mine.toml"
    rubric.write_text(card + RULE)
    done = dialogauge("judge", rated[0], "--rubric", rubric, "-o", "run")
    assert done.code == 0, done.err
    check = trust_of(tmp_path / "run")["checks"]["scenario_rules"]
    assert (check["status"], check["n"], check["cases_total"]) == ("flagged", 30, 30)
    # a rule changes no judgement: with another, nothing is judged again
    rubric.write_text(card + RULE.replace("opens at nine", "never said"))
    done = dialogauge("judge", rated[0], "--rubric", rubric, "-o", "run")
    assert "30 already done" in done.out
    assert trust_of(tmp_path / "run")["checks"]["scenario_rules"]["status"] == "cannot tell"
    for old, new, told in (
        ('"opens at nine"', '"("', "not a regular expression"),
        ('"helpfulness"', '"nothing"', "there is no dimension"),
        ("at_most = 2", "at_most = 9", "not on the scale"),
    ):
        rubric.write_text(card + RULE.replace(old, new))
        failed = dialogauge("judge", rated[0], "--rubric", rubric, "-o", "run")
        assert failed.code == 2
        assert told in failed.err


def test_agreement_compares_judges_with_people_and_each_other(dialogauge, rated, tmp_path):
    data, ratings = rated
    for mode in ("hindsight", "foresight"):
        dialogauge("judge", data, "--mode", mode, "-o", mode)
    done = dialogauge(
        "agreement", "hindsight", "foresight", "--ratings", ratings, "--dissatisfied", "2",
        "-o", "met",
    )  # fmt: skip
    assert done.code == 0, done.err
    for mode in ("hindsight", "foresight"):
        head = f"{mode} local judge in {mode}: helpfulness of turns. 60 rated targets, 60 scored, 0 n/a, "
        assert f"{head}0 failed, 0 not judged; 30 conversations of 6 users" in done.unwrapped
    assert "≈ not distinguishable" in done.unwrapped
    found = json.loads((tmp_path / "met" / "agreement.json").read_text())
    assert [j["name"] for j in found["judges"]] == ["hindsight", "foresight"]
    first = found["judges"][0]
    assert first["dissatisfied"] == 30
    assert first["gate"]["status"] == "cannot tell"
    assert "100 dialogues are needed" in done.unwrapped
    assert first["figures"]["auc"]["value"] > 0.9
    assert [c["name"] for c in first["controls"]] == [
        "constant", "always dissatisfied", "reply length", "position", "shuffled",
    ]  # fmt: skip
    assert len(found["comparisons"]) == 5
    page = (tmp_path / "met" / "agreement.html").read_text()
    assert "Judges against people" in page
    assert "<script" not in without_own_script(page)
    told = dialogauge("agreement", "hindsight", "--ratings", ratings, "--json").json
    assert told["judges"][0]["dissatisfied_if"] == "<=3"


def test_agreement_says_what_does_not_fit(dialogauge, rated, tmp_path):
    data, ratings = rated
    dialogauge("judge", data, "-o", "run")
    for words, told in (
        (("run",), "there are no ratings of its conversations"),
        (("run", "--ratings", ratings, "--dimension", "coherence=helpfulness"), "none of 60 rated"),
        (("run", "--ratings", ratings, "--dimension", "helpfulness=mood"), "nobody rated 'mood'"),
        (("run", "--ratings", ratings, "--dimension", "=x"), "has not the form"),
        (("run", "--ratings", ratings, "--dissatisfied", "="), "says nothing"),
    ):
        done = dialogauge("agreement", *words)
        assert done.code == 2, done.out
        assert told in done.err
    (tmp_path / "other.csv").write_text("conversation_id,turn,dimension,score\nc1,1,mood,3\n")
    done = dialogauge("agreement", "run", "--ratings", "other.csv")
    assert "people rated 'mood' (1, numbers, all 3)" in done.err
    assert dialogauge("agreement", "nothing").code == 1


def test_ratings_within_the_log_need_no_file(dialogauge, log, talk):
    records = []
    for i in range(12):
        record = talk(f"c{i}", "It opens at nine and closes at five.", "I cannot help with that.")
        record["messages"][1]["satisfaction"], record["messages"][3]["satisfaction"] = 5, 2
        records.append(record)
    dialogauge("judge", log(*records), "--rubric", "satisfaction", "-o", "run")
    done = dialogauge("agreement", "run", "--dissatisfied", "3")
    assert done.code == 0, done.err
    assert "Measures of order use the judge’s fractional scores" in done.unwrapped


def test_hidden_ids_join_with_ratings_and_pages_hide_what_checks_point_at(dialogauge, rated, tmp_path):
    data, ratings = rated
    done = dialogauge("judge", data, "--ratings", ratings, "--hash-ids", "-o", "hidden")
    assert done.code in (0, 1), done.err
    assert trust_of(tmp_path / "hidden")["calibration"]["dimensions"][0]["n"] == 60
    met = dialogauge("agreement", "hidden", "--ratings", ratings)
    assert "60 rated targets, 60 scored" in met.unwrapped
    rubric = tmp_path / "mine.toml"
    shipped = resources.files("dialogauge.rubrics") / "files" / "rubrics"
    for language in ("en", "zh"):
        (tmp_path / f"mine.{language}.md").write_text((shipped / f"card.{language}.md").read_text("utf-8"))
    rubric.write_text((shipped / "card.toml").read_text("utf-8") + RULE)
    dialogauge("judge", data, "--rubric", rubric, "-o", "open")
    assert ">c7, turn 1" in (tmp_path / "open" / "report.html").read_text()
    dialogauge("report", "open", "--hash-ids", "-o", "shown.html")
    page = (tmp_path / "shown.html").read_text()
    assert ">c7, turn 1" not in page
    assert "no_hours" in page


def test_a_dry_run_says_what_the_sample_would_ask(dialogauge, serve, rated, tmp_path):
    stub = serve(ideal)
    dialogauge("judge", rated[0], "--model", "stub-model", "--base-url", stub.url, "-o", "run")
    before, files = len(stub.asked), (tmp_path / "run" / "summary.json").read_bytes()
    words = ("trust", "run", "--scenario-sample", 12, "--no-cache", "--max-concurrency", 1)
    plan = dialogauge(*words, "--dry-run", "--json").json
    assert (plan["variants"], plan["left"], plan["asking"]["calls"]) == (24, 24, 24)
    shown = dialogauge(*words, "--dry-run").out
    assert "would judge 24 of 24 conversations with another scenario or none, by card/stub-model" in shown
    assert "24 calls: about " in shown
    nothing = dialogauge("trust", "run", "--dry-run")
    assert "would make the checks anew; nothing is judged" in nothing.out
    assert len(stub.asked) == before
    assert (tmp_path / "run" / "summary.json").read_bytes() == files
    assert dialogauge(*words, "--max-calls", 10).code == 1
    assert dialogauge(*words, "--dry-run", "--json").json["left"] == 24 - (len(stub.asked) - before)
    assert dialogauge(*words).code == 0
    sent = [m["content"].encode() for body in stub.asked[before:] for m in body["messages"]]
    assert len(stub.asked) - before == 24
    assert plan["asking"]["prompt_tokens"] == pytest.approx(sum(map(len, sent)) / 3, abs=1)
    other = dialogauge(*words, "--dry-run", "--model", "another", "--base-url", stub.url)
    assert other.code == 2
    assert "is not the one that judged it" in other.err


def test_the_local_judge_is_tried_with_planted_faults(dialogauge, rated, tmp_path):
    dialogauge("judge", rated[0], "-o", "run")
    shown = dialogauge("trust", "run", "--planted", 6).unwrapped
    assert "What this judge would not notice" in shown
    assert "Faults of other kinds were not tried." in shown
    planted = trust_of(tmp_path / "run")["planted"]
    assert (planted["judge"], planted["by"], planted["size"]) == ("local", "findings", 6)
    empty = planted["faults"]["empty"]
    assert (empty["answer"], empty["share"]["value"], empty["share"]["n"]) == ("noticed", 1.0, 6)
    assert "This judge would not notice: " in (tmp_path / "run" / "report.html").read_text()
    assert dialogauge("trust", "run", "--planted", 0, "--json").json["planted"] == planted


def test_a_model_is_tried_with_planted_faults_only_when_asked(dialogauge, serve, rated, tmp_path):
    stub = serve(ideal)
    dialogauge("judge", rated[0], "--model", "stub-model", "--base-url", stub.url, "-o", "run")
    before = len(stub.asked)
    assert dialogauge("trust", "run").code == 0
    assert len(stub.asked) == before
    assert "planted" not in trust_of(tmp_path / "run")
    words = ("trust", "run", "--planted", 2, "--no-cache")
    plan = dialogauge(*words, "--dry-run", "--json").json
    assert plan["planted"] == plan["asking"]["calls"] == plan["left"] > 12
    assert len(stub.asked) == before
    assert dialogauge(*words, "--max-calls", 5).code == 0
    assert 1 <= trust_of(tmp_path / "run")["planted"]["judged"] <= 5
    before = len(stub.asked)
    assert dialogauge(*words).code == 0
    assert len(stub.asked) - before == plan["planted"]
    planted = trust_of(tmp_path / "run")["planted"]
    assert (planted["by"], planted["judged"]) == ("scores", plan["planted"])
    # what came less far does not take its place
    assert dialogauge(*words, "--max-calls", 5).code == 0
    assert trust_of(tmp_path / "run")["planted"] == planted


def test_what_simulated_users_did_wrong_stands_above_the_scores(dialogauge, log, talk, tmp_path):
    ids = [f"s{i}" for i in range(12)]
    user = {"kind": "goal", "facts": {"card number": "L-5520", "reason": "the kids were ill"}}
    said = ["My card is L-5520 and the kids were ill, so the books are late.", "Thank you for contacting us."]
    records = [talk(name, "I see.", "I see.", user_id=name) for name in ids]
    for record in records:
        texts = iter(said)
        for message in record["messages"]:
            if message["role"] == "user":
                message["content"] = next(texts)
        record["session"] = {"ended": "turns", "user": user}
    real = log(*(talk(f"r{i}", "I see.", user_id=f"r{i}") for i in range(12)))
    real = real.rename(tmp_path / "people.jsonl")
    done = dialogauge("judge", log(*records), "-o", "run")
    assert done.code == 0, done.err
    assert done.out.index("The simulated users") < done.out.index("How far to trust these numbers")
    simulator = trust_of(tmp_path / "run")["simulator"]
    rates = {rate["kind"]: rate for rate in simulator["faults"]}
    assert rates["speaks_as_other"]["share"]["value"] == 1
    assert rates["goal_given_away"]["cases"][0]["fault"]["turn"] == 1
    assert (rates["stops_early"]["share"]["n"], rates["never_objects"]["left_out"]) == (12, 12)
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.index('id="simulator"') < page.index('id="glance"')
    assert "style" not in simulator
    dialogauge("trust", "run", "--planted", "0", "--real-users", real)
    assert trust_of(tmp_path / "run")["simulator"]["style"]["real"] == "people.jsonl"
    dialogauge("trust", "run", "--planted", "0")  # what was compared stays
    style = trust_of(tmp_path / "run")["simulator"]["style"]
    assert style["times_as_long"]["value"] > 1
    assert "Beside real users" in (tmp_path / "run" / "report.html").read_text()
