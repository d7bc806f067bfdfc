"""A process that is killed while it writes loses nothing that it said was stored."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from dialogauge.runs import RunDirectory
from talks import JUDGE_DIGEST, judged_rows, talk, unit_of

_WRITE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from talks import judged_rows, talk, unit_of
from dialogauge.runs import RunDirectory
database = RunDirectory(Path(sys.argv[1])).open_for_writing("judge")
for number in range(1, 1 << 30):
    conversation = talk("u: a", "a: b", id=f"c{number}")
    unit = unit_of(conversation, position=number)
    database.add(unit, judged_rows(conversation))
    if not database._pending:
        print(number, flush=True)
"""


def test_nothing_stored_is_lost_and_nothing_doubled(tmp_path: Path) -> None:
    tests = str(Path(__file__).resolve().parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", _WRITE, str(tmp_path), tests], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = [int(process.stdout.readline()) for _ in range(4)]
        process.send_signal(signal.SIGKILL)
        said += [int(line) for line in process.stdout if line.endswith("\n")]
    assert process.returncode == -signal.SIGKILL

    directory = RunDirectory(tmp_path)
    database = directory.open_for_writing("judge")
    held = database.finished(JUDGE_DIGEST)
    assert len(held) >= said[-1]
    units = [unit_of(talk("u: a", "a: b", id=f"c{n}"), position=n) for n in range(1, len(held) + 301)]
    assert all(bytes.fromhex(u.key) in held for u in units[: said[-1]]), "what was said to be stored is there"
    for unit in units:
        if bytes.fromhex(unit.key) not in held:
            rows = judged_rows(unit.conversation)
            database.add(unit, rows)
    database.flush()
    found = [u.rows[0]["conversation_id"] for u in database.units(JUDGE_DIGEST)]
    assert found == [u.conversation.id for u in units]
    assert [c.id for c in database.conversations()] == found
    database.close()
    directory.release()


def test_a_run_that_was_killed_can_be_read_at_once(tmp_path: Path) -> None:
    tests = str(Path(__file__).resolve().parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", _WRITE, str(tmp_path), tests], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    reader = RunDirectory(tmp_path).open_for_reading()
    assert len(reader.finished(JUDGE_DIGEST)) >= said
    reader.close()
