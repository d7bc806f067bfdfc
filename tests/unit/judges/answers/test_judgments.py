"""What JuDGE reads off a judgment, and its twelve scores: judgments that we wrote, figures by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.judges.answers import (
    articles_in,
    fines_in,
    judge_scores,
    judge_set_scores,
    months_in,
    offences_in,
    parts_of_judgment,
)
from dialogauge.judges.answers.judgments import numbers_in

HEADING = "某县人民法院刑事判决书。本案现已审理终结。"
FACT = "经审理查明,被告人甲偷走一辆车。"
REASON = (
    "本院认为，被告人甲的行为构成盗窃罪。"
    "依照《中华人民共和国刑法》第二百六十四条、第五十二条之规定，判决如下："
)
SENTENCE = (
    "一、被告人甲犯盗窃罪，判处有期徒刑一年六个月，并处罚金人民币5,000元；"
    "二、被告人乙犯诈骗罪，判处拘役三个月。"
)
APPENDIX = "如不服本判决，可上诉。"
JUDGMENT = HEADING + FACT + REASON + SENTENCE + APPENDIX


def test_parts() -> None:
    parts = parts_of_judgment(JUDGMENT)
    assert parts == {
        "heading": HEADING,
        "fact": FACT.replace(",", "，"),
        "reason": REASON,
        "judgment": SENTENCE,
        "appendix": APPENDIX,
    }


def test_without_the_words_that_part_it() -> None:
    parts = parts_of_judgment("<p>本院认为 :</p>被告人(甲)&nbsp;有罪。")
    assert parts["reason"] == "本院认为：被告人（甲） 有罪。"
    assert (parts["judgment"], parts["appendix"]) == ("", "")
    assert set(parts_of_judgment("").values()) == {""}


def test_what_is_decided() -> None:
    assert offences_in(JUDGMENT) == {"盗窃", "诈骗"}
    assert articles_in(JUDGMENT) == {264, 52}
    assert months_in(JUDGMENT) == 18 + 3
    assert fines_in(JUDGMENT) == 5000


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("十五", [15]),
        ("二百六十四", [264]),
        ("一千零一", [1001]),
        ("1.5万元", [15000]),
        ("三万五千", [35000]),
        ("伍仟", [5000]),
        ("3,000和20", [3000, 20]),
        ("二〇一八", [2018]),
        ("一亿二千万", [120_000_000]),
        ("9" * 400, [10**15]),
        ("无", []),
    ],
)
def test_numbers(text: str, numbers: list[int]) -> None:
    assert numbers_in(text) == numbers


@pytest.mark.parametrize(
    ("text", "offences"),
    [
        ("犯贩卖毒品罪", {"走私、贩卖、运输、制造毒品"}),  # its characters are in the statutory name
        ("犯危险驾驶机动车罪", {"危险驾驶"}),  # 3 of 8 characters to edit, with 罪
        ("犯偷车罪", set()),
        ("撤销被告人甲犯抢劫罪的判决", set()),
        ("被告人甲无罪", set()),
    ],
)
def test_offences(text: str, offences: set[str]) -> None:
    assert offences_in(text) == offences


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("判处无期徒刑", 240),
        ("判处死刑", 10001),
        ("宣告无罪", 0),
        ("有期徒刑三年，缓刑四年", 36),
        ("甲有期徒刑三年，乙有期徒刑三年", 36),  # one wording counts once
        ("有期徒刑三年，有期徒刑二年", 60),
        ("批评", -1),
    ],
)
def test_months(text: str, months: int) -> None:
    assert months_in(text) == months


def test_articles_in_digits_count() -> None:
    assert articles_in("依照《刑法》第133条之一、第六十七条") == {133, 67}
    assert articles_in("依照《民法典》第十条") == frozenset()


def test_scores_of_a_case() -> None:
    pytest.importorskip("jieba", reason="jieba is not installed")
    other = JUDGMENT.replace("；二、被告人乙犯诈骗罪，判处拘役三个月", "").replace("5,000", "4000")
    scores = judge_scores(other, JUDGMENT, bert_score=lambda reply, gold: float(reply == gold))
    assert (scores["crime_recall"], scores["crime_precision"]) == (0.5, 1)
    assert (scores["penalcode_index_recall"], scores["penalcode_index_precision"]) == (1, 1)
    assert scores["time_score"] == pytest.approx(18 / 21)
    assert scores["amount_score"] == pytest.approx(0.8)
    assert scores["reasoning_meteor"] == pytest.approx(1, abs=0.001)
    assert 0 < (scores["judge_meteor"] or 0) < 1
    assert (scores["reasoning_bert_score"], scores["judge_bert_score"]) == (1, 0)


def test_nothing_stands_in_for_bert_score() -> None:
    pytest.importorskip("jieba", reason="jieba is not installed")
    scores = judge_scores(JUDGMENT, JUDGMENT)
    assert (scores["reasoning_bert_score"], scores["judge_bert_score"]) == (None, None)
    assert (scores["time_score"], scores["amount_score"], scores["crime_recall"]) == (1, 1, 1)


def test_an_empty_reply() -> None:
    scores = judge_scores("", JUDGMENT)
    meteor = {name: score for name, score in scores.items() if "meteor" in name or "bert" in name}
    assert set(meteor.values()) == {None}
    assert {score for name, score in scores.items() if name not in meteor} == {0}


@pytest.mark.parametrize(
    ("value", "right", "score"),
    [
        ("罚金9000元", "罚金11000元", 0),  # on both sides of the mark that is meant for death
        ("罚金6000元", "罚金8000元", 0.75),
        ("", "罚金8000元", 0),
        ("", "", None),
    ],
)
def test_amounts(value: str, right: str, score: float | None) -> None:
    assert judge_scores(value, right)["amount_score"] == score


def test_set_scores() -> None:
    cases = [
        {"crime_recall": 1.0, "crime_precision": 0.5, "time_score": None},
        {"crime_recall": 0.0, "crime_precision": 0.5, "time_score": 0.25},
    ]
    scores = judge_set_scores(cases)
    # Means .5 and .5, so F1 .5; the mean of the two F1 would be 1/3.
    assert (scores["crime_f1"], scores["time_score"], scores["penalcode_index_f1"]) == (0.5, 0.25, None)
    assert judge_set_scores([{"crime_recall": 0.0, "crime_precision": 0.0}])["crime_f1"] == 0
    assert judge_set_scores([]) == {"crime_f1": None, "penalcode_index_f1": None}
    assert len(judge_set_scores([judge_scores("", "")])) == 12


WORDS = (
    "本院认为 判决如下： 犯 盗窃 罪 有期徒刑 三 年 月 罚金 1,0.5万 元 《刑法》第 条 "
    "<p> ， 。 附 法律 撤销 一、 &amp; ×"
)
PIECES = st.sampled_from([*WORDS.split(), " ", "\n"])


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=30).map("".join)))
def test_any_text_is_read(text: str) -> None:
    assert set(parts_of_judgment(text)) == {"heading", "fact", "reason", "judgment", "appendix"}
    assert min(articles_in(text), default=0) >= 0
    assert months_in(text) >= -1
    assert fines_in(text) >= -1
    scores = judge_scores("", text)
    assert all(score is None or 0 <= score <= 1 for score in scores.values())
    for score in ("time_score", "amount_score"):
        assert (judge_scores("罚金1元，拘役三月", text)[score] or 0) <= 1
