"""The facts behind `check`."""

import json

from dialogauge.cli.input_report import report_blocks
from dialogauge.core.json_keys import as_json
from dialogauge.data import inspect_conversations, read_conversations
from dialogauge.data.inspection import Lengths
from dialogauge.report import to_text


def test_counts_by_hand(tmp_path):
    def says(role, content, **more):
        return {"role": role, "content": content, **more}

    records = [
        {
            "id": "a",
            "user_id": "u1",
            "scenario": "s",
            "language": "en",
            "candidate": "m",
            "messages": [
                says("user", "12345"),
                says("assistant", "a" * 20, rating=4),
                says("user", "1"),
                says("assistant", "short", rating=4),
            ],
        },
        {"id": "b", "user_id": "u1", "messages": [says("user", "123"), says("assistant", "")]},
        {"id": "c", "user_id": "u2", "messages": [says("user", " ")], "ratings": {"mood": "bad"}},
        {"id": "d", "messages": [{"role": "user"}]},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    report = inspect_conversations(read_conversations([str(path)]), min_turns=2)
    assert report.formats == {"openai": 1}
    assert (report.conversations, report.fault_count, len(report.faults)) == (3, 1, 1)
    assert (report.turns, report.replies, report.turns_without_reply) == (4, 3, 1)
    assert (report.empty_conversations, report.short_conversations) == (1, 2)
    assert (report.empty_replies, report.short_replies) == (1, 1)
    assert report.rated_turns == 2
    assert report.ratings == {"mood": {"bad": 1}, "rating": {"4": 2}}
    assert report.ratings_by_scenario == {"rating": {"s": 2}}
    assert report.ratings_by_user == {
        "mood": {"users": 1, "fewest": 1, "median": 1, "most": 1},
        "rating": {"users": 1, "fewest": 2, "median": 2, "most": 2},
    }
    assert (report.users, report.scenarios, report.candidates) == (2, {"s": 1}, {"m": 1})
    assert report.languages == {"other": 2, "en": 1}
    assert report.user_messages == Lengths(4, 2.5, 2.0, 5)
    assert report.assistant_messages == Lengths(3, 25 / 3, 5.0, 20)
    out = as_json(report)
    assert json.loads(json.dumps(out)) == out
    assert out["shares"]["short_conversations"] == 2 / 3
    assert out["shares"]["empty_replies"] == 1 / 3
    assert "message 1 has no 'content'" in out["faults"][0]


def test_the_languages_of_a_log_are_named(tmp_path):
    asked = {
        "en": "Where can I find a good bakery near the old station?",
        "zh": "附近有什么好吃的面包店吗？我住在火车站旁边。",
        "fr": "Où puis-je trouver une bonne boulangerie près de la vieille gare ?",
        "de": "Wo ist eine gute Bäckerei? Ich bin mit dem Zug da und kenne die Stadt nicht.",
        "ru": "Где здесь хорошая булочная?",
        "0": "12 + 30",
    }
    records = [{"id": code, "messages": [{"role": "user", "content": text}]} for code, text in asked.items()]
    records.append({"id": "x", "language": "nl", "messages": [{"role": "user", "content": "Hello there"}]})
    greek = [{"role": "user", "content": "Πού είναι ο φούρνος;"}]
    records.append({"id": "y", "language": "el-GR", "messages": greek})
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    report = inspect_conversations(read_conversations([str(path)]))
    named = {"en": 1, "zh": 1, "other": 2, "de": 1, "Cyrillic": 1, "nl": 1, "el-GR": 1}
    assert report.languages == named
    assert report.unjudged_languages == {"other": 1, "de": 1, "Cyrillic": 1, "el-GR": 1}
    text = to_text(report_blocks(report), width=200)
    assert "de 1, Cyrillic 1, nl 1, el-GR 1" in text
    assert "not judged by the local judge: other 1, de 1, Cyrillic 1, el-GR 1" in text
    assert "a language model (--model) judges them" in text


def test_what_is_off_the_scale_of_most_is_named_with_its_place(tmp_path):
    """A dimension of other numbers, or of names, has no scale to be off."""
    given = [{"fun": 4, "heat": 70, "mood": "bad"}, {"fun": 5, "heat": 4}, {"fun": 7}, {"fun": "very good"}]
    given += [{"fun": 2.5}, {"fun": 3}, {"fun": 3}]
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    records = [{"id": f"c{i}", "messages": messages, "ratings": r} for i, r in enumerate(given)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    report = inspect_conversations(read_conversations([str(path)]))
    where = {"7": f"{path}:3, conversation 'c2'", "very good": f"{path}:4, conversation 'c3'"}
    assert report.odd_ratings == {"fun": where}
    text = " ".join(to_text(report_blocks(report), width=500).split())
    assert "rated fun: 2.5: 1, 3: 2, 4: 1, 5: 1, 7: 1, very good: 1" in text
    told = f"these are not: 7 (1; first at {where['7']}), very good (1; first at {where['very good']})"
    assert f"WARNING: fun: most ratings are whole numbers from 1 to 5, {told}" in text


def test_of_faults_that_are_alike_the_first_five_are_kept_and_twenty_in_all(tmp_path):
    path = tmp_path / "a.jsonl"
    other = '{"id": "y", "messages": [{"role": "robot", "content": "a"}]}\n'
    path.write_text('{"id": "x", "messages": [{"role": "user"}]}\n' * 30 + other)
    report = inspect_conversations(read_conversations([str(path)]), min_turns=1)
    assert (report.fault_count, len(report.faults)) == (31, 6)
    assert "unknown role 'robot'" in report.faults[-1]
    path.write_text("".join(other.replace("robot", "r" + "o" * n) for n in range(30)))
    report = inspect_conversations(read_conversations([str(path)]), min_turns=1)
    assert (report.fault_count, len(report.faults)) == (30, 20)
    assert as_json(report)["shares"]["empty_replies"] is None
    assert report.user_messages == Lengths()


def test_ratings_of_different_dimensions_are_never_added(tmp_path):
    turns = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "At nine.", "satisfaction": 2, "score": "7"},
        {"role": "user", "content": "Really?"},
        {"role": "assistant", "content": "At ten.", "satisfaction": 5, "score": "fair"},
    ]
    whole = {"helpfulness": 4}
    path = tmp_path / "log.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {"id": f"c{n}", "user_id": "u", "scenario": "trip", "messages": turns, "ratings": whole}
            )
            + "\n"
            for n in range(3)
        )
    )
    report = inspect_conversations(read_conversations([str(path)]))
    assert report.ratings_by_scenario == {
        "helpfulness": {"trip": 3},
        "satisfaction": {"trip": 6},
        "score": {"trip": 6},
    }
    assert report.ratings_by_user["satisfaction"] == {"users": 1, "fewest": 6, "median": 6, "most": 6}
    assert report.rating_means == {"helpfulness": 4, "satisfaction": 3.5, "score": 7}
    assert report.rated_places == {
        "helpfulness": {"conversations": 3},
        "satisfaction": {"turns": 6},
        "score": {"turns": 6},
    }
