import pickle
from pathlib import Path

import pytest

from dialogauge.core import RubricError
from dialogauge.rubrics import load_personal, load_rubric, own_template
from dialogauge.rubrics.load import shipped_rubrics

ONE_FILE = """
id = "politeness"
version = 1
level = "turn"
languages = ["en"]
shows = ["dialogue"]
template = '''
Judge how polite the last reply is.
{{dimensions}}
{{reply_format}}
<!-- data -->
{{dialogue}}'''

[[dimensions]]
name = "politeness"
description = "How politely the reply treats the user."
anchors = { 1 = "rude", 5 = "warm" }
"""


def write(tmp_path, text, **files):
    for name, content in files.items():
        (tmp_path / name.replace("__", ".")).write_text(content, encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(tmp_path, text, **files):
    path = write(tmp_path, text, **files)
    with pytest.raises(RubricError) as caught:
        load_rubric(path)
    assert str(path) in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return str(caught.value)


def test_the_shipped_rubrics():
    assert shipped_rubrics() == (
        "answer",
        "card",
        "checklist",
        "criteria",
        "factuality",
        "grade",
        "limitation",
        "merge",
        "pair",
        "roleplay",
        "roleplay-plain",
        "roleplay-turn",
        "satisfaction",
        "satisfaction-ten",
        "session",
        "session-guarded",
        "single",
        "survey",
        "task",
        "td-dialogue",
        "td-turn",
        "td-unit",
        "td-unit-dialogue",
    )
    for name in shipped_rubrics():
        rubric = load_rubric(name)
        assert rubric.id == name
        assert rubric.languages == ("en", "zh")


def test_a_rubric_of_ones_own_is_one_short_file(tmp_path):
    rubric = load_rubric(write(tmp_path, ONE_FILE))
    (dimension,) = rubric.dimensions
    assert (dimension.name, dimension.level, str(dimension.scale)) == ("politeness", "turn", "1-5")
    assert dimension.anchors == {"en": {1.0: "rude", 5.0: "warm"}}
    assert rubric.version == "1"
    assert rubric.reply.note
    assert rubric.templates["en"].instructions.startswith("Judge how polite")
    assert rubric.templates["en"].data == "{{dialogue}}"


def test_templates_may_stand_beside_the_file(tmp_path):
    head, _, rest = ONE_FILE.partition("template = '''")
    template, _, tail = rest.partition("'''")
    text = head.replace('["en"]', '["en", "zh"]') + tail
    rubric = load_rubric(write(tmp_path, text, mine__en__md=template, mine__zh__md="中文" + template))
    assert rubric.templates["zh"].instructions.startswith("中文")


def test_a_stated_language_needs_a_template(tmp_path):
    text = ONE_FILE.replace('["en"]', '["en", "zh"]').replace("template = ", "template.en = ")
    said = refused(tmp_path, text)
    assert "template.zh: missing" in said
    assert "write mine.zh.md beside it" in said


def test_the_digest_follows_meaning_not_comments(tmp_path):
    first = load_rubric(write(tmp_path, ONE_FILE)).prompt_digest("en")
    assert load_rubric(write(tmp_path, "# a comment\n" + ONE_FILE)).prompt_digest("en") == first
    assert load_rubric(write(tmp_path, ONE_FILE.replace("warm", "kind"))).prompt_digest("en") != first
    assert load_rubric(write(tmp_path, ONE_FILE.replace("Judge how", "Say how"))).prompt_digest("en") != first


REFUSED = [
    (
        'shows = ["dialogue"]',
        'shows = ["dialogue", "reply"]',
        "template.en: {{reply}} is declared but not used",
    ),
    ("{{dialogue}}", "{{dialogue}} {{replly}}", "template.en: unknown placeholder {{replly}}"),
    ("{{dialogue}}", "{{dialogue}} {{reply}}", "unknown placeholder {{reply}}; name it in shows"),
    ("{{dialogue}}", "{{dialogue}} {{ Reply }}", "unknown placeholder {{Reply}}"),
    ("{{reply_format}}", "", "template.en: {{reply_format}} is declared but not used"),
    ("{{dimensions}}", "", "template.en: {{dimensions}} is declared but not used"),
    (
        'shows = ["dialogue"]',
        'shows = ["dialogue", "criteria"]',
        "criteria: named in shows, but none is stated",
    ),
    ('shows = ["dialogue"]', 'shows = ["dialog"]', "shows: 'dialog' is unknown"),
    (
        'shows = ["dialogue"]',
        'shows = ["dialogue", "earlier_summary"]',
        "there is no 'earlier_summary' at the level",
    ),
    ('shows = ["dialogue"]', 'shows = ["dialogue", "dialogue"]', "shows: 'dialogue' is named twice"),
    ("{{dimensions}}\n", "{{dimensions}} {{dialogue}}\n", "{{dialogue}} stands above the data line"),
    ('level = "turn"', 'level = "session"', "level: "),
    ('languages = ["en"]', "languages = []", "languages: empty"),
    ('languages = ["en"]', 'languages = ["en", "en"]', "languages: 'en' is stated twice"),
    ("version = 1\n", "", "version: missing"),
    ("version = 1\n", "version = 1\ncolour = 'red'\n", "colour: unknown key"),
    ("anchors = {", "anchorz = {", "dimensions[1].anchorz: unknown key"),
    ('5 = "warm"', '6 = "warm"', "dimensions.politeness.anchors.6: off the scale 1-5"),
    ('5 = "warm"', '4.5 = "warm"', "dimensions.politeness.anchors"),
    ('5 = "warm"', 'best = "warm"', "'best' is not a number"),
    ('name = "politeness"\n', 'name = "Politeness!"\n', "dimensions[1].name: not a plain name"),
    ("anchors =", "scale = { low = 5, high = 1 }\nanchors =", "low (5) must be below high (1)"),
    ("anchors =", "scale = { low = 3, high = 3 }\nanchors =", "low (3) must be below high (3)"),
    ("anchors =", "scale = { low = 0.5, high = 5 }\nanchors =", "must be whole"),
    ("anchors =", "scale = { low = -1e10, high = 5 }\nanchors =", "reaches beyond 1e+09"),
    ("anchors =", "scale = { low = 0, high = 1e-9, integer = false }\nanchors =", "less than 1e-06 apart"),
    ("anchors =", "scale = { low = 0, high = 2000 }\nanchors =", "over 1,000 whole scores"),
    ("anchors =", "scale = { low = 1, high = inf }\nanchors =", "dimensions[1].scale.high"),
    ("anchors =", "level = 'conversation'\nanchors =", "'conversation', but a rubric of the level 'turn'"),
    ("anchors =", "weight = 0\nanchors =", "the weights at the level 'turn' sum to nothing"),
    ("anchors =", "weight = -1\nanchors =", "dimensions.politeness.weight: -1; a weight is 0 or more"),
    ("anchors =", "allow_na = 'yes'\nanchors =", "dimensions[1].allow_na"),
]


@pytest.mark.parametrize(("old", "new", "said"), REFUSED, ids=[case[2][:60] for case in REFUSED])
def test_what_is_wrong_is_refused_with_file_key_and_reason(tmp_path, old, new, said):
    assert ONE_FILE.count(old) >= 1
    assert said in refused(tmp_path, ONE_FILE.replace(old, new, 1))


APPENDED = [
    (
        "[[dimensions]]\nname = 'politeness'\ndescription = 'x'",
        "dimensions.politeness: a dimension of that name",
    ),
    ("[reply]\nweakest_turn = true", "reply.weakest_turn: a rubric of the level 'turn' has none"),
    ("[verdict]\nrule = 'card'", "'card' needs 'context_use' at the level 'turn'"),
    ("[verdict]\nrule = 'thresholds'", "verdict.at_least: empty"),
    ("[verdict]\nrule = 'thresholds'\nat_least = { SAT = 4 }", "scores below 4 have no class"),
    (
        "[verdict]\nrule = 'thresholds'\nat_least = { SAT = 9, DSAT = 1 }",
        "verdict.at_least.SAT: off the scale 1-5",
    ),
    ("[verdict]\nrule = 'thresholds'\nat_least = { good = 4, DSAT = 1 }", "names of your own, or only"),
    (
        "[verdict]\nrule = 'thresholds'\ndimension = 'x'\nat_least = { a = 1 }",
        "verdict.dimension: no dimension 'x'",
    ),
    (
        "[[labels]]\nname = 'why'\nof = 'politeness'\ndescription = 'x'\n"
        "options = [{ name = 'a', description = 'x', fits = [1, 3] }]",
        "labels.why.options: none fits the score 4",
    ),
    (
        "[[labels]]\nname = 'why'\nof = 'rudeness'\ndescription = 'x'\n"
        "options = [{ name = 'a', description = 'x' }]",
        "labels.why.of: 'rudeness' is not a dimension",
    ),
    (
        "[[labels]]\nname = 'scores'\ndescription = 'x'\noptions = [{ name = 'a', description = 'x' }]",
        "the name 'scores' is a field of every reply",
    ),
    (
        "[[items]]\nname = 'claims'\nkey = 'claim'\ndimension = 'politeness'\ndescription = 'x'\n"
        "options = [{ name = 'a', description = 'x' }]\nworth = { a = 1 }",
        "dimensions.politeness: computed from claims",
    ),
    (
        "[[items]]\nname = 'claims'\nkey = 'claim'\ndimension = 'none'\ndescription = 'x'\n"
        "options = [{ name = 'a', description = 'x' }]\nworth = { b = 2 }",
        "items.claims.worth.b: not one of the options a",
    ),
    ("[recent]\nturns = 0", "recent.turns: 0; give 1 or more"),
    ("[recent]\nchars = -1", "recent.chars: -1; give 0 or more"),
    ("[recent]\nmessages = 5", "recent.messages: unknown key"),
    ("[[criteria]]\ntext = 'x'", "criteria: stated, not in shows"),
    ("[[criteria]]\nscenario = '('\ntext = 'x'", "criteria[1].scenario: not a regular expression"),
    ("[[criteria]]\nscenario = 'a'\ntext = 'x'", "the last one must fit every scenario"),
    (
        "[[labels]]\nname = 'why'\ndescription = 'x'\noptions = ["
        "{ name = 'a', description = 'x', spellings = ['b'] }, { name = 'b', description = 'x' }]",
        "labels.why.options.b: an option of that name exists already",
    ),
    (
        "[[examples]]\nid = 'e1'\ntext = 'x'\nanswer = '{}'",
        "template.en: {{examples}} is declared but not used",
    ),
]


@pytest.mark.parametrize(("tail", "said"), APPENDED, ids=[case[1][:60] for case in APPENDED])
def test_tables_that_do_not_fit_are_refused(tmp_path, tail, said):
    assert said in refused(tmp_path, ONE_FILE + tail)


def test_bad_toml_is_refused_with_its_line(tmp_path):
    said = refused(tmp_path, 'id = "x"\nversion = \nlevel = "turn"\n')
    assert "mine.toml:2: not valid TOML" in said


def test_an_empty_dimension_list_is_refused(tmp_path):
    head = ONE_FILE.partition("[[dimensions]]")[0]
    assert "dimensions: empty" in refused(tmp_path, "dimensions = []\n" + head)


def test_a_description_must_be_there_for_every_language(tmp_path):
    text = ONE_FILE.replace('["en"]', '["en", "zh"]').replace(
        '"How politely the reply treats the user."', '{ en = "x" }'
    )
    assert "dimensions.politeness.description: missing for the language 'zh'" in refused(tmp_path, text)


def test_what_is_not_there_is_named_with_what_is(tmp_path):
    with pytest.raises(RubricError, match=r"no rubric 'crd'.*card, checklist"):
        load_rubric("crd")
    with pytest.raises(RubricError, match="cannot be read"):
        load_rubric(tmp_path / "none.toml")


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b'id = "\xff"')
    with pytest.raises(RubricError, match="not UTF-8"):
        load_rubric(path)


def test_examples_are_shown_and_named(tmp_path):
    text = ONE_FILE.replace("<!-- data -->", "{{examples}}\n<!-- data -->")
    rubric = load_rubric(write(tmp_path, text + "[[examples]]\nid = 'e1'\ntext = 'x'\nanswer = '{}'"))
    assert rubric.example_ids == {"e1"}


def test_the_example_in_the_documentation_loads(tmp_path):
    page = Path(__file__).parents[3] / "docs" / "rubrics.md"
    text = page.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    rubric = load_rubric(write(tmp_path, text))
    assert [d.name for d in rubric.dimensions] == ["warmth"]
    assert text.count("\n") <= 20


def test_the_personal_rubrics_stand_on_a_shelf_of_their_own():
    names = ("memory", "no_memory", "zero_shot", "few_shot", "task_rubric", "prometheus")
    names += ("session_memory", "session_zero_shot")
    for name in names:
        rubric = load_personal(name)
        assert (rubric.id, rubric.level, rubric.languages) == (name, "turn", ("en", "zh"))
        (reason,) = rubric.labels
        shipped = load_rubric("satisfaction").labels[0]
        assert [(o.name, o.fits) for o in reason.options] == [(o.name, o.fits) for o in shipped.options]
    assert set(names).isdisjoint(shipped_rubrics())


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["session_memory", "session_zero_shot"])
def test_a_guarded_session_is_the_plain_one_and_the_one_guard(name, language):
    plain, guarded = load_personal(name), load_personal(name, guarded=True)
    shipped = load_rubric("session-guarded")
    assert (guarded.id, guarded.level) == (f"{name}_guarded", "turn")
    assert guarded.labels[0].options == shipped.labels[0].options
    assert guarded.labels[1:] == plain.labels
    section = own_template("guard", language)
    assert section in shipped.templates[language].instructions
    before, after = guarded.templates[language].instructions.split(f"{section}\n\n")
    assert before + after == plain.templates[language].instructions
    assert guarded.templates[language].data == plain.templates[language].data
    assert guarded.prompt_digest(language) != plain.prompt_digest(language)


def test_a_guarded_rubric_says_where_the_guard_stands(tmp_path):
    with pytest.raises(RubricError, match="the line <!-- guard --> is missing"):
        load_rubric(write(tmp_path, "guard = true\n" + ONE_FILE))
