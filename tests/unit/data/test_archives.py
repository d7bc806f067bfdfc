"""Zip files and zstandard: members are read like the files of a folder, bombs and damage end in words."""

import contextlib
import gzip
import io
import json
import random
import subprocess
import sys
import tarfile
import zipfile

import pytest

from dialogauge.core import FileFault, MissingExtra
from dialogauge.data import read_conversations, read_ratings
from dialogauge.data.archives import ZSTANDARD, members_of
from dialogauge.data.opening import locate

pyarrow = pytest.importorskip("pyarrow")


def talk(name, reply="Good day."):
    messages = [{"role": "user", "content": "Hello there."}, {"role": "assistant", "content": reply}]
    return {"conversation_id": name, "messages": messages}


def line(name):
    return json.dumps(talk(name)).encode() + b"\n"


def zipped(path, files, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return str(path)


def zstandard(raw):
    return pyarrow.compress(raw, codec="zstd", asbytes=True)


def with_zstandard(path, files):
    """Write a zip file whose members are packed by method 93, as Inspect writes its logs."""
    packed = {name: zstandard(raw) for name, raw in files.items()}
    zipped(path, packed, zipfile.ZIP_STORED)
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        infos, start = file.infolist(), file.start_dir
    at = start
    for info in infos:
        content = files[info.filename]
        for place, crc in ((info.header_offset + 8, 6), (at + 10, 6)):
            raw[place : place + 2] = (93).to_bytes(2, "little")
            crc_at = place + crc
            raw[crc_at : crc_at + 4] = zipfile.crc32(content).to_bytes(4, "little")
            raw[crc_at + 8 : crc_at + 12] = len(content).to_bytes(4, "little")
        at += 46 + len(info.filename)
    path.write_bytes(raw)
    return str(path)


def ids(path):
    return [c.id for c in read_conversations([str(path)])]


def test_the_files_of_a_zip_file_are_read_in_order_and_named(tmp_path):
    files = {
        "export/b.jsonl": line("b1") + b"{oops\n" + line("b2"),
        "export/a.json": json.dumps([talk("a1"), talk("a2")]),
        "export/picture.png": b"\x89PNG",
        "__MACOSX/export/._a.json": b"\x00",
        "export/.hidden.json": b"[]",
        "export/notes.txt": "Nothing to see.",
    }
    path = zipped(tmp_path / "export.zip", files)
    reader = read_conversations([path])
    outcomes = list(reader)
    assert [getattr(o, "id", None) for o in outcomes] == ["a1", "a2", "b1", None, "b2"]
    assert str(outcomes[3].place) == f"{path}/export/b.jsonl:2"
    notes = {note.text: note.count for note in reader.notes}
    assert notes["files of folders were left out: their ending is none of ours"] == 1
    assert notes["files of folders were left out: not recognised as conversations"] == 1


def test_ids_are_made_from_the_names_in_the_zip_file(tmp_path):
    record = {"messages": talk("x")["messages"]}
    path = zipped(tmp_path / "two.zip", {"a.jsonl": json.dumps(record), "b/a.jsonl": json.dumps(record)})
    assert ids(path) == ["two.zip/a.jsonl:1", "two.zip/b/a.jsonl:1"]


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_members_packed_in_every_usual_way(tmp_path, method):
    path = zipped(tmp_path / "log.zip", {"log.jsonl": b"".join(map(line, map(str, range(2000))))}, method)
    assert len(ids(path)) == 2000


def test_members_packed_by_zstandard(tmp_path):
    files = {"samples/1.jsonl": line("a") * 1, "samples/2.jsonl": line("b") + line("c")}
    path = with_zstandard(tmp_path / "log.eval", files)
    assert ids(path) == ["a", "b", "c"]


def test_a_damaged_member_packed_by_zstandard(tmp_path):
    path = with_zstandard(tmp_path / "log.zip", {"log.jsonl": line("a") * 1})
    raw = bytearray((tmp_path / "log.zip").read_bytes())
    raw[raw.index(ZSTANDARD) + 40] ^= 1
    (tmp_path / "log.zip").write_bytes(raw)
    with pytest.raises(FileFault, match="the zip file is damaged here"):
        list(read_conversations([path]))


def test_a_zip_file_under_any_name_in_a_folder_and_through_a_pipe(tmp_path):
    zipped(tmp_path / "log.zip", {"log.jsonl": line("a")})
    (tmp_path / "log.json").write_bytes((tmp_path / "log.zip").read_bytes())
    assert ids(tmp_path / "log.json") == ["a"]
    (tmp_path / "log.json").unlink()
    (tmp_path / "other.jsonl").write_bytes(line("b"))
    assert ids(tmp_path) == ["a", "b"]
    command = "from dialogauge.data import read_conversations as r; print([c.id for c in r(['-'])])"
    with (tmp_path / "log.zip").open("rb") as file:
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        done = subprocess.run([sys.executable, "-c", command], stdin=cat.stdout, capture_output=True)
        cat.stdout.close()
        cat.wait()
    assert done.stdout == b"['a']\n"


def test_a_damaged_zip_file_of_a_folder_is_named_and_the_others_are_read(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(line("a"))
    zipped(tmp_path / "b.zip", {"b.jsonl": line("b")})
    (tmp_path / "b.zip").write_bytes((tmp_path / "b.zip").read_bytes()[:-40])
    first, second = read_conversations([str(tmp_path)])
    assert first.id == "a"
    assert "b.zip: the zip file is damaged or not whole" in str(second)


def test_gzip_and_zstandard_files_in_and_out_of_zip_files(tmp_path):
    files = {"a.jsonl.gz": gzip.compress(line("a")), "b.jsonl.zst": zstandard(line("b"))}
    assert ids(zipped(tmp_path / "log.zip", files)) == ["a", "b"]
    (tmp_path / "log.jsonl.zst").write_bytes(zstandard(line("c")) + zstandard(line("d")))
    assert ids(tmp_path / "log.jsonl.zst") == ["c", "d"]


def test_a_zstandard_file_that_breaks_off_is_read_up_to_there(tmp_path):
    whole = b"".join(map(line, map(str, range(9000))))
    blocks = b"".join(zstandard(whole[at : at + 10_000]) for at in range(0, len(whole), 10_000))
    (tmp_path / "log.jsonl.zst").write_bytes(blocks[:-20])
    *read, last = read_conversations([str(tmp_path / "log.jsonl.zst")])
    assert len(read) > 7000
    assert isinstance(last, FileFault)
    assert "the zstandard file breaks off here" in str(last)


def test_a_damaged_zstandard_file_is_read_up_to_there(tmp_path):
    whole = b"".join(map(line, map(str, range(9000))))
    blocks = [zstandard(whole[at : at + 10_000]) for at in range(0, len(whole), 10_000)]
    blocks[-1] = blocks[-1][:4] + b"\xff" * (len(blocks[-1]) - 4)
    (tmp_path / "log.jsonl.zst").write_bytes(b"".join(blocks))
    *read, last = read_conversations([str(tmp_path / "log.jsonl.zst")])
    assert len(read) > 7000
    assert isinstance(last, FileFault)
    assert "the zstandard file is damaged here" in str(last)


def test_zstandard_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    if sys.version_info >= (3, 14):
        pytest.skip("Python has its own")
    (tmp_path / "log.jsonl.zst").write_bytes(zstandard(line("a")))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"log\.jsonl\.zst is packed by zstandard") as error:
        ids(tmp_path / "log.jsonl.zst")
    assert "dialogauge[parquet]" in str(error.value)


def test_a_zip_file_in_a_zip_file_is_refused_in_words(tmp_path):
    zipped(tmp_path / "inner.zip", {"log.jsonl": line("a")})
    inner = (tmp_path / "inner.zip").read_bytes()
    path = zipped(tmp_path / "outer.zip", {"inner.zip": inner, "log.jsonl": line("b")})
    fault, read = read_conversations([path])
    assert "inner.zip: an archive in an archive (unpack the outer one first)" in str(fault).replace("; ", " ")
    assert read.id == "b"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("../../etc/log.jsonl", "etc/log.jsonl"),
        ("/root/log.jsonl", "root/log.jsonl"),
        ("a\\..\\log.jsonl", "a/log.jsonl"),
        ("C:/x/./log.jsonl", "C:/x/log.jsonl"),
    ],
)
def test_names_that_lead_out_of_the_zip_file_are_cleaned(tmp_path, name, path):
    source = locate([zipped(tmp_path / "z.zip", {name: line("a")})])[0][0]
    assert source.label == f"z.zip/{path}"
    assert not (tmp_path / path).exists()


def test_bombs_are_refused_before_anything_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.data.archives._SUSPECT", 1 << 20)
    path = zipped(tmp_path / "bomb.zip", {"log.jsonl": b" " * (4 << 20)})
    with pytest.raises(FileFault, match=r"would unpack to 4,194,304 bytes, \d+ times its size"):
        read_conversations([path])
    monkeypatch.setattr("dialogauge.data.archives._MOST_MEMBERS", 10)
    path = zipped(tmp_path / "many.zip", {f"{n}.jsonl": b"{}" for n in range(11)})
    with pytest.raises(FileFault, match="holds 11 files, more than 10"):
        read_conversations([path])


def test_a_member_is_never_read_beyond_its_stated_size(tmp_path):
    path = tmp_path / "liar.zip"
    zipped(path, {"log.jsonl": line("a") + b" " * 100_000})
    raw = bytearray(path.read_bytes())
    for start in (raw.index(b"PK\x03\x04") + 22, raw.index(b"PK\x01\x02") + 24):
        raw[start : start + 4] = len(line("a")).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(FileFault, match="the zip file is damaged here"):
        list(read_conversations([str(path)]))


def test_what_else_is_a_zip_file_or_no_whole_one(tmp_path):
    path = tmp_path / "it.zip"
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    cases = {
        "the zip file holds no file that could hold conversations": empty.getvalue(),
        "damaged or not whole": b"PK\x03\x04 and no more",
    }
    for words, raw in cases.items():
        path.write_bytes(raw)
        with pytest.raises(FileFault, match=words):
            read_conversations([str(path)])
    zipped(path, {"[Content_Types].xml": "", "xl/workbook.xml": ""})
    with pytest.raises(FileFault, match=r"damaged here.*CSV"):
        read_conversations([str(path)])


def test_an_encrypted_member_and_one_of_an_unknown_method(tmp_path):
    for offset, central, value, words in ((6, 8, 1, "encrypted"), (8, 10, 98, r"\(method 98\)")):
        path = tmp_path / "log.zip"
        zipped(path, {"log.jsonl": line("a")})
        raw = bytearray(path.read_bytes())
        raw[raw.index(b"PK\x03\x04") + offset] = value
        raw[raw.index(b"PK\x01\x02") + central] = value
        path.write_bytes(raw)
        with pytest.raises(FileFault, match=words):
            list(read_conversations([str(path)]))


def test_ratings_are_read_from_a_zip_file_too(tmp_path):
    path = zipped(tmp_path / "r.zip", {"r.csv": "conversation_id,turn,satisfaction\na,1,4\n"})
    assert [r.score for r in read_ratings(path).ratings] == [4]


def test_any_damage_ends_in_a_fault_of_ours(tmp_path):
    rng = random.Random(7)
    whole = b"".join(map(line, map(str, range(60))))
    zipped(tmp_path / "log.zip", {"a.jsonl": whole, "b.jsonl": whole[:500]})
    good = (tmp_path / "log.zip").read_bytes()
    for _ in range(150):
        raw = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        (tmp_path / "log.zip").write_bytes(raw[: rng.choice((len(raw), rng.randrange(len(raw))))])
        with contextlib.suppress(FileFault):
            list(read_conversations([str(tmp_path / "log.zip")]))


def test_members_of_takes_any_seekable_file():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.jsonl", line("a"))
    (member,), others = members_of(file, "a.zip", lambda name: name.endswith("l"))
    assert (member.open().readall(), others) == (line("a"), 0)


def tarred(path, files, mode="w"):
    with tarfile.open(path, mode) as file:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return str(path)


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tgz", "tar.zst", "data"])
def test_tar_files_are_read_as_zip_files_are(tmp_path, ending):
    files = {"x/b.jsonl": line("b"), "../a.jsonl.gz": gzip.compress(line("a")), "x/p.png": b"\x89PNG"}
    path = tmp_path / f"log.{ending}"
    tarred(path, files, "w:gz" if "gz" in ending else "w")
    if ending == "tar.zst":
        path.write_bytes(zstandard(path.read_bytes()))
    reader = read_conversations([str(path)])
    assert [talk.id for talk in reader] == ["a", "b"]
    notes = {note.text: note.count for note in reader.notes}
    assert notes["files of folders were left out: their ending is none of ours"] == 1
    if ending != "data":
        assert ids(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("kept", [700, 1536, 2000])
def test_a_tar_file_that_breaks_off_or_is_damaged_is_refused_whole(tmp_path, kept):
    path = tmp_path / "log.tar"
    tarred(path, {"a.jsonl": line("a"), "b.jsonl": line("b")})
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    with pytest.raises(FileFault, match="the tar file is damaged or not whole"):
        read_conversations([str(path)])
    path.write_bytes(whole[:1100] + b"\xff" * 400 + whole[1500:])
    with pytest.raises(FileFault, match="the tar file is damaged or not whole"):
        read_conversations([str(path)])
    tarred(tmp_path / "log.tgz", {"a.jsonl": line("a") * 1}, "w:gz")
    (tmp_path / "log.tgz").write_bytes((tmp_path / "log.tgz").read_bytes()[:-12])
    with pytest.raises(FileFault, match=r"log\.tgz: the tar file is damaged or not whole: .*ended"):
        read_conversations([str(tmp_path / "log.tgz")])


def test_a_packed_tar_file_is_no_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr("dialogauge.data.archives._SUSPECT", 1 << 20)
    path = tarred(tmp_path / "bomb.tgz", {"log.jsonl": b" " * (4 << 20)}, "w:gz")
    with pytest.raises(FileFault, match="more than 1,048,576 bytes came through it"):
        read_conversations([path])


def test_other_documents_in_zip_files_are_named(tmp_path):
    for member, what in (("word/document.xml", "a Word document"), ("content.xml", "an OpenDocument file")):
        path = zipped(tmp_path / "a.docx", {member: "<x/>"})
        with pytest.raises(FileFault, match=f"a.docx: this is {what}"):
            read_conversations([path])
