"""Tables with one message a row."""

import pytest

from dialogauge.core import FileFault, Rating, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.field_map import FieldMap


def read(tmp_path, text, name="a.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    reader = read_conversations([str(path)], **options)
    return list(reader), [n.text for n in reader.notes if n.kind == "assumed"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_usual_columns(tmp_path, delimiter):
    rows = ["conversation_id,role,content,user_id,rating,tag", "a,user,hi,u1,,x", 'a,assistant,"y\no",u1,4,']
    text = "\ufeff" + "\n".join([*rows, "b,user,hi,u2,,"]).replace(",", delimiter)
    (a, b), _ = read(tmp_path, text)
    assert (a.id, a.user_id, b.id) == ("a", "u1", "b")
    assert [(m.role, m.text) for m in a.messages] == [("user", "hi"), ("assistant", "y\no")]
    assert a.messages[0].extra == {"tag": "x"}
    assert a.ratings == (Rating("a", "rating", 4, 1),)
    assert (a.place.line, b.place.line) == (2, 5)


def test_a_spreadsheet_that_parts_cells_by_semicolons(tmp_path):
    """As a spreadsheet program writes it where the comma is the decimal mark; formulas are texts here."""
    text = (
        'sep=;\r\n\r\nconversation_id;role;content;"mood (1,2,3,4,5)"\r\n'
        'a;user;=1+1;\r\na;assistant;"no; 3,5";4\r\n\r\na;user\r\n'
    )
    for given in (text, text.removeprefix("sep=;\r\n")):
        mapping = FieldMap(ratings={"mood": "mood (1,2,3,4,5)"})
        (fault,), _ = read(tmp_path, given, mapping=mapping)
        assert "the row has 2 cells, the header 4 columns" in fault.message
        assert fault.place.line == given.count("\n")
        (c,), _ = read(tmp_path, given.removesuffix("a;user\r\n"), mapping=mapping)
        assert [m.text for m in c.messages] == ["=1+1", "no; 3,5"]
        assert c.ratings[0].score == 4
        assert c.place.line == given.count("\n") - 3


def test_other_columns_by_a_map(tmp_path):
    mapping = FieldMap(
        conversation_id="Ticket",
        role="Wer",
        content="Was",
        ratings={"satisfaction": "Note"},
        roles={"Kunde": "user", "Berater": "assistant"},
    )
    text = "Ticket;Wer;Was;Note\n7;Kunde;Hallo;\n7;Berater;Guten Tag;3,5\n"
    (c,), _ = read(tmp_path, text, mapping=mapping)
    assert c.ratings[0].score == "3,5", "a decimal comma is not guessed at: a category, off any scale"
    (c,), assumed = read(tmp_path, text.replace("3,5", "3.5"), mapping=mapping)
    assert c.ratings == (Rating("7", "satisfaction", 3.5, 1),)
    assert assumed == []


def test_what_was_guessed_is_told(tmp_path):
    (c,), assumed = read(tmp_path, "session_id,speaker,text\n1,Human,hi\n1,bot,yo\n")
    assert [m.role for m in c.messages] == ["user", "assistant"]
    assert any("conversation_id = session_id" in text for text in assumed)
    assert any("'bot': read as assistant" in text for text in assumed)


def test_without_ids_it_is_one_conversation(tmp_path):
    (c,), assumed = read(tmp_path, "role,content\nuser,hi\nassistant,yo\n")
    assert c.id == "a.csv"
    assert any("one conversation" in text for text in assumed)


def test_rows_that_do_not_stand_together(tmp_path):
    text = "id,role,content\na,user,1\na,assistant,2\nb,user,1\nb,assistant,2\na,user,3\n"
    (a, b, fault), _ = read(tmp_path, text)
    assert (a.id, b.id) == ("a", "b")
    assert isinstance(fault, RecordFault)
    assert "stand together" in str(fault)


@pytest.mark.parametrize(
    ("row", "message"),
    [("a,king,x", "unknown role 'king'"), ("a,assistant,x,y", "4 cells, the header 3")],
)
def test_a_bad_row_spoils_its_conversation_only(tmp_path, row, message):
    (fault, b), _ = read(tmp_path, f"id,role,content\na,user,1\n{row}\nb,user,1\nb,assistant,2\n")
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
    assert fault.place.line == 3
    assert b.id == "b"


def test_a_missing_mapped_column_and_a_doubled_one(tmp_path):
    with pytest.raises(FileFault, match=r"no column 'Was'.*it has id, role, content"):
        read(tmp_path, "id,role,content\na,user,1\n", mapping=FieldMap(content="Was"), format="csv")
    with pytest.raises(FileFault, match="two columns named 'role'"):
        read(tmp_path, "id,role,role,content\na,user,user,1\n")


def test_a_long_cell(tmp_path):
    (c,), _ = read(tmp_path, f"id,role,content\na,user,{'x' * 300_000}\n")
    assert len(c.messages[0].text) == 300_000


def test_a_table_that_breaks_off(tmp_path):
    text = b"id,role,content\na,user,1\na,assistant,2\nb,user,1\nb,assistant,\xff\n"
    (a, cut, fault), _ = read(tmp_path, text)
    assert a.id == "a"
    assert isinstance(cut, RecordFault)
    assert cut.place.conversation_id == "b"
    assert isinstance(fault, FileFault)
    assert fault.place.line == 5


def test_a_header_that_is_no_row(tmp_path):
    with pytest.raises(FileFault, match=r"a\.csv:1: the header is no row"):
        read(tmp_path, b"id,ro\rle,content\na,user,1\n", format="csv")


def test_a_conversation_whose_rows_differ_is_counted_once(tmp_path):
    rows = "\n".join(f"{c},user,hi,{user}" for c in "ab" for user in ("u1", "", "u2", "u3"))
    path = tmp_path / "a.csv"
    path.write_text(f"conversation_id,role,content,user_id\n{rows}\n")
    reader = read_conversations([str(path)])
    assert [c.user_id for c in reader] == ["u1", "u1"]
    (note,) = (n for n in reader.notes if "differ" in n.text)
    assert note.count == 2
