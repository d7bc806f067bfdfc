"""Rating files in long, wide and pair form."""

import contextlib
import dataclasses
import gzip
import json
import pickle
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ("b,,,mood,,bad\nb,,,mood,,good", "rated before, at {path}:5, and nothing says by whom"),
        ("a,1,m", "3 cells"),
    ],
)
def test_bad_rows_are_gathered_with_their_line(tmp_path, row, message):
    found = table(tmp_path, LONG + row + "\n")
    lines = row.count("\n")
    assert len(found.ratings) == 3 + lines
    (fault,) = found.faults
    assert isinstance(fault, RecordFault)
    assert message.replace("{path}", str(tmp_path / "r.csv")) in str(fault)
    assert f"{tmp_path / 'r.csv'}:{5 + lines}" in str(fault)


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
    assert any("wide, with the dimensions fluency, mood" in t for t in texts)
    assert any("conversation_id = id, rater = annotator" in t for t in texts)


def test_mapped_columns(tmp_path):
    mapping = FieldMap(conversation_id="chat", rater="who.name", ratings={"satisfaction": "stars.all"})
    text = json.dumps({"chat": "a", "who": {"name": "x"}, "stars": {"all": 5}})
    found = table(tmp_path, text, "r.jsonl", mapping=mapping)
    assert found.ratings == (Rating("a", "satisfaction", 5, None, "x"),)


def test_a_score_without_a_dimension_is_told(tmp_path):
    found = table(tmp_path, "conversation_id,rating\na,4\n")
    assert found.ratings == (Rating("a", "rating", 4),)
    assert any("have no dimension" in n.text for n in found.notes)


def test_what_a_named_rater_says_last_counts(tmp_path):
    found = table(tmp_path, LONG + "a,1,m,fun,r1,2\na,1,m,fun,r1,1\na,2,m,fun,r1,5\n")
    assert [(r.turn, r.rater, r.score) for r in found.ratings if r.dimension == "fun"] == [
        (1, "r1", 1),
        (1, "r2", 4),
        (2, "r1", 5),
    ]
    assert found.faults == ()
    (again,) = (n for n in found.notes if "again" in n.text)
    assert again.text == "ratings were given again by the same rater: the latest counts"
    assert (again.count, again.examples[0].line) == (2, 5)


def test_weights_and_further_columns(tmp_path):
    text = "conversation_id,dimension,rater,score,weight,source,phase\n"
    text += (
        "a,fun,r,4,2.5,web,1\nb,fun,r,5,2.5,web,1\nc,fun,r,5,,,1\nd,fun,r,5,-1,web,1\ne,fun,r,5,much,web,1\n"
    )
    found = table(tmp_path, text, keep=("source", "phase"))
    assert [r.weight for r in found.ratings] == [2.5, 2.5, None]
    assert [r.groups for r in found.ratings] == [{"source": "web", "phase": "1"}] * 2 + [{"phase": "1"}]
    assert found.ratings[0].groups is found.ratings[1].groups
    assert [f.message for f in found.faults] == [
        "the weight is '-1': not a number above 0",
        "the weight is 'much': not a number above 0",
    ]
    assert dataclasses.asdict(pickle.loads(pickle.dumps(found.ratings[0])))["groups"]["source"] == "web"
    assert table(tmp_path, text).ratings[0].groups == {}
    with pytest.raises(FileFault, match=r"no column 'domain'.*it has conversation_id, dimension"):
        table(tmp_path, text, keep=("domain",))


PAGE = {"plan": "4f", "item": "i1", "rater": "R1", "conversation_id": "a", "seconds": 3}


def test_rows_of_a_rating_page(tmp_path):
    rows = [
        {**PAGE, "turn": 1, "dimension": "fun", "score": 4},
        {**PAGE, "item": "i2", "skipped": "too long"},
        {**PAGE, "item": "i3", "flagged": "private"},
        {**PAGE, "item": "i4", "skipped": "too long"},
        {**PAGE, "item": "p1", "dimension": "better", "winner": "left"},
        {**PAGE, "item": "i9", "conversation_id": "i9", "turn": None, "dimension": "fun", "score": 2},
        {"rater": "R1", "conversation_id": "b", "dimension": "fun", "score": 3},
        {**PAGE, "turn": 1, "correction": "At nine.", "digest": "00aa"},
    ]
    found = table(tmp_path, "\n".join(map(json.dumps, rows)), "r.jsonl")
    last = Rating("i9", "fun", 2, None, "R1"), Rating("b", "fun", 3, None, "R1")
    assert found.ratings == (Rating("a", "fun", 4, 1, "R1"), *last)
    notes = {n.text: n.count for n in found.notes}
    assert notes["items were skipped by a rater"] == 2
    assert notes["items were flagged by a rater"] == 1
    assert any(text.startswith("better replies by a rater are no ratings") for text in notes)
    assert any("of items of a blinded page" in text for text in notes)
    (fault,) = found.faults
    assert fault.place.line == 5
    assert "only the plan knows" in str(fault)
    assert "dialogauge annotate import" in str(fault)


def test_a_page_of_choices_alone_is_refused(tmp_path):
    row = {**PAGE, "dimension": "better", "winner": "tie"}
    with pytest.raises(FileFault, match=r"only the plan knows.*annotate import"):
        table(tmp_path, json.dumps(row), "r.jsonl")


def test_a_table_that_a_spreadsheet_saved(tmp_path):
    text = "item;rater;dimension;score;;\r\na;r1;fun;4,5;;\r\n;;;;;\r\n"
    text += 'b;r1;fun;"4";;;;\r\nc;r1;"fu;n";3,25;;\r\n;;;;;\r\n'
    found = table(tmp_path, ("\ufeff" + text).encode())
    assert [(r.conversation_id, r.dimension, r.score) for r in found.ratings] == [
        ("a", "fun", 4.5),
        ("b", "fun", 4),
        ("c", "fu;n", 3.25),
    ]
    assert found.faults == ()
    notes = [str(n).partition(" (")[0] for n in found.notes]
    assert "1 file has cells parted by semicolons" in notes
    assert "2 scores have a decimal comma" in notes
    assert "2 rows are empty and left out" in notes


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_unicode_text_of_a_spreadsheet(tmp_path, encoding):
    text = LONG.replace(",", "\t").replace("mood", "气氛")
    mark = "" if encoding == "utf-16" else "\ufeff"
    found = table(tmp_path, (mark + text).encode(encoding), "r.txt")
    assert [r.score for r in found.ratings] == [4, 4, "bad"]
    assert found.ratings[2].dimension == "气氛"
    notes = [n.text for n in found.notes]
    assert "files are in UTF-16" in notes
    assert "files have cells parted by tabs" in notes


def test_utf16_that_breaks_off(tmp_path):
    with pytest.raises(FileFault, match="UTF-16"):
        table(tmp_path, LONG.encode("utf-16")[:-1])


def test_a_comma_parts_cells_where_the_table_is_parted_by_commas(tmp_path):
    found = table(tmp_path, 'id,rater,score\na,r1,"4,5"\n')
    assert found.ratings[0].score == "4,5"


@pytest.mark.parametrize(
    ("written", "score"),
    [
        ("4 - Good", 4),
        ("4 – good", 4),
        ("4: Good", 4),
        ("4. Good", 4),
        ("4) rather good", 4),
        ("4 (good)", 4),
        ("Very Good (5)", 5),
        ("Sehr gut [5]", 5),
        ("满意（4）", 4),
        ("5 stars", 5),
        ("1-star", 1),
        ("4.5 - good", 4.5),
        ("-1 (bad)", -1),
        *(
            (text, text)
            for text in ("3 or 4", ">3", "~4", "4/5", "4 of 5", "3-4", "4?", "Good (4/5)", "v2 (4)")
        ),
        *((text, text) for text in ("good", "4 (of 5)", "3-ish", "not 4", "2nd", "Good (4) - really")),
    ],
)
def test_a_number_beside_words(tmp_path, written, score):
    found = table(tmp_path, json.dumps({"id": "a", "rater": "r", "score": written}), "r.jsonl")
    assert found.ratings[0].score == score
    assert any("words beside their number" in n.text for n in found.notes) == (written != score)


def test_a_wide_table_of_raters(tmp_path):
    text = "item,dimension,A01,A02,judge\nx,fun,4,,5\ny,fun,3,2,1\n"
    found = table(tmp_path, text, wide="raters")
    assert found.ratings == (
        Rating("x", "fun", 4, None, "A01"),
        Rating("x", "fun", 5, None, "judge"),
        Rating("y", "fun", 3, None, "A01"),
        Rating("y", "fun", 2, None, "A02"),
        Rating("y", "fun", 1, None, "judge"),
    )
    assert "files are wide, with the raters A01, A02, judge" in [n.text for n in found.notes]
    without = table(tmp_path, "item,a,b\nx,4,5\n", wide="raters")
    assert [(r.dimension, r.rater) for r in without.ratings] == [("rating", "a"), ("rating", "b")]


def test_a_map_of_the_log_leaves_the_ratings_their_own_columns(tmp_path):
    mapping = FieldMap(conversation_id="session.ref", messages="timeline", candidate="session.bot")
    found = table(tmp_path, LONG, mapping=mapping)
    assert [(r.conversation_id, r.turn, r.candidate) for r in found.ratings] == [
        ("a", 1, "m"), ("a", 1, "m"), ("b", None, None),
    ]  # fmt: skip
    # A path that leads into a row is taken before the usual name.
    nested = '{"session": {"ref": "c"}, "conversation_id": "other", "dimension": "fun", "score": 2}\n'
    assert table(tmp_path, nested, "r.jsonl", mapping=mapping).ratings[0].conversation_id == "c"


def test_a_table_whose_id_nobody_knows_says_how_to_name_it(tmp_path):
    text = "session_ref,thumb,clicked_at\nx,up,Monday at nine\ny,down,Monday at ten\nz,up,Monday at noon\n"
    with pytest.raises(
        FileFault, match=r"it has session_ref, thumb, clicked_at; .*--map session=session_ref"
    ):
        table(tmp_path, text)
    (rating, *_) = table(
        tmp_path, text, mapping=FieldMap(conversation_id="session_ref", score="thumb")
    ).ratings
    assert (rating.conversation_id, rating.dimension) == ("x", "thumb")


def test_columns_that_are_called_raters_are_raters(tmp_path):
    found = table(tmp_path, "dialogue_id,turn,rater_li,Rater 2\nx,1,4,5\ny,1,2,3\n")
    assert {(r.dimension, r.rater) for r in found.ratings} == {("rating", "rater_li"), ("rating", "Rater 2")}
    assert "files are wide, with the raters rater_li, Rater 2" in [n.text for n in found.notes]
    # One such column among others, or one alone, is no list of raters.
    for text in ("id,rater_li,mood\nx,4,5\ny,2,3\n", "id,rater_confidence\nx,4\ny,2\n"):
        assert {r.rater for r in table(tmp_path, text).ratings} == {None}


def test_chinese_headings_of_three_raters(tmp_path):
    found = table(tmp_path, "对话编号,轮次,张敏,李强\nx,2,4,5\n", wide="raters")
    assert [(r.conversation_id, r.turn, r.rater, r.score) for r in found.ratings] == [
        ("x", 2, "张敏", 4), ("x", 2, "李强", 5),
    ]  # fmt: skip


@pytest.mark.parametrize("wide", ["raters", "dimensions"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4,5,3\n3,2,1\n", "no header: its first line holds numbers"),
        ("4,4,3\n3,2,1\n", "no header: its first line holds numbers"),
        ("x,4,4,3\ny,3,2,1\n", "no header: its first line holds numbers"),
        ("A1,A2,A3\n3,2,1\n", "no column for the conversation id in a matrix of 3 columns.*name both axes"),
        (",A1,A2\nx,2,1\n", "no column for the conversation id in a matrix of 2 columns.*name both axes"),
        ("annotator,i1,i2\nA1,2,1\n", "each row is one annotator.*transposed: turn it.*--wide raters"),
        (
            "item," + ",".join(f"i{k}" for k in range(120)) + "\nA1" + ",4" * 120 + "\nA2" + ",5" * 120,
            "120 columns of scores, 2 rows: are these .*transposed: turn it",
        ),
    ],
)
def test_a_matrix_without_named_axes_or_on_its_side_is_refused(tmp_path, text, message, wide):
    with pytest.raises(FileFault, match=message):
        table(tmp_path, text, wide=wide)


def test_pairs(tmp_path):
    text = "a,b,winner,rater\nm1,m2,a,r\nm1,m2,m2,r\nm1,m2,TIE,r\nm1,m2,tie (bothbad),r\nm1,m2,c,r\nm1,,a,r\n"
    found = table(tmp_path, text)
    assert [p.winner for p in found.pairs] == ["a", "b", "tie", "tie"]
    assert found.pairs[0] == PairRating("m1", "m2", "a", "r")
    assert [f.place.line for f in found.faults] == [6, 7]
    assert "the winner is 'c'" in str(found.faults[0])
    assert [p.place.line for p in found.pairs] == [2, 3, 4, 5]


def test_who_was_shown_first(tmp_path):
    text = "a,b,winner,shown_first\nm1,m2,a,b\nm1,m2,a,\nm1,m2,a,m2\nm1,m2,a,tie\nm1,m2,a,left\n"
    found = table(tmp_path, text)
    assert [p.shown_first for p in found.pairs] == ["b", "a", "b"]
    assert [f.message for f in found.faults] == ["shown first was 'tie'", "shown first was 'left'"]
    assert [n.text for n in found.notes] == ["files of pairs"]
    (note,) = table(tmp_path, "a,b,winner\nm1,m2,a\n").notes
    assert note.text == "files of pairs, of which a is taken for the one that was shown first"


def test_pairs_of_a_conversation(tmp_path):
    text = "conversation_id,turn,a,b,winner,rater,weight\n"
    text += "c1,1,m1,m2,a,r,2\nc1,1,m1,m2,a,s,\nc1,2,m1,m2,model_b,r,\nc1,1,m2,m1,a,r,4\n"
    text += "c2,,m1,m2,left,r,\nc2,,m1,m1,a,r,\nc2,,m1,m2,a,r,0\n"
    found = table(tmp_path, text)
    assert [(p.a, p.b, p.winner, p.rater, p.turn, p.weight) for p in found.pairs] == [
        ("m2", "m1", "a", "r", 1, 4),
        ("m1", "m2", "a", "s", 1, None),
        ("m1", "m2", "b", "r", 2, None),
    ]
    assert "again by the same rater" in " ".join(n.text for n in found.notes)
    assert [f.message for f in found.faults] == [
        "the winner is 'left'",
        "a and b are both 'm1'",
        "the weight is '0': not a number above 0",
    ]
    assert "dialogauge annotate import" in str(found.faults[0])


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


def as_excel(rows, delimiter, comma, quoted, blank):
    """Write rows as spreadsheets do."""
    lines = []
    for number, row in enumerate(rows):
        cells = [str(cell).replace(".", comma) if isinstance(cell, float) else str(cell) for cell in row]
        needs = [quoted or delimiter in c or '"' in c for c in cells]
        cells = ['"' + c.replace('"', '""') + '"' if q else c for c, q in zip(cells, needs, strict=True)]
        lines.append(delimiter.join(cells + [""] * (blank % 3)))
        if number and blank > 2:
            lines.append(delimiter * (len(row) - 1))
    return "\r\n".join(lines) + "\r\n"


scores = st.one_of(
    st.integers(-5, 100), st.sampled_from([0.5, 3.25, -1.5]), st.sampled_from(["good", "很好", "so; so"])
)
given_ratings = st.lists(
    st.tuples(
        st.sampled_from(["c1", "c 2", 'the "third"']), st.integers(1, 3), st.sampled_from("xyz"), scores
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[:3],
)


@given(
    given_ratings,
    st.sampled_from([(",", "."), (";", ","), ("\t", ","), ("\t", "."), ("|", ".")]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.booleans(),
    st.integers(0, 5),
)
def test_however_a_spreadsheet_saves_a_table_its_ratings_are_the_same(rows, form, encoding, quoted, blank):
    delimiter, comma = form
    header = ("conversation_id", "turn", "rater", "score")
    text = as_excel([header, *rows], delimiter, comma, quoted, blank)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.csv")
        path.write_bytes(text.encode(encoding))
        found = read_ratings(path)
    assert found.faults == ()
    assert [(r.conversation_id, r.turn, r.rater, r.score) for r in found.ratings] == rows


@given(st.binary(max_size=300))
def test_bytes_that_begin_as_utf16_give_ratings_or_a_fault_that_says_so(raw):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.csv")
        path.write_bytes(b"\xff\xfe" + raw)
        with contextlib.suppress(FileFault):
            read_ratings(path)
