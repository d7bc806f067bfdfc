from __future__ import annotations

import hashlib

import pytest

from dialogauge.core import ConfigError, UsageError
from dialogauge.data import read_split, split_users

# PT-01 of the acceptance cases: the published split of the 112 users that have a block.
PUBLISHED_TRAIN = (1, 10, 110, 14, 15, 17, 23, 30, 43, 44, 51, 61, 64, 72, 76, 77, 81, 87, 89, 90, 94, 99)
PUBLISHED_TEST = "ab03454eeda222ebfbfdebd034294e7cbfc7232b978b19c6f8820dce71ea7419"


def test_published_split_comes_out() -> None:
    users = [f"User_{i}" for i in range(115) if i not in (12, 18, 69)]
    split = split_users(users)
    assert split.train == {f"User_{i}" for i in PUBLISHED_TRAIN}
    assert len(split.test) == 90
    text = "\n".join(sorted(split.test))
    assert hashlib.sha256(text.encode()).hexdigest() == PUBLISHED_TEST


@pytest.mark.parametrize("n", [5, 7, 10, 23, 112])
@pytest.mark.parametrize("seed", [0, 42])
def test_equals_sklearn(n: int, seed: int) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    groups = [f"u{i % n}" for i in range(4 * n)]
    splitter = selection.GroupShuffleSplit(n_splits=1, train_size=0.2, random_state=seed)
    train, test = next(splitter.split(groups, groups=groups))
    split = split_users(groups, seed=seed)
    assert split.train == {groups[i] for i in train}
    assert split.test == {groups[i] for i in test}


def test_too_few_users_are_refused() -> None:
    with pytest.raises(UsageError, match=r"4 users cannot be split.*--split all"):
        split_users(["a", "b", "c", "d"])


def test_a_file_wins(tmp_path) -> None:
    file = tmp_path / "split.json"
    file.write_text('{"train": ["a", 1], "test": ["b"]}')
    assert read_split(str(file)).train == {"a", "1"}
    file.write_text('{"test": ["b"]}')
    assert read_split(str(file)).train == frozenset()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "does not hold lists"),
        ('{"train": "abc"}', "does not hold lists"),
        ("{", "it is not JSON: unexpected end of data in line 1"),
        ('{"train": ["a"], "test": ["a"]}', "in both lists: a"),
        ('{"train": ["a", "\\ud800"]}', "it is not JSON: .*surrogate.* in line 1"),
        ('{"train": ["a", true]}', "does not hold lists"),
        ('{"train": [["a"]]}', "does not hold lists"),
        ('{"train": [NaN]}', "it is not JSON"),
        ("[" * 5000, "it is not JSON"),
    ],
)
def test_faulty_files_are_refused(tmp_path, text: str, said: str) -> None:
    file = tmp_path / "split.json"
    file.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_split(str(file))


def test_missing_file_is_refused(tmp_path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        read_split(str(tmp_path / "none.json"))


def test_encodings_are_named_with_file_and_line(tmp_path) -> None:
    file = tmp_path / "split.json"
    file.write_bytes(b'\xef\xbb\xbf{"train": ["a"]}')
    assert read_split(str(file)).train == {"a"}
    file.write_bytes('{"train":\n ["caf\xe9"]}'.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"split.json:2: the split file is not UTF-8: byte 0xe9 .*iconv"):
        read_split(str(file))
    for path in ("/dev/zero", str(tmp_path), "a\0b", "x" * 300):
        with pytest.raises(ConfigError, match="the split file cannot be read"):
            read_split(path)
