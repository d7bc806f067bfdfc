"""Excel workbooks, in the parts that the Office Open XML schema names."""

import datetime
import sys
import zipfile

import pytest

from dialogauge.core import FileFault, MissingExtra
from dialogauge.data import read_conversations, read_ratings

python_calamine = pytest.importorskip("python_calamine")

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
IN_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OF_OFFICE = f'xmlns:r="{IN_OFFICE}"'
OF_PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
SHARED = ("session_id", "role", "content", "created_at", "user", "assistant", "Is it <open>?", "From nine.")


def cell(place, value, kind="s"):
    return f'<c r="{place}" t="{kind}"><v>{value}</v></c>'


def row(number, *cells):
    return f'<row r="{number}">{"".join(cells)}</row>'


HEADER = row(1, *(cell(f"{'ABCD'[n]}1", n) for n in range(4)))
REPLY = row(2, cell("A2", "7", "n"), cell("B2", 5), cell("C2", 7), cell("D2", "45000.5", "n"))
INLINE = (
    '<c r="C3" t="inlineStr"><is><r><t xml:space="preserve">Is it </t></r><r><t>&lt;open>?</t></r></is></c>'
)
ASK = row(3, cell("A3", "7", "n"), cell("B3", 4), INLINE, cell("D3", "45000.25", "n"))


def text(shared):
    more = "<rPh><t>x</t></rPh>" if shared == "From nine." else ""
    return f"<si><t>{shared.replace('<', '&lt;')}</t>{more}</si>"


def workbook(path, rows, sheets=("talk",), head=""):
    names = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets))
    related = (
        f'<Relationship Id="r{n}" Type="{IN_OFFICE}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n in range(len(sheets))
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        begin = f'<Relationship Id="r" Type="{IN_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        file.writestr("_rels/.rels", f"<Relationships {OF_PACKAGE}>{begin}</Relationships>")
        file.writestr("xl/workbook.xml", f"<workbook {MAIN} {OF_OFFICE}><sheets>{names}</sheets></workbook>")
        file.writestr(
            "xl/_rels/workbook.xml.rels", f"<Relationships {OF_PACKAGE}>{''.join(related)}</Relationships>"
        )
        file.writestr("xl/sharedStrings.xml", f"<sst {MAIN}>{''.join(map(text, SHARED))}</sst>")
        for n in range(len(sheets)):
            sheet = f"{head}<worksheet {MAIN}><sheetData>{'' if n else rows}</sheetData></worksheet>"
            file.writestr(f"xl/worksheets/s{n}.xml", sheet)
    return str(path)


@pytest.mark.parametrize("number", ["-1", "8", "1.5", "x"])
def test_a_shared_text_that_is_none_is_a_fault(tmp_path, number):
    path = workbook(
        tmp_path / "log.xlsx", HEADER + REPLY.replace('>7</v></c><c r="D2', f'>{number}</v></c><c r="D2')
    )
    with pytest.raises(FileFault, match="the workbook is damaged here"):
        list(read_conversations([path], strict=True))


def test_formulas_without_a_result_are_noted(tmp_path):
    lacking = '<c r="C2"><f>CONCAT(A1,B1)</f></c>'
    stored = '<c r="C2" t="str"><f>CONCAT(A1,B1)</f><v>From nine.</v></c>'
    empty = '<c r="C2" t="str"><f>CONCAT(A1,B1)</f><v></v></c>'
    for formula, reply, noted in ((lacking, "", 1), (stored, "From nine.", 0), (empty, "", 0)):
        rows = HEADER + REPLY.replace(cell("C2", 7), formula) + ASK
        path = workbook(tmp_path / "log.xlsx", rows)
        reader = read_conversations([path])
        (talk,) = reader
        assert talk.messages[-1].text == reply
        notes = [note for note in reader.notes if "formulas without a stored result" in note.text]
        assert len(notes) == noted
    names = [f'<c t="str"><v>{name}</v></c>' for name in ("conversation_id", "turn", "score")]
    values = ['<c t="str"><v>a</v></c>', "<c><v>1</v></c>", "<c><v>4</v></c>"]
    lacking = [*values[:2], "<c><f>A1</f></c>"]
    path = workbook(tmp_path / "people.xlsx", row(1, *names) + row(2, *values) + row(3, *lacking))
    assert any("formulas without a stored result" in str(note) for note in read_ratings(path).notes)


def test_the_workbook_is_opened_once_for_all_sheets(tmp_path, monkeypatch):
    path = workbook(tmp_path / "log.xlsx", HEADER + REPLY + ASK, sheets=("talk", "a", "b"))
    opened, real = [], python_calamine.CalamineWorkbook.from_filelike

    class Counted:
        @staticmethod
        def from_filelike(file):
            opened.append(file)
            return real(file)

    monkeypatch.setattr(python_calamine, "CalamineWorkbook", Counted)
    assert len(list(read_conversations([path]))) == 1
    assert len(opened) == 1


def test_a_cell_or_row_that_is_no_text_of_anybody_is_a_fault(tmp_path):
    long = f'<c t="str"><v>{"x" * (1 << 20)}</v></c>'
    longer = long.replace("<v>", "<v>x")
    for rows, why in (
        (row(2, longer), "a cell holds more than"),
        (row(2, *[long] * 17), "a row takes more than"),
    ):
        path = workbook(tmp_path / "log.xlsx", HEADER + rows)
        with pytest.raises(FileFault, match=why):
            list(read_conversations([path], strict=True))


def test_a_sheet_is_read_as_a_table_and_empty_ones_are_not(tmp_path):
    path = workbook(tmp_path / "log.xlsx", HEADER + REPLY + ASK, sheets=("talk", "Sheet2"))
    for given in (path, str(tmp_path)):
        reader = read_conversations([given])
        (talk,) = reader
        assert [(m.role, m.text) for m in talk.messages] == [
            ("user", "Is it <open>?"),
            ("assistant", "From nine."),
        ]
        assert (talk.id, str(talk.place).startswith(f"{path}/talk")) == ("7", True)
        assert [f.format for f in reader.files.values()] == ["csv"]


def test_cells_that_are_left_out_and_formulas(tmp_path):
    names = row(1, cell("A1", "question", "str"), cell("B1", "note", "str"), cell("C1", "answer", "str"))
    formula = '<c r="C2" t="str"><f>A1&amp;"!"</f><v>Yes</v></c>'
    rows = [
        row(2, cell("A2", 6), formula),
        row(3, cell("A3", 7), cell("B3", "1", "b"), cell("C3", "#N/A", "e")),
    ]
    rows.append(row(4, cell("A4", "And?", "str")))
    path = workbook(tmp_path / "log.xlsx", names + "".join(rows))
    first, second, third = read_conversations([path])
    assert [m.text for m in third.messages] == ["And?"]
    assert [m.text for m in first.messages] == ["Is it <open>?", "Yes"]
    assert [m.text for m in second.messages] == ["From nine."]
    assert second.messages[0].extra == {"note": "true"}


def test_ratings_in_the_one_sheet_of_a_workbook(tmp_path):
    names = ("conversation_id", "turn", "dimension", "score")
    header = row(1, *(cell(f"{'ABCD'[n]}1", name, "str") for n, name in enumerate(names)))
    rows = header + row(
        2, cell("A2", "a", "str"), cell("B2", "1", "n"), cell("C2", "tone", "str"), cell("D2", "4", "n")
    )
    (rating,) = read_ratings(workbook(tmp_path / "r.xlsx", rows)).ratings
    assert (rating.conversation_id, rating.turn, rating.score) == ("a", 1, 4)


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("rows", "more", "why"),
    [
        ("", {}, "no sheet with anything in it"),
        (HEADER + row(2, cell("A2", "99")), {}, "the workbook is damaged here"),
        (row(1, cell("A1", "x")), {}, "the workbook is damaged here"),
        (row(1, cell("ZZZZ1", 1)), {}, "no cell is called 'ZZZZ1'"),
        (HEADER + "<row>", {}, "the workbook is damaged here"),
        (HEADER, {"head": ENTITIES}, "declares a type of document"),
        (HEADER, {"sheets": ()}, "no sheet with anything in it"),
    ],
)
def test_a_workbook_that_cannot_be_read(tmp_path, rows, more, why):
    path = workbook(tmp_path / "log.xlsx", rows, **more)
    with pytest.raises(FileFault, match=why):
        list(read_conversations([path]))


def test_days_and_times_are_as_they_are_shown_and_whole_numbers_without_a_point(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["session", "role", "content", "moment", "day", "lasted", "number", "part", "ok", "big"])
    moment = datetime.datetime(2026, 3, 1, 14, 5, 7)
    about = [datetime.date(2026, 3, 2), datetime.timedelta(hours=30), 4, 0.25, True, 12345678901234]
    sheet.append(["a", "user", "Hi “there” €5", moment, *about])
    sheet.append(["a", "assistant", "Good day."])
    book.save(tmp_path / "log.xlsx")
    (talk,) = read_conversations([str(tmp_path / "log.xlsx")])
    assert [m.text for m in talk.messages] == ["Hi “there” €5", "Good day."]
    shown = {k: v for k, v in talk.messages[0].extra.items() if v}
    assert "2026-03-01T14:05:07" in shown.values()
    assert {"2026-03-02", "1 day, 6:00:00", "4", "0.25", "true", "12345678901234"} <= set(shown.values())


def test_a_text_that_is_merged_over_rows_stands_in_each(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for values in (["session", "role", "content"], ["a", "user", "Hi"], [None, "assistant", "Yes."]):
        sheet.append(values)
    sheet.append(["b", "user", "And?"])
    sheet.merge_cells("A2:A3")
    book.save(tmp_path / "log.xlsx")
    talks = list(read_conversations([str(tmp_path / "log.xlsx")]))
    assert [(t.id, [m.text for m in t.messages]) for t in talks] == [("a", ["Hi", "Yes."]), ("b", ["And?"])]


def test_a_cell_far_out_is_refused_before_memory_runs_out(tmp_path):
    path = workbook(tmp_path / "log.xlsx", HEADER + REPLY + row(1048576, cell("XFD1048576", 0)))
    with pytest.raises(FileFault, match=r"reaches over 1,048,576 rows and 16,384 columns"):
        read_conversations([path])


def test_without_calamine_a_message_says_what_to_install(tmp_path, monkeypatch):
    path = workbook(tmp_path / "log.xlsx", HEADER + REPLY)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtra, match=r"log\.xlsx is an Excel workbook.*dialogauge\[excel\]"):
        read_conversations([path])


def test_many_shared_texts_are_no_row_and_are_bounded(tmp_path, monkeypatch):
    path = workbook(tmp_path / "log.xlsx", HEADER + REPLY + ASK)
    monkeypatch.setattr("dialogauge.data.workbooks._LARGEST_ROW", 1000)
    monkeypatch.setattr("dialogauge.data.workbooks._MOST_STRINGS", 100)
    with pytest.raises(FileFault, match="its texts take more than 0 MiB"):
        read_conversations([path])
    monkeypatch.setattr("dialogauge.data.workbooks._MOST_STRINGS", 10_000)
    assert len(list(read_conversations([path]))) == 1
