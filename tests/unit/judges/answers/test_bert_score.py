"""BERTScore by a tiny encoder."""

from __future__ import annotations

import pytest

from dialogauge.core import UsageError
from dialogauge.judges.answers import bert_scorer, score
from tiny_encoder import build_tiny_encoder

pytestmark = pytest.mark.torch
pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder")
    build_tiny_encoder(path, ["the boat is late", "a goat sings", "审 理 终 结 。 本 院 认 为 ， 被 告 人"])
    return str(path)


def test_the_same_text_has_one_and_order_of_arguments_makes_no_difference(folder) -> None:
    near = bert_scorer(folder)
    assert near("the boat is late", "the boat is late") == pytest.approx(1.0)
    there, back = near("the boat", "a goat sings"), near("a goat sings", "the boat")
    assert there == pytest.approx(back)
    assert there < 1.0
    assert near("", "the boat") == 0.0


def test_judge_has_it_where_a_model_is_given(folder) -> None:
    text = "审理终结。本院认为，被告人犯盗窃罪。判决如下：判处有期徒刑一年。"
    without = score("judge", {"gold": text}, text)
    assert without["judge_bert_score"] is None
    whole = score("judge", {"gold": text, "bert_score": bert_scorer(folder)}, text)
    assert whole["judge_bert_score"] == pytest.approx(1.0)


def test_what_is_no_model_is_refused(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"no config\.json"):
        bert_scorer(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="cannot be loaded"):
        bert_scorer(str(tmp_path))("a", "b")
