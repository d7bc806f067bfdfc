"""Files of weights that were fitted to people: read back as written, and counted by."""

from __future__ import annotations

import pytest

from dialogauge.core import UsageError
from dialogauge.judges.rubric.evidence import added_up
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.judges.rubric.reply import Item
from dialogauge.rubrics import (
    FittedCriterion,
    FittedDimension,
    FittedWeights,
    Scope,
    built_in_values,
    load_rubric,
    weights_text,
    with_weights,
)
from rubric_samples import client_of

RUBRIC = load_rubric("roleplay")
DIMENSION = "interactive_ability"


def fitted(judge="roleplay/m", digest=RUBRIC.digest, **weights):
    criteria = {name: FittedCriterion(weight, 0.5, 3) for name, weight in weights.items()}
    figures = {"fitted": {"nmae": (0.1, 0.0, 0.3), "bias": (-0.0,)}, "people": {}}
    dimension = FittedDimension(2.5, 3, 0.3, 12, 6, criteria, figures, "few")
    return FittedWeights("roleplay", "1", digest, judge, ("0f", "1e"), {DIMENSION: dimension})


@pytest.fixture
def counted_by(tmp_path):
    def write(weights):
        (tmp_path / "weights.toml").write_text(weights_text(weights), encoding="utf-8")
        return with_weights(RUBRIC, str(tmp_path / "weights.toml"))

    return write


@pytest.mark.parametrize("judge", ["roleplay/m", 'a "b"\\\n\t', "🙂\x7f\x01", "名字"])
def test_what_is_written_is_read(counted_by, judge):
    weights = fitted(judge, user_leads=-0.25, hook_taken_up=1)
    assert counted_by(weights).fitted == weights


def test_criteria_count_by_the_file_and_the_others_by_the_rubric(counted_by):
    """2.5 - .25 = 2.25; + .5 of the rubric = 2.75; what weighs 0 adds nothing; 2.5 - 7 is cut to 1."""
    rubric, criteria = counted_by(fitted(user_leads=-0.25, hook_taken_up=0, pace_lost=-7)), RUBRIC.items[0]

    def score(*names, of=rubric):
        return added_up(of, criteria, tuple(Item("", name) for name in names))

    assert [score(), score("user_leads"), score("user_leads", "own_initiative")] == [2.5, 2.25, 2.75]
    assert [score("hook_taken_up"), score("pace_lost")] == [2.5, 1]
    assert added_up(rubric, RUBRIC.items[1], ()) == 3, "another dimension"
    assert score("user_leads", of=RUBRIC) == 2.5, "3 - .5: the rubric itself is as it was"


def test_a_weight_of_nothing_moves_no_criterion_in_the_prompt(counted_by):
    rubric, scope = counted_by(fitted(user_leads=0, own_initiative=0)), Scope((1,), ("conversation",))
    for language in RUBRIC.languages:
        assert built_in_values(rubric, scope, language) == built_in_values(RUBRIC, scope, language)
        assert rubric.prompt_digest(language) == RUBRIC.prompt_digest(language)
    judges = [RubricJudge(of, client_of(lambda request: None)) for of in (RUBRIC, rubric)]
    assert judges[0].digest != judges[1].digest
    assert judges[1].describe()["fitted_on"] == {"seen": ["0f", "1e"]}
    assert "fitted_on" not in judges[0].describe()


def test_the_digest_of_a_rubric_is_of_what_is_asked():
    assert len({load_rubric(name).digest for name in ("roleplay", "roleplay-plain", "card")}) == 3
    assert load_rubric("roleplay").digest == RUBRIC.digest


def test_another_digest_is_refused(counted_by):
    with pytest.raises(UsageError, match=r"version 1 \(00\), and the judge's is roleplay, version 1"):
        counted_by(fitted(digest="00", unheard_of=1.0))
