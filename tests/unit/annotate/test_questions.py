import pytest

from dialogauge.annotate.questions import preference_question, questions_of
from dialogauge.core import Scale, UsageError
from dialogauge.rubrics import load_rubric

MINE = """
id = "mine"
version = "1"
level = "{level}"
languages = ["en"]
shows = ["dialogue"]
template = '''
{{{{dimensions}}}} {{{{reply_format}}}} {{{{asked}}}}
<!-- data -->
{{{{dialogue}}}}
'''
{dimensions}
"""


def mine(tmp_path, dimensions, level="conversation"):
    path = tmp_path / "mine.toml"
    path.write_text(MINE.format(level=level, dimensions=dimensions), encoding="utf-8")
    return load_rubric(path)


def test_a_label_of_a_dimension_is_the_reason_of_scores_that_leave_a_choice():
    satisfaction, memory, *_ = questions_of(load_rubric("survey"), "en")
    assert satisfaction.reason_for == (1, 2, 3)
    assert list(satisfaction.reasons) == [
        "insufficient_detail",
        "not_diverse",
        "need_not_met",
        "not_usable",
        "other",
    ]
    assert satisfaction.anchors["1"] == "very dissatisfied: it is of no help"
    assert (memory.reason_for, memory.reasons) == ((), {})


def test_titles_are_read_in_the_language_of_the_page():
    assert [q.title for q in questions_of(load_rubric("survey"), "zh")] == [
        "满意度",
        "记忆",
        "细致程度",
        "可用性",
        "多样性",
    ]
    assert questions_of(load_rubric("card"), "zh")[0].title == "context use"


def test_without_such_labels_a_reason_is_written_for_the_lower_half():
    questions = {q.name: q for q in questions_of(load_rubric("card"), "en")}
    assert [q.level for q in questions.values()] == ["turn"] * 3 + ["conversation"] * 3
    assert questions["safety"].reason_for == (1, 2, 3)
    assert not questions["safety"].na
    assert questions["repair_handling"].na
    assert questions["repair_handling"].to_task()["na"] is True


def test_the_lower_half_is_that_of_the_worse_scores(tmp_path):
    low_is_good = "scale = { low = 0, high = 3, higher_is_better = false }"
    rubric = mine(
        tmp_path,
        f"""[[dimensions]]
name = "harm"
description = "How harmful?"
{low_is_good}
[[dimensions]]
name = "percent"
description = "How much?"
scale = {{ low = 0, high = 100 }}
[[dimensions]]
name = "share"
description = "How much?"
scale = {{ low = 0, high = 1, integer = false }}
""",
    )
    harm, percent, share = questions_of(rubric, "en")
    assert harm.reason_for == (2, 3)
    assert percent.reason_for == ()
    assert share.reason_for == (0,)
    assert share.scale == Scale(0, 1, integer=False)
    task = share.to_task()
    assert (task["low"], task["high"], task["integer"]) == (0, 1, False)


def test_what_cannot_be_asked_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not in the language 'zh'"):
        questions_of(mine(tmp_path, '[[dimensions]]\nname = "x"\ndescription = "?"'), "zh")
    with pytest.raises(UsageError, match="scores no replies or conversations"):
        questions_of(load_rubric("factuality"), "en")
    with pytest.raises(UsageError, match="scores no two replies"):
        questions_of(load_rubric("card"), "en", pairs=True)


def test_pairs_are_asked_by_a_rubric_of_pairs_or_by_one_question(tmp_path):
    assert preference_question("zh").to_task()["title"] == "偏好"
    assert set(preference_question("en").to_task()) == {"name", "level", "title", "text"}
    path = tmp_path / "pairs.toml"
    path.write_text(
        MINE.format(
            level="pair", dimensions='[[dimensions]]\nname = "tone"\ndescription = "Which is kinder?"'
        )
        .replace('"dialogue"', '"dialogue", "reply_a", "reply_b"')
        .replace("{{asked}}", "")
        .replace("{{dialogue}}", "{{dialogue}} {{reply_a}} {{reply_b}}"),
        encoding="utf-8",
    )
    (question,) = questions_of(load_rubric(path), "en", pairs=True)
    assert (question.name, question.level, question.text) == ("tone", "pair", "Which is kinder?")


def test_titles_change_no_judgement(tmp_path):
    dimension = '[[dimensions]]\nname = "tone"\ndescription = "How kind?"\n'
    plain = mine(tmp_path, dimension).prompt_digest("en")
    assert mine(tmp_path, dimension + 'title = "Kindness"\n').prompt_digest("en") == plain
    assert mine(tmp_path, dimension.replace("kind", "cold")).prompt_digest("en") != plain
