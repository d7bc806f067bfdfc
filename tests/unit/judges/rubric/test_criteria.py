"""Judging by evidence: criteria with quotes add up to a score, by Eq. 4 of arXiv:2605.29256."""

import json
from dataclasses import replace

import pytest

from dialogauge.core import Conversation, JudgeFailure, Message, Request, UsageError
from dialogauge.core.conversation import PREFIX
from dialogauge.judges.rubric.evidence import Material, added_up
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.judges.rubric.reply import Item
from dialogauge.rubrics import load_rubric
from rubric_samples import chat, client_of, ideal, long_chat

DIMENSIONS = ("interactive_ability", "human_likeness", "role_consistency", "contextual_coherence")
ROLEPLAY = load_rubric("roleplay")
ADDS_UP = """
id = "tone"
version = 1
level = "conversation"
languages = ["en"]
shows = ["dialogue"]
template = '''
{{dimensions}}
{{reply_format}}
<!-- data -->
{{dialogue}}
{{asked}}'''

[[dimensions]]
name = "warmth"
scale = { low = 1, high = 5, integer = false }
description = "How warm?"

[[items]]
name = "shown"
dimension = "warmth"
base = 4
description = "what shows it"
options = [
  { name = "thanks", weight = 2, description = "it thanks" },
  { name = "jokes", weight = 1.5, description = "it jokes" },
  { name = "scolds", weight = -2, description = "it scolds" },
  { name = "shouts", weight = -3, description = "it shouts" },
  { name = "sighs", description = "it sighs; noted, and counts nothing" },
]
"""


def entry(criterion, quote, *turns):
    return {"criterion": criterion, "turns": list(turns), "quote": quote}


def says(*entries, holistic=4, dimension="interactive_ability"):
    """Answer with these entries for one dimension, and with none for the others."""

    def answer(request):
        reply = ideal(request.schema.schema)
        for name in reply:
            if name == f"{dimension}_criteria":
                reply[name] = list(entries)
        for of in reply.get("conversation_level", {}).values():
            of["score"] = holistic
        return reply

    return answer


TALK = chat(
    ("Hi, who are you?", "I keep the Light.  “Fog” again, you see!"),
    ("And the storm?", "Which one? 你说的是哪一场，去年的？"),
    ("The last one.", "Fog again, you see. Ask me tomorrow."),
    id="mira",
)


async def judged(answer, conversation=TALK, rubric=ROLEPLAY, **settings):
    client = client_of(answer)
    rows = await RubricJudge(rubric, client, **settings).judge(Request(conversation))
    return rows, client.requests


async def score_of(*entries, conversation=TALK, rubric=ROLEPLAY):
    (row,), _ = await judged(says(*entries), conversation, rubric)
    return row.outcome


# Eq. 4 by hand: clip(4 + sum of weights, 1, 5)


@pytest.fixture
def tone(tmp_path):
    (tmp_path / "tone.toml").write_text(ADDS_UP)
    return load_rubric(tmp_path / "tone.toml")


@pytest.mark.parametrize(
    ("named", "score"),
    [
        ((), 4),
        (("sighs",), 4),
        (("thanks",), 5),  # 6, cut
        (("thanks", "scolds"), 4),
        (("jokes", "scolds"), 3.5),
        (("thanks", "jokes", "scolds"), 5),  # 5.5: cut once, at the end, not on the way
        (("shouts",), 1),
        (("scolds", "shouts"), 1),  # -1, cut
        (("thanks", "jokes", "scolds", "shouts"), 2.5),
        (("jokes", "jokes", "scolds", "jokes"), 3.5),  # each once
    ],
)
def test_a_score_is_the_base_and_the_weights_of_what_is_named(tone, named, score):
    assert added_up(tone, tone.items[0], tuple(Item("", name) for name in named)) == score


@pytest.mark.parametrize(("sign", "score"), [(-1, 1.0), (1, 5.0)])
def test_all_criteria_of_one_side_reach_the_end_of_the_scale(sign, score):
    """Four deductions of .5 from 3 are 1, four bonuses are 5."""
    for criteria in ROLEPLAY.items:
        mine = [o.name for o in criteria.options if o.weight * sign > 0]
        assert len(mine) == 4
        assert added_up(ROLEPLAY, criteria, tuple(Item("", name) for name in mine)) == score


# What counts as evidence


async def test_without_evidence_every_dimension_is_a_three_and_the_holistic_score_stands_beside_it():
    (row,), requests = await judged(says(holistic=5))
    assert len(requests) == 4
    assert row.outcome.numbers == {
        **dict.fromkeys((*DIMENSIONS, "session"), 3.0),
        **{f"{name}_holistic": 5 for name in DIMENSIONS},
    }
    assert row.outcome.details["averaged"] == {"session": 4}
    assert row.outcome.evidence == ()


async def test_evidence_lowers_and_raises_a_score_and_is_kept_with_its_turn():
    outcome = await score_of(
        entry("user_leads", "Which one?", 2),
        entry("dead_ends", "Ask me tomorrow", 3),
        entry("own_initiative", "Fog again", 3),
    )
    assert outcome.numbers["interactive_ability"] == 2.5
    assert outcome.numbers["session"] == pytest.approx((2.5 + 3 + 3 + 3) / 4)
    assert [(e.turn, e.quote, e.source) for e in outcome.evidence] == [
        (2, "Which one?", "user_leads"),
        (3, "Ask me tomorrow", "dead_ends"),
        (3, "Fog again", "own_initiative"),
    ]
    assert outcome.details["items"]["interactive_ability_criteria"][0] == {
        "label": "user_leads",
        "turns": [2],
        "quote": "Which one?",
    }
    assert "quotes_unsupported" not in outcome.details


async def test_a_criterion_that_is_named_twice_counts_once_with_all_its_turns():
    outcome = await score_of(entry("dead_ends", "Which one?", 2), entry("dead_ends", "Ask me tomorrow.", 3))
    assert outcome.numbers["interactive_ability"] == 2.5
    (item,) = outcome.details["items"]["interactive_ability_criteria"]
    assert item == {"label": "dead_ends", "turns": [2, 3], "quote": "Which one?"}
    assert [e.turn for e in outcome.evidence] == [2, 3]


async def test_what_was_never_said_is_dropped_and_counted():
    outcome = await score_of(
        entry("dead_ends", "Leave me alone.", 2),
        entry("standstill", "", 1),
        entry("pace_lost", "…", 1),
        entry("user_leads", "Which one?", 2),
    )
    assert outcome.numbers["interactive_ability"] == 2.5
    assert outcome.details["quotes_unsupported"] == 3
    assert [e.source for e in outcome.evidence] == ["user_leads"]


async def test_of_several_quotes_for_a_criterion_one_is_enough():
    outcome = await score_of(entry("dead_ends", "Go away.", 2), entry("dead_ends", "Which one?", 2))
    assert outcome.numbers["interactive_ability"] == 2.5
    assert outcome.details["quotes_unsupported"] == 1


async def test_a_quote_is_placed_where_it_occurs_first_in_the_turns_that_are_named():
    repeated = chat(("a", "So be it."), ("b", "So be it."), ("c", "No."))
    outcome = await score_of(entry("dead_ends", "So be it.", 2), conversation=repeated)
    assert [e.turn for e in outcome.evidence] == [2]
    outcome = await score_of(entry("dead_ends", "So be it.", 3), conversation=repeated)
    assert [e.turn for e in outcome.evidence] == [1]
    assert outcome.details["items"]["interactive_ability_criteria"][0]["turns"] == [1, 3]


async def test_an_unknown_criterion_is_dropped_and_counted():
    outcome = await score_of(entry("is_boring", "Which one?", 2), entry("same_shape", "Which one?", 2))
    assert outcome.numbers["interactive_ability"] == 3
    assert outcome.details["criteria_unknown"] == 2


@pytest.mark.parametrize(
    "quote",
    [
        "I keep the Light. “Fog” again",
        'i KEEP the light. "fog"  again,\nyou see',
        "'Fog' again, you see!",
        "「Fog」again， you see！",
        "...again, you see...",
        "你说的是哪一场,去年的?",
        " 你说的是 哪一场，去年的？ ",
        "Ｉ ｋｅｅｐ ｔｈｅ Ｌｉｇｈｔ",
    ],
)
def test_case_spaces_quotation_marks_and_width_make_no_difference(quote):
    assert Material(TALK.messages).place(quote)


@pytest.mark.parametrize("quote", ["I kept the light", "Fog, again", "去年的哪一场", "", "…", " ' ", "“”"])
def test_other_words_do_not_occur(quote):
    assert Material(TALK.messages).place(quote) is None


@pytest.mark.parametrize(
    "wrong",
    [
        "user_leads",
        {"criterion": "user_leads", "quote": "Which one?"},
        {"criterion": "user_leads", "turns": 2, "quote": "Which one?"},
        {"criterion": "user_leads", "turns": ["2"], "quote": "Which one?"},
        {"criterion": "user_leads", "turns": [2], "quote": None},
        {"criterion": 4, "turns": [2], "quote": "Which one?"},
    ],
)
async def test_an_entry_of_another_shape_is_asked_for_once_more_and_then_fails_the_target(wrong):
    (row,), requests = await judged(says(wrong))
    assert isinstance(row.outcome, JudgeFailure)
    assert row.outcome.kind == "invalid_schema"
    assert row.outcome.message.startswith(
        "interactive_ability: interactive_ability_criteria[0]: expected {crit"
    )
    assert row.usage.calls == len(requests) == 5


# Calls


async def test_each_dimension_has_a_call_of_its_own_and_its_prompt_names_no_other():
    _, requests = await judged(says())
    for name, request in zip(DIMENSIONS, requests, strict=True):
        assert list(request.schema.schema["properties"]) == [f"{name}_criteria", "conversation_level"]
        system = request.messages[0]["content"]
        assert all((other in system) == (other == name) for other in DIMENSIONS)
        assert "-0.5" not in system + str(request.schema.schema), "the judge is not told the weights"


async def test_joint_calls_ask_for_all_at_once():
    (row,), (request,) = await judged(says(entry("dead_ends", "Which one?", 2)), calls="joint")
    assert len(request.schema.schema["properties"]) == 5
    assert row.outcome.numbers["interactive_ability"] == 2.5
    separate, joint = (RubricJudge(ROLEPLAY, client_of(says()), calls=c) for c in (None, "joint"))
    assert separate.describe()["settings"]["calls"] == "separate"
    assert separate.digest != joint.digest


async def test_a_dimension_whose_call_fails_fails_the_session_and_is_named():
    def answer(request):
        return "no" if "role_consistency_criteria" in request.schema.schema["properties"] else says()(request)

    (row,), _ = await judged(answer)
    assert isinstance(row.outcome, JudgeFailure)
    assert row.outcome.message.startswith("role_consistency: ")
    assert row.outcome.kind == "invalid_json"


async def test_what_does_not_apply_takes_no_part_in_the_mean():
    plain = load_rubric("roleplay-plain")
    rubric = replace(plain, dimensions=tuple(replace(d, allow_na=not d.computed) for d in plain.dimensions))
    scores = dict(zip(DIMENSIONS, ("n/a", 4, 2, 3), strict=True))

    def answer(request):
        reply = ideal(request.schema.schema)
        for name, of in reply["conversation_level"].items():
            of["score"] = scores[name]
        return reply

    (row,), _ = await judged(answer, rubric=rubric)
    assert row.outcome.numbers == {**scores, "session": 3.0}
    assert row.outcome.details["averaged"] == {"session": 3}
    scores |= dict.fromkeys(DIMENSIONS, "n/a")
    (row,), _ = await judged(answer, rubric=rubric)
    assert row.outcome.numbers["session"] == "n/a"
    assert row.outcome.details["averaged"] == {"session": 0}


def test_the_seeds_of_repeats_differ_and_weights_are_part_of_the_judge(tmp_path):
    digests = set()
    for text in (
        ADDS_UP,
        ADDS_UP.replace("weight = 1.5", "weight = 1.25"),
        ADDS_UP.replace("base = 4", "base = 3"),
    ):
        (tmp_path / "tone.toml").write_text(text)
        digests.add(RubricJudge(load_rubric(tmp_path / "tone.toml"), client_of(says())).digest)
    assert len(digests) == 3


def test_a_rubric_of_labels_is_still_not_split(tmp_path):
    (tmp_path / "tone.toml").write_text(
        ADDS_UP
        + "\n[[labels]]\nname = 'mood'\ndescription = 'x'\noptions = [{ name = 'a', description = 'x' }]\n"
    )
    with pytest.raises(UsageError, match="asks for mood beside the scores"):
        RubricJudge(load_rubric(tmp_path / "tone.toml"), client_of(says()), calls="separate")


# History, length and segments


def session(count, before):
    """A session of `count` turns, the first `before` of which were there before."""
    talk = long_chat(count)
    messages = (Message("system", "You are Mira."), *talk.messages)
    return Conversation("s", messages, metadata={PREFIX: 1 + 2 * before})


def parts_of(request):
    """Return the turns in the history and in the dialogue of a prompt, the user's next message left out."""
    shown = []
    for tag in ("history", "dialogue"):
        text = request.messages[1]["content"].partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        lines = [json.loads(line) for line in text.splitlines() if line.startswith('{"turn"')]
        shown.append(sorted({line["turn"] for line in lines if not line.get("beyond")}))
    return shown


async def test_what_was_there_before_is_history_and_never_judged():
    answer = says(entry("dead_ends", "answer 2", 2), entry("user_leads", "answer 4", 4))
    (row,), requests = await judged(answer, session(5, 3))
    assert {tuple(map(tuple, parts_of(r))) for r in requests} == {((1, 2, 3), (4, 5))}
    assert row.outcome.numbers["interactive_ability"] == 2.5
    assert row.outcome.details["quotes_unsupported"] == 1
    assert "turns 4 to 5" in requests[0].messages[-1]["content"]
    assert '"instructions":"You are Mira."' in requests[0].messages[-1]["content"]


async def test_without_a_history_the_prompt_says_so_in_its_place():
    _, requests = await judged(says(), session(2, 0))
    assert (
        "<history>\n(nothing: the conversation begins here)\n</history>"
        in requests[0].messages[-1]["content"]
    )


async def test_a_greeting_is_history():
    messages = (Message("system", "x"), Message("assistant", "Welcome."), *long_chat(2).messages)
    _, requests = await judged(says(), Conversation("s", messages, metadata={PREFIX: 2}))
    assert parts_of(requests[0]) == [[0], [1, 2]]


async def test_a_long_session_is_judged_at_once():
    (row,), requests = await judged(says(), session(40, 10))
    assert len(requests) == 4
    assert parts_of(requests[0]) == [list(range(1, 11)), list(range(11, 41))]
    assert "in_segments" not in row.outcome.details


async def test_a_rubric_with_windows_has_notes_on_what_was_there_before():
    def answer(request):
        return (
            {"summary": "They talked."} if request.schema.name == "summary" else ideal(request.schema.schema)
        )

    rows, requests = await judged(answer, session(5, 3), load_rubric("card"))
    assert [r.target.turn for r in rows] == [4, 5, None]
    notes, asked = requests
    assert "answer 3" in notes.messages[-1]["content"]
    assert "answer 4" not in notes.messages[-1]["content"]
    data = asked.messages[-1]["content"]
    assert "answer 3" not in data
    assert '"They talked."' in data
    assert "The part runs from turn 4 to turn 5; the whole conversation has 5 turns." in data


async def test_what_does_not_fit_into_a_prompt_is_judged_in_segments_with_what_fits_of_the_rest_as_history():
    long = session(12, 2)
    bare = 4_200  # bytes of the longest prompt without dialogue, about; 12 turns have some 1,300
    (row,), requests = await judged(
        says(
            entry("dead_ends", "answer 3", 3),
            entry("dead_ends", "answer 12", 12),
            entry("user_leads", "answer 9", 9),
        ),
        long,
        room=(bare + 900) // 3,
    )
    per_dimension = len(requests) // 4
    assert per_dimension > 1
    parts = [parts_of(r) for r in requests if "interactive_ability_criteria" in r.schema.schema["properties"]]
    assert [n for _, dialogue in parts for n in dialogue] == list(range(3, 13)), (
        "each judged turn once, in order"
    )
    for history, dialogue in parts:
        assert history == list(range(dialogue[0] - len(history), dialogue[0])), "the latest turns before it"
    assert max(sum(len(m["content"].encode()) for m in r.messages) for r in requests) <= bare + 900
    details = row.outcome.details
    assert details["in_segments"] is True
    assert details["history_turns_cut"] > 0
    assert [w["turns"] for w in details["windows"]] == [[d[0], d[-1]] for _, d in parts]
    # Of three entries in each segment one, or two, quote its own turns.
    assert row.outcome.numbers["interactive_ability"] == 2.0
    assert [e.turn for e in row.outcome.evidence if e.source == "dead_ends"] == [3, 12]
    assert "(the first" in requests[-1].messages[-1]["content"]
    assert "judged in parts, for its length" in requests[0].messages[-1]["content"]


async def test_a_room_that_holds_everything_changes_nothing_but_the_judge():
    (row,), requests = await judged(says(), session(12, 2), room=100_000)
    assert len(requests) == 4
    assert "history_turns_cut" not in row.outcome.details
    assert (
        RubricJudge(ROLEPLAY, client_of(says()), room=9_000).digest
        != RubricJudge(ROLEPLAY, client_of(says())).digest
    )


async def test_one_turn_is_judged_however_long_it_is():
    (_,), requests = await judged(says(), session(2, 0), room=1)
    assert sorted(parts_of(r)[1] for r in requests) == [[1]] * 4 + [[2]] * 4


async def test_new_turns_alone_are_judged_turn_by_turn():
    rows, requests = await judged(
        lambda r: ideal(r.schema.schema), session(4, 2), load_rubric("satisfaction")
    )
    assert [r.target.turn for r in rows] == [3, 4]
    assert "answer 1" in requests[0].messages[-1]["content"]


# Turn by turn


async def test_criteria_of_a_reply_are_looked_up_in_its_own_turn(tmp_path):
    text = ADDS_UP.replace('level = "conversation"', 'level = "turn"').replace("{{asked}}", "")
    (tmp_path / "tone.toml").write_text(text)
    given = [entry("scolds", "Which one?", 2), entry("shouts", "Ask me tomorrow.", 3)]
    rows, requests = await judged(
        lambda r: ideal(r.schema.schema) | {"shown": given}, rubric=load_rubric(tmp_path / "tone.toml")
    )
    assert [r.outcome.numbers["warmth"] for r in rows] == [4, 2, 1]
    assert [r.outcome.details["quotes_unsupported"] for r in rows] == [2, 1, 1]
    assert [(e.turn, e.source) for r in rows for e in r.outcome.evidence] == [(2, "scolds"), (3, "shouts")]
    assert len(requests) == 3


def by_turn(scores):
    """Answer with a score for each turn, the same for every dimension."""

    def answer(request):
        reply = ideal(request.schema.schema)
        turn = max(parts_of(request)[1])
        for of in reply["scores"].values():
            of["score"] = scores[turn]
        return reply

    return answer


async def test_a_session_has_the_means_of_its_turns():
    rows, requests = await judged(by_turn({1: 5, 2: 2, 3: 3}), rubric=load_rubric("roleplay-turn"))
    assert [(r.target.level, r.target.turn) for r in rows] == [
        ("turn", 1), ("turn", 2), ("turn", 3), ("conversation", None),
    ]  # fmt: skip
    assert len(requests) == 12
    whole = rows[-1].outcome
    assert {name: round(n, 4) for name, n in whole.numbers.items()} == dict.fromkeys(
        (*DIMENSIONS, "session"), 3.3333
    )
    assert whole.details["averaged"] == {**dict.fromkeys(DIMENSIONS, 3), "session": 4}
    assert rows[-1].usage.calls == 0


async def test_a_turn_that_failed_fails_the_means():
    answer = by_turn({1: 5, 2: 9, 3: 3})
    rows, _ = await judged(answer, rubric=load_rubric("roleplay-turn"))
    assert [isinstance(r.outcome, JudgeFailure) for r in rows] == [False, True, False, True]
    assert rows[-1].outcome.kind == "unmet"
    assert rows[-1].outcome.message.startswith("1 of 3 turns failed: interactive_ability_turn: ")
    client = client_of(by_turn({1: 5, 2: 2, 3: 3}))
    standing = (rows[0], rows[2])
    again = await RubricJudge(load_rubric("roleplay-turn"), client).judge(Request(TALK, standing=standing))
    assert [(r.target.level, r.target.turn) for r in again] == [("turn", 2), ("conversation", None)]
    assert again[-1].outcome.numbers["session"] == pytest.approx(10 / 3)
    assert len(client.requests) == 4
