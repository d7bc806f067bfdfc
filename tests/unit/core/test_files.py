"""Small files that are read whole, and how paths are shown."""

import os

import pytest

from dialogauge.core import ConfigError, read_text, shown_path


def test_a_path_is_shown_with_the_bytes_that_are_not_utf8():
    assert shown_path("caf\udce9/é/😀\n") == "caf\\xe9/é/😀\n"
    assert shown_path("\ud800") == "\\ud800"


def test_a_byte_order_mark_is_no_text(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\n")
    assert read_text(path, "file") == "a = 1\r\n"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"a = 1\nb = 'caf\xe9'\n", r"a\.toml:2: the file is not UTF-8: byte 0xe9 .*iconv"),
        ("a = 1".encode("utf-16"), r"a\.toml:1: the file is not UTF-8"),
        (b"x" * 2000, "the file is larger than"),
    ],
)
def test_what_is_no_small_text_is_refused(tmp_path, monkeypatch, content, why):
    monkeypatch.setattr("dialogauge.core.files.LARGEST_FILE", 1000)
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=why):
        read_text(path, "file")


@pytest.mark.parametrize("path", ["/dev/zero", ".", "a\0b", "x" * 300, "nowhere", "\ud800"])
def test_what_is_no_file_is_refused(path):
    with pytest.raises(ConfigError, match="the file cannot be read: "):
        read_text(path, "file")


def test_a_pipe_is_read_once_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="the file cannot be read: it comes through a pipe"):
        read_text(tmp_path / "pipe", "file", again=True)
