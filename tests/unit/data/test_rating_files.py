"""Rating files in long, wide and pair form."""

import gzip
import json

import pytest

from dialogauge.core import FileFault, PairRating, Rating, RecordFault
from dialogauge.data import read_ratings
from dialogauge.data.field_map import FieldMap


def table(tmp_path, text, name="r.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_ratings(path, **options)


LONG = "conversation_id,turn,candidate,dimension,rater,score\n"
LONG += "a,1,m,fun,r1,4\na,1,m,fun,r2,4.0\nb,,,mood,r1,bad\n"


@pytest.mark.parametrize("form", ["csv", "semicolon", "bom", "gz"])
def test_the_long_format(tmp_path, form):
    text = LONG.replace(",", ";") if form == "semicolon" else "\ufeff" + LONG if form == "bom" else LONG
    raw = gzip.compress(text.encode()) if form == "gz" else text.encode()
    found = table(tmp_path, raw)
    assert found.ratings == (
        Rating("a", "fun", 4, 1, "r1", "m"),
        Rating("a", "fun", 4, 1, "r2", "m"),
        Rating("b", "mood", "bad", None, "r1"),
    )
    assert all(not isinstance(r.score, float) for r in found.ratings)
    assert found.faults == ()
    assert found.ids == {"a", "b"}
    assert found.for_conversation("b") == found.ratings[2:]
    assert found.for_conversation("c") == ()
    assert found.ratings[0].place.line == 2


@pytest.mark.parametrize("lines", [True, False])
def test_json(tmp_path, lines):
    rows = [
        {"conversation_id": "a", "turn": 2, "dimension": "fun", "rater": "r", "score": 3, "note": "dull"},
        {"conversation_id": 7, "dimension": "fun", "score": "ok"},
    ]
    text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows)
    found = table(tmp_path, text, "r.jsonl")
    assert found.ratings == (Rating("a", "fun", 3, 2, "r", note="dull"), Rating("7", "fun", "ok"))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (",1,m,fun,r1,4", "no conversation id"),
        ("a,1,m,fun,r9,", "the score is missing"),
        ("a,1,m,fun,r9,nan", "not a number"),
        ("a,1.5,m,fun,r9,4", "the turn is '1.5'"),
        ("a,one,m,fun,r9,4", "the turn is 'one'"),
        ("a,-1,m,fun,r9,4", "the turn is '-1'"),
        ("a,1,m,fun,r1,5", "rated before by the same rater, at "),
        ("a,1,m", "3 cells"),
    ],
)
def test_bad_rows_are_gathered_with_their_line(tmp_path, row, message):
    found = table(tmp_path, LONG + row + "\n")
    assert len(found.ratings) == 3
    (fault,) = found.faults
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
    assert f"{tmp_path / 'r.csv'}:5" in str(fault)


def test_bad_json_rows(tmp_path):
    good = json.dumps({"conversation_id": "a", "dimension": "x", "score": 1})
    text = "\n".join([good, "{", "7", good.replace("1", "[]"), good.replace('"a"', "null")])
    found = table(tmp_path, text, "r.jsonl")
    assert len(found.ratings) == 1
    messages = [f.message for f in found.faults]
    assert [f.place.line for f in found.faults] == [2, 3, 4, 5]
    assert "the score is []" in messages[2]


def test_a_wide_table(tmp_path):
    text = "id,turn,annotator,fluency,mood,comment,user_id\na,1,x,4,good,fine words,1\n"
    found = table(tmp_path, text + "a,2,x,,bad,other words,2\nb,1,x,2,good,yet others,3\n")
    assert found.ratings == (
        Rating("a", "fluency", 4, 1, "x", note="fine words"),
        Rating("a", "mood", "good", 1, "x", note="fine words"),
        Rating("a", "mood", "bad", 2, "x", note="other words"),
        Rating("b", "fluency", 2, 1, "x", note="yet others"),
        Rating("b", "mood", "good", 1, "x", note="yet others"),
    )
    texts = [n.text for n in found.notes if n.kind == "assumed"]
    assert any("wide tables, with the dimensions fluency, mood" in t for t in texts)
    assert any("conversation_id = id, rater = annotator" in t for t in texts)


def test_mapped_columns(tmp_path):
    mapping = FieldMap(conversation_id="chat", rater="who.name", ratings={"satisfaction": "stars.all"})
    text = json.dumps({"chat": "a", "who": {"name": "x"}, "stars": {"all": 5}})
    found = table(tmp_path, text, "r.jsonl", mapping=mapping)
    assert found.ratings == (Rating("a", "satisfaction", 5, None, "x"),)


def test_a_score_without_a_dimension_is_told(tmp_path):
    found = table(tmp_path, "conversation_id,rating\na,4\n")
    assert found.ratings == (Rating("a", "rating", 4),)
    assert any("name no dimension" in n.text for n in found.notes)


def test_pairs(tmp_path):
    text = "a,b,winner,rater\nm1,m2,a,r\nm1,m2,m2,r\nm1,m2,TIE,r\nm1,m2,tie (bothbad),r\nm1,m2,c,r\nm1,,a,r\n"
    found = table(tmp_path, text)
    assert [p.winner for p in found.pairs] == ["a", "b", "tie", "tie"]
    assert found.pairs[0] == PairRating("m1", "m2", "a", "r")
    assert [f.place.line for f in found.faults] == [6, 7]
    assert "the winner is 'c'" in str(found.faults[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("conversation_id,score\n", "holds no ratings"),
        ("name,score\nx,1\n", "no column for the conversation id.*name, score"),
        ("conversation_id,text\nx,y\nz,w\n", "there is no score"),
    ],
)
def test_files_that_hold_no_ratings(tmp_path, text, message):
    with pytest.raises(FileFault, match=message):
        table(tmp_path, text)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileFault, match="no such file"):
        read_ratings(tmp_path / "none.csv")
