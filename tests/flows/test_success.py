"""`dialogauge success`: from dialogues with goals or tasks to rows, figures and a page."""

import json
import shutil

import pytest

from dialogauge.core import UsageError
from flows.conftest import EXAMPLES
from parsed_pages import ParsedPage

GOAL = {"hotel": {"informable": {"area": "north"}, "requestable": ["PHONE", "REFERENCE"]}}
TABLES = {
    "hotel": [
        {"id": "1", "name": "alpha house", "area": "north", "phone": "01223000001"},
        {"id": "2", "name": "beta lodge", "area": "south", "phone": "01223000002"},
    ],
    "restaurant": [{"id": "3", "name": "ask"}],
    "attraction": [{"id": "4", "name": "old mill"}],
    "train": [{"trainID": "TR0001", "departure": "ely"}],
}


def call(call_id, tool, **arguments):
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def result(id, **value):
    return {"role": "tool", "tool_call_id": id, "content": json.dumps(value)}


def user(text):
    return {"role": "user", "content": text}


def reply(text):
    return {"role": "assistant", "content": text}


def hotel_talk(id, area="north", booked=True):
    name = {"north": "Alpha House", "south": "Beta Lodge"}[area]
    phone = {"north": "01223000001", "south": "01223000002"}[area]
    booking = (
        [call("b", "book_hotel", name=name.lower()), result("b", reference="AB12CD34")] if booked else []
    )
    messages = [
        user("a hotel?"),
        *[call("a", "find_hotel", area=area), result("a", n=1)],
        reply(f"{name}, phone {phone}."),
        user("book it"),
        *booking,
        reply("Your reference is AB12CD34."),
    ]
    return {"id": id, "messages": messages, "candidate": "m1"}


def lines(path, *records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


@pytest.fixture
def database(tmp_path):
    folder = tmp_path / "db"
    folder.mkdir()
    for domain, rows in TABLES.items():
        (folder / f"{domain}_db.json").write_text(json.dumps(rows))
    return folder


def rows_of(run):
    return [json.loads(line) for line in (run / "judgements.jsonl").read_text().splitlines()]


def test_an_agent_of_our_own(dialogauge, tmp_path, database):
    log = lines(
        tmp_path / "log.jsonl", hotel_talk("d1"), hotel_talk("d2", "south"), hotel_talk("d3", booked=False)
    )
    goals = tmp_path / "goals.json"
    goals.write_text(json.dumps(dict.fromkeys(("d1", "d2", "d3"), GOAL)))
    done = dialogauge(
        "success", log, "--kind", "multiwoz", "--goals", goals, "--database", database, "-o", tmp_path / "run"
    )
    assert done.code == 0, done.err
    scores = {row["conversation_id"]: row["scores"] for row in rows_of(tmp_path / "run")}
    assert [list(scores[id].values())[:2] for id in ("d1", "d2", "d3")] == [
        [1, 1],
        [0, 0],
        [1, 0],  # the reference was made up
    ]
    assert "hotel: reference not told" in done.out
    assert "hotel: what was offered does not fit the goal" in done.out
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    whole, hotel = summary["success"]["groups"]
    assert (whole["domain"], whole["agent"], whole["dialogues"]) == ("all", "m1", 3)
    assert hotel["means"]["inform"]["value"] == pytest.approx(2 / 3)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "What failed" in page
    assert "Your reference is AB12CD34." in page
    assert "(area north, searched for south" in page
    shown = dialogauge("show", tmp_path / "run", "d3").out
    assert "  - hotel: reference not told" in shown


def shop_run(id, messages, **more):
    task = {"gold_actions": [{"name": "cancel", "kwargs": {"id": "o1"}}], "gold_outputs": ["9.5"]}
    record = {"agent": "m1", "domain": "shop", "task_id": id, "trial": 0, "reward": 1.0, **task}
    return {**record, "messages": [user("cancel o1"), *messages] if messages else [], **more}


SHOP_RUNS = (
    shop_run(1, [call("a", "cancel", id="o1"), result("a"), reply("You get 9.5 back.")]),
    shop_run(2, [call("a", "cancel", id="o3"), result("a"), reply("You get 9.5 back.")], reward=0.0),
    shop_run(3, [call("a", "cancel", id="o1"), result("a"), reply("You get 19.5 back.")], agent="m2"),
    shop_run(4, [], reward=0.0, error="rate limit", agent="m2"),
)


@pytest.fixture
def shop(tmp_path):
    shutil.copy(EXAMPLES / "shop.py", tmp_path / "shop.py")


def test_the_shop_of_the_examples(dialogauge, tmp_path, shop):
    log, run = lines(tmp_path / "runs.jsonl", *SHOP_RUNS), tmp_path / "run"
    done = dialogauge("success", log, "--kind", "tau", "--environment", "py:shop:SHOP", "-o", run)
    assert done.code == 0, done.err
    assert [row["scores"] for row in rows_of(run)] == [
        {"success": 1, "outputs": 1, "database": 1},
        {"success": 0, "outputs": 1, "database": 0},
        {"success": 1, "outputs": 1, "database": 1},
        None,
    ]
    assert "table orders differs" in done.out
    assert "3 of 3 recomputed rewards are equal to the stored ones" in done.unwrapped
    assert "19.5" in done.out, "an output within another number is shown"
    summary = json.loads((run / "summary.json").read_text())
    assert summary["conversations"]["absent"] == 1
    assert (summary["requested"], summary["failed"], summary["failures"]) == (3, 0, {})
    assert [(g["agent"], g["dialogues"], g["absent"]) for g in summary["success"]["groups"]] == [
        ("m1", 2, 0),
        ("m2", 2, 1),
    ]
    again = dialogauge("success", log, "--kind", "tau", "--environment", "py:shop:SHOP", "-o", run)
    assert again.out == done.out


def test_a_stored_reward_that_does_not_come_out_again_is_counted(dialogauge, tmp_path, shop):
    """The second cancelled another order, so that its reward is 0 and not the 1 that stands in the log."""
    wrong = {**SHOP_RUNS[1], "reward": 1.0}
    log = lines(tmp_path / "runs.jsonl", SHOP_RUNS[0], wrong)
    done = dialogauge("success", log, "--environment", "py:shop:SHOP", "-o", tmp_path / "run")
    assert "1 of 2 recomputed rewards are equal to the stored ones" in done.unwrapped


def test_agents_stand_side_by_side_over_all_domains(dialogauge, tmp_path):
    messages = [reply("You get 9.5 back.")]
    runs = [
        shop_run(n, messages, domain=domain, agent=agent, reward=float(agent == "m2"))
        for agent in ("m1", "m2")
        for domain in ("shop", "bank")
        for n in range(3)
    ]
    untold = {**shop_run(9, [reply("It is 7.")], agent="m1", reward=0.0), "gold_outputs": ["7", "9.5"]}
    gone = shop_run(10, [], agent="m1", domain="bank")
    run = tmp_path / "run"
    done = dialogauge(
        "success", lines(tmp_path / "runs.jsonl", *runs, untold, gone), "--kind", "tau", "-o", run
    )
    assert done.code == 0, done.err
    summary = json.loads((run / "summary.json").read_text())
    found = [
        (g["domain"], g["agent"], g["dialogues"], g["absent"], g["means"]["success"]["value"])
        for g in summary["success"]["groups"]
    ]
    assert found == [
        ("all", "m1", 8, 1, 0.0),
        ("all", "m2", 6, 0, 1.0),
        ("bank", "m1", 4, 1, 0.0),
        ("bank", "m2", 3, 0, 1.0),
        ("shop", "m1", 4, 0, 0.0),
        ("shop", "m2", 3, 0, 1.0),
    ]
    assert "Missing:" not in done.out
    page = ParsedPage((run / "report.html").read_text())
    assert "success, share" in page.text
    assert page.text.index("m2", page.text.index("success, share")) < page.text.index(
        "m1", page.text.index("success, share")
    )
    assert "required output '9.5' is in no reply" in page.text
    assert "words a reply" in page.text


def test_agents_of_other_domains_are_named(dialogauge, tmp_path):
    messages = [reply("You get 9.5 back.")]
    of = (("m1", "shop"), ("m1", "bank"), ("m2", "bank"))
    runs = [shop_run(n, messages, domain=domain, agent=agent) for agent, domain in of for n in range(2)]
    log = lines(tmp_path / "runs.jsonl", *runs)
    done = dialogauge("success", log, "-o", tmp_path / "run")
    assert "only where they have the same domains. Missing: m2 (shop)." in done.unwrapped


def test_a_part_of_a_reward_is_no_success_and_counts_in_the_mean(dialogauge, tmp_path):
    """Rewards 0, .5, 1, .5 ten times: a quarter succeeded, and the mean is a half."""
    runs = [shop_run(n, [reply("Done.")], reward=(0, 0.5, 1, 0.5)[n % 4]) for n in range(40)]
    log = lines(tmp_path / "runs.jsonl", *runs)
    done = dialogauge("success", log, "--kind", "tau", "-o", tmp_path / "run")
    (group,) = json.loads((tmp_path / "run" / "summary.json").read_text())["success"]["groups"]
    assert (group["means"]["success"]["value"], group["successes"], group["reward"]["value"]) == (
        0.25,
        10,
        0.5,
    )
    assert "mean reward" in done.out
    assert "A success is a reward of 1." in done.unwrapped
    judged = dialogauge("judge", log, "-o", tmp_path / "judged")
    assert "mean reward 0.50" in judged.unwrapped
    assert "failed 75.0 %" in judged.unwrapped
    assert "meaning below 1" in judged.unwrapped


def test_rows_over_all_domains_compare_one_mix_of_them(dialogauge, tmp_path):
    """m1 did 5 of 10 in the shop and 10 of 10 in the bank; of m2's runs in the shop 5 are absent."""
    runs = []
    for agent in ("m1", "m2"):
        for domain in ("shop", "bank"):
            for n in range(10):
                there = agent == "m1" or domain == "bank" or n % 2
                won = domain == "bank" or n < 5
                messages = [reply("Done.")] if there else []
                runs.append(shop_run(n, messages, agent=agent, domain=domain, reward=float(won)))
    log = lines(tmp_path / "runs.jsonl", *runs)
    done = dialogauge("success", log, "--kind", "tau", "-o", tmp_path / "run")
    groups = json.loads((tmp_path / "run" / "summary.json").read_text())["success"]["groups"]
    first, second = (g for g in groups if g["domain"] == "all")
    assert (first["means"]["success"]["value"], first["weighted"]) == (0.75, False)
    # m2: 2 of 5 in the shop, 10 of 10 in the bank; each half of the mix.
    assert (second["means"]["success"]["value"], second["weighted"]) == (pytest.approx(0.7), True)
    assert second["successes"] == 12
    assert "Rows over all domains: m2 weighted to the mix of domains" in done.unwrapped


def test_other_commands_take_the_run(dialogauge, tmp_path, shop):
    log, run = lines(tmp_path / "runs.jsonl", *SHOP_RUNS), tmp_path / "run"
    assert dialogauge("success", log, "--kind", "tau", "-o", run).code == 0
    assert dialogauge("export", run, "-o", tmp_path / "rows.csv").code == 0
    header = (tmp_path / "rows.csv").read_text().splitlines()[0]
    assert "score_success" in header
    before = (run / "report.html").read_text()
    assert dialogauge("report", run).code == 0
    assert (run / "report.html").read_text() == before
    assert "You get 19.5 back." in dialogauge("show", run, "shop_3__m2__0").out


def test_success_beside_people(dialogauge, tmp_path):
    records = []
    for n in range(12):
        good = n % 2
        messages = [reply("You get 9.5 back." if good else "No.")]
        records.append(shop_run(n, messages, reward=float(good)))
    log = lines(tmp_path / "runs.jsonl", *records)
    ratings = lines(
        tmp_path / "people.jsonl",
        *(
            {"conversation_id": f"shop_{n}__m1__0", "dimension": "satisfaction", "score": 5 if n % 2 else 2}
            for n in range(12)
        ),
    )
    run = tmp_path / "run"
    done = dialogauge("success", log, "--kind", "tau", "--ratings", ratings, "-o", run)
    assert done.code == 0, done.err
    assert "What people said" in (run / "report.html").read_text()
    beside = dialogauge("agreement", run, "--dimension", "success=satisfaction")
    assert beside.code == 0, beside.err
    assert "constant" in beside.out


@pytest.mark.parametrize(("gate", "code"), [("success.value>=0.6", 0), ("success.value>=0.9", 100)])
def test_a_gate(dialogauge, tmp_path, gate, code):
    log = lines(tmp_path / "runs.jsonl", *SHOP_RUNS)
    done = dialogauge("success", log, "--kind", "tau", "--gate", gate, "-o", tmp_path / "run")
    assert done.code == code
    assert f"gate {gate}" in done.out


def test_dialogues_that_cannot_be_checked_are_faults_with_their_place(dialogauge, tmp_path, database):
    bad = {**hotel_talk("d2"), "goal": {"hotel": ["cheap"]}}
    log = lines(tmp_path / "log.jsonl", {**hotel_talk("d1"), "goal": GOAL}, bad, hotel_talk("d3"))
    done = dialogauge("success", log, "--kind", "multiwoz", "--database", database, "-o", tmp_path / "run")
    assert done.code == 1
    assert "log.jsonl:2, conversation 'd2': the goal for 'hotel' is neither of the known forms" in done.err
    assert "log.jsonl:3, conversation 'd3': the dialogue has no goal" in done.err
    assert len(rows_of(tmp_path / "run")) == 1


def test_irregular_calls_are_counted_with_their_place(dialogauge, tmp_path):
    broken = call("a", "cancel")
    broken["tool_calls"][0]["function"]["arguments"] = "id: o1"
    log = lines(tmp_path / "runs.jsonl", shop_run(1, [result("z"), broken, reply("Done.")]))
    done = dialogauge("success", log, "--kind", "tau", "-o", tmp_path / "run")
    assert done.code == 0, done.err
    assert "1 result has no call before in their turn" in done.unwrapped
    assert "1 call has no result in their turn" in done.unwrapped
    assert "1 call has arguments that are no JSON object" in done.unwrapped
    assert "runs.jsonl:1, conversation 'shop_1__m1__0', turn 1" in done.unwrapped
    assert dialogauge("success", log, "--kind", "tau", "--strict", "-o", tmp_path / "strict").code == 1


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--kind", "multiwoz"), 2, "needs --database"),
        (
            ("--kind", "multiwoz", "--database", "nowhere"),
            1,
            "nowhere/restaurant_db.json: the table of restaurants",
        ),
        (
            ("--kind", "multiwoz", "--database", "db", "--goals", "none.json"),
            1,
            "none.json: the file of goals",
        ),
        (
            ("--kind", "multiwoz", "--database", "db", "--environment", "tau_bench"),
            2,
            "belongs to --kind tau",
        ),
        (("--kind", "tau", "--goals", "g.json"), 2, "belongs to --kind multiwoz"),
        (("--kind", "tau", "--environment", "py:shop:TABLES"), 2, "is no environment: it has no after"),
        (
            ("--kind", "tau", "--environment", "py:os:system"),
            2,
            "py:os:system is no environment, and nothing that makes one",
        ),
        (("--kind", "tau", "--environment", "shop"), 2, "has not the form py:MODULE:NAME"),
        (("--kind", "tau", "--gate", "inform.mean>=1"), 2, "no dimension 'inform'"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_done(
    dialogauge, tmp_path, database, shop, words, code, says
):
    log = lines(tmp_path / "log.jsonl", *SHOP_RUNS)
    done = dialogauge("success", log, *words, "-o", tmp_path / "run")
    assert done.code == code
    assert says in done.err
    assert not (tmp_path / "run").exists()


def test_judge_counts_absent_runs_by_agent_and_nothing_fails(dialogauge, tmp_path):
    """The absent run names no user, and so does not change what the intervals are clustered by."""
    runs = [{**record, "user_id": f"u{n}"} for n, record in enumerate(SHOP_RUNS[:3])]
    log, run = lines(tmp_path / "runs.jsonl", *runs, SHOP_RUNS[3]), tmp_path / "run"
    done = dialogauge("judge", log, "-o", run)
    assert done.code == 0, done.err
    assert "1 absent (no messages)" in done.unwrapped
    summary = json.loads((run / "summary.json").read_text())
    assert summary["conversations"]["absent"] == 1
    assert summary["clustered_by"] == "users"
    assert (summary["failed"], summary["failed_share"], summary["failures"]) == (0, 0.0, {})
    by_agent = {g["name"]: g.get("absent", 0) for g in summary["by"]["candidate"]["groups"]}
    assert by_agent == {"m1": 0, "m2": 1}
    assert rows_of(run)[-1]["failure"]["kind"] == "absent"
    shown = dialogauge("show", run, "shop_4__m2__0").out
    assert "not judged: absent" in shown
    assert "not at hand" not in shown
    page = (run / "report.html").read_text()
    assert "An absent conversation holds no message" in page  # beside the agents; their scores are unchecked
    assert ">absent</th>" in page


def test_the_library(tmp_path):
    import dialogauge

    run = dialogauge.run("success", list(SHOP_RUNS), kind="tau", progress=False)
    assert run.study == "success"
    assert run.summary["dimensions"]["success"]["mean"] == pytest.approx(2 / 3)
    assert run.gate("success.value>=0.6")
    assert not run.gate("outputs.value<=0.9")
    with pytest.raises(UsageError, match="needs --database"):
        dialogauge.run("success", list(SHOP_RUNS), kind="multiwoz", progress=False)
