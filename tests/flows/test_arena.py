"""`dialogauge arena`: votes, scores and the local judge make a ranking; the rest is refused."""

import json
import random

import pytest

GOOD = ("The train leaves at 9:15 from platform 3.", "I booked it for you, the reference is AB123.")
BAD = ("Sorry, I cannot help.", "I don't know.")
ASKED = ("When does the train to Leeds leave?", "Please book it for me.")
STRENGTH = {"gpt": 1200, "mix": 1000, "tiny": 850}


def dialogues(path, share, *, count=12, **more):
    """A file in which so many dialogues go well."""
    rng = random.Random(path.name)
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            replies = GOOD if rng.random() < share else BAD
            said = zip(ASKED, replies, strict=True)
            messages = [
                {"role": role, "content": text}
                for pair in said
                for role, text in zip(("user", "assistant"), pair, strict=True)
            ]
            out.write(json.dumps({"id": f"d{number}", "messages": messages, **more}) + "\n")
    return path


def published(path, questions=40):
    """Votes as MT-Bench publishes them."""
    rng = random.Random(1)
    with path.open("w", encoding="utf-8") as out:
        for number in range(questions):
            for a, b in (("gpt", "mix"), ("mix", "tiny"), ("tiny", "gpt")):
                chance = 1 / (1 + 10 ** ((STRENGTH[b] - STRENGTH[a]) / 400))
                at = rng.random()
                winner = "tie" if at < 0.1 else "model_a" if at < 0.1 + 0.9 * chance else "model_b"
                said = [
                    [
                        {"role": "user", "content": "Q"},
                        {"role": "assistant", "content": "w" * rng.randint(3, 60)},
                    ]
                    for _ in range(2)
                ]
                row = {"question_id": number, "model_a": a, "model_b": b, "winner": winner}
                row |= {"judge": f"expert_{number % 7}", "conversation_a": said[0], "conversation_b": said[1]}
                out.write(json.dumps(row) + "\n")
    return path


@pytest.fixture
def runs(dialogauge, tmp_path):
    """Judged runs of three agents."""
    out = []
    for name, share in (("alpha", 0.9), ("beta", 0.5), ("gamma", 0.2)):
        file = dialogues(tmp_path / f"{name}.jsonl", share, count=10 if name == "gamma" else 12)
        assert dialogauge("judge", file, "-o", tmp_path / "runs" / name).code == 0
        out.append(tmp_path / "runs" / name)
    return out


def test_published_votes_make_a_ranking_with_controls_beside(dialogauge, tmp_path):
    done = dialogauge("arena", published(tmp_path / "votes.jsonl"), "-o", tmp_path / "run", "--json")
    assert done.code == 0, done.err
    result = done.json
    assert [one["agent"] for one in result["agents"]] == ["gpt", "mix", "tiny"]
    assert (result["asked"], result["votes"], result["failures"]) == (120, 120, {})
    first = result["agents"][0]
    assert first["rating"]["low"] < first["rating"]["value"] < first["rating"]["high"]
    assert first["rating"]["method"] == "jackknife by dialogues"
    assert first["votes"] == first["wins"] + first["losses"] + first["ties"] == 80
    assert sum(one["rating"]["value"] for one in result["agents"]) == pytest.approx(3000)
    assert {one["name"] for one in result["beside"]} == {"length", "coin"}
    matrix = result["matrix"]
    assert matrix["agents"] == ["gpt", "mix", "tiny"]
    assert sum(map(sum, matrix["wins"])) + sum(map(sum, matrix["ties"])) / 2 == 120
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Win matrix" in page
    assert "a coin decides" in page


def test_scores_of_runs_make_a_ranking_and_what_is_missing_is_said(dialogauge, runs, tmp_path):
    done = dialogauge("arena", *runs, "-o", tmp_path / "run")
    assert done.code == 0, done.err
    assert "gamma lacks 2 dialogues that others have led: d10, d11" in done.unwrapped
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert [one["agent"] for one in summary["agents"]] == ["alpha", "beta", "gamma"]
    assert summary["asked"] == 12 + 10 + 10
    assert summary["agents"][0]["about"] == {"judged by": "local", "dialogues": 12}
    length = next(one for one in summary["beside"] if one["name"] == "length")
    assert length["agrees"]["value"] == 1  # better replies are longer here: the page says it


def test_a_new_agent_is_compared_without_the_old_pairs(dialogauge, runs, tmp_path):
    assert dialogauge("arena", *runs[:2], "-o", tmp_path / "run").code == 0
    before = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert dialogauge("arena", *runs, "-o", tmp_path / "run").code == 0
    after = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (before["votes"], after["votes"]) == (12, 32)


def test_the_local_judge_votes_on_files_and_names_can_be_given(dialogauge, tmp_path):
    files = [dialogues(tmp_path / f"{n}.jsonl", share) for n, share in (("alpha", 0.9), ("beta", 0.1))]
    done = dialogauge(
        "arena", f"mine={files[0]}", files[1], "--judge", "local", "-o", tmp_path / "r", "--json"
    )
    assert done.code == 0, done.err
    assert [one["agent"] for one in done.json["agents"]] == ["mine", "beta"]
    assert done.json["referee"] == "scores of local"


def test_arenas_are_put_together(dialogauge, runs, tmp_path):
    assert dialogauge("arena", *runs[:2], "-o", tmp_path / "one").code == 0
    assert dialogauge("arena", *runs[1:], "-o", tmp_path / "two").code == 0
    done = dialogauge("arena", tmp_path / "one", tmp_path / "two", "-o", tmp_path / "both", "--json")
    assert done.code == 0, done.err
    assert done.json["votes"] == 22
    assert done.json["groups"] == [["alpha", "beta", "gamma"]]


def test_people_stand_beside_another_judge(dialogauge, runs, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("a,b,winner,conversation_id\n" + "".join(f"alpha,beta,a,d{i}\n" for i in range(12)))
    done = dialogauge("arena", *runs[:2], "--ratings", votes, "--judge", "scores", "-o", "r", "--json")
    people = next(one for one in done.json["beside"] if one["name"] == "people")
    assert people["agrees"]["value"] == done.json["agents"][0]["wins"] / people["agrees"]["n"]
    assert people["ratings"]["alpha"] > 1000


def test_ids_are_hidden_where_that_is_asked(dialogauge, runs, tmp_path):
    assert dialogauge("arena", *runs, "--hash-ids", "-o", tmp_path / "run").code == 0
    for file in ("judgements.jsonl", "summary.json", "report.html"):
        assert "d10" not in (tmp_path / "run" / file).read_text(encoding="utf-8")


def test_what_cannot_be_compared_is_refused(dialogauge, runs, tmp_path):
    votes = published(tmp_path / "votes.jsonl")
    assert dialogauge("arena", votes, "-o", tmp_path / "people").code == 0
    assert dialogauge("arena", *runs[:2], "-o", tmp_path / "scores").code == 0
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"id": "elsewhere", "messages": [{"role": "user", "content": "Hello"}]}))
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"a": "x", "b": "y", "winner": "left"}\n')
    for words, code, why in (
        ((runs[0],), 2, "an arena of one agent: alpha"),
        ((tmp_path / "people", tmp_path / "scores"), 2, "the arenas people and scores have no common agent"),
        ((tmp_path / "people", runs[0]), 2, "is an arena, and is put together with arenas only"),
        ((runs[0], f"alpha={runs[1]}"), 2, "two agents are called 'alpha'"),
        ((runs[0], other, "--judge", "local"), 2, "no dialogue in common"),
        ((runs[0], other, "--judge", "people"), 2, "no dialogue in common"),
        ((runs[0], tmp_path / "beta.jsonl"), 2, "the dialogues of beta have no scores"),
        ((*runs, "--judge", "people"), 2, "nobody has voted on these agents"),
        ((wrong,), 1, "no vote could be read: "),
    ):
        done = dialogauge("arena", *words, "-o", tmp_path / "refused")
        assert (done.code, why in done.err) == (code, True), done.err
        assert not (tmp_path / "refused").exists()


def test_a_vote_for_an_unknown_agent_and_another_task_are_named(dialogauge, runs, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("a,b,winner,conversation_id\nalpha,zeta,a,d1\nalpha,beta,b,d1\n")
    done = dialogauge("arena", *runs[:2], "--ratings", votes, "-o", tmp_path / "one")
    assert done.code == 1
    assert "votes.csv:2: a vote for an unknown agent: 'zeta'" in done.err
    files = [dialogues(tmp_path / f"{n}.jsonl", 0.5, scenario=n) for n in ("hotel", "train")]
    done = dialogauge("arena", *files, "--judge", "local", "-o", tmp_path / "two")
    assert done.code == 1
    assert "hotel and train had different tasks on it: scenario 'hotel' and 'train'" in done.err
    assert "No vote: nobody can be ranked" in done.unwrapped


def test_runs_of_different_judges_are_not_compared(dialogauge, tmp_path):
    for name, rubric in (("alpha", "card"), ("beta", "satisfaction")):
        file = dialogues(tmp_path / f"{name}.jsonl", 0.5)
        assert dialogauge("judge", file, "--rubric", rubric, "-o", tmp_path / "runs" / name).code == 0
    done = dialogauge("arena", tmp_path / "runs" / "alpha", tmp_path / "runs" / "beta", "-o", "r")
    assert done.code == 2
    assert "alpha and beta were judged by different judges or prompts" in done.err
