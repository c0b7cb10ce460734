"""Files: bounded reads, whole appends, atomic rewrites, locks."""

import os
import posix
import stat
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import fs_hot


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def base(tmp_path):
    return str(tmp_path)


def test_reads_are_bounded_and_a_missing_file_fails_or_is_empty_as_asked(base):
    with open(base + "/f", "wb") as file:
        file.write(b"0123456789" * 300_000)
    assert (len(fs_hot.read_bytes(base + "/f")), fs_hot.read_bytes(base + "/f", 5)) == (3_000_000, b"01234")
    assert fs_hot.read_bytes(base + "/f", 3, offset=4) == b"456"
    assert fs_hot.read_bytes(base + "/f", offset=2_999_999) == b"9"
    assert (fs_hot.read_bytes(base + "/f", offset=5_000_000), fs_hot.read_bytes(base + "/f", 0)) == (b"", b"")
    assert len(fs_hot.read_bytes(base + "/f", 2_500_000)) == 2_500_000
    with pytest.raises(FileNotFoundError):
        fs_hot.read_bytes(base + "/none")
    assert fs_hot.read_or_empty(base + "/none") == b""
    with pytest.raises(OSError):
        fs_hot.read_or_empty(base)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_regular_file_is_refused_at_once(base, make):
    make(base + "/odd")
    before = time.monotonic()
    with pytest.raises(OSError):
        fs_hot.read_bytes(base + "/odd")
    with pytest.raises(OSError):
        fs_hot.append(base + "/odd", b"lost for ever\n")
    assert time.monotonic() - before < 30


def test_an_append_makes_all_private_or_is_an_error_where_nothing_can_be(base):
    fs_hot.append(base + "/a/b/c.log", b"one\n")
    fs_hot.append(base + "/a/b/c.log", b"two\n")
    assert fs_hot.read_bytes(base + "/a/b/c.log") == b"one\ntwo\n"
    assert (mode(base + "/a"), mode(base + "/a/b"), mode(base + "/a/b/c.log")) == (0o700, 0o700, 0o600)
    # A torn last line costs one line and not two.
    fs_hot.append(base + "/log", b'{"torn": ')
    fs_hot.append(base + "/log", b"whole\n")
    assert fs_hot.read_bytes(base + "/log") == b'{"torn": \nwhole\n'
    os.symlink("nowhere", base + "/gone")
    fs_hot.append(base + "/file", b"x")
    for path in ("/gone/x", "/gone/x/y/z", "/file/x"):
        with pytest.raises(OSError):
            fs_hot.append(base + path, b"x\n")


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from memtui.base import fs_hot
try:
    {call}
except OSError as error:
    print("OSError", error.errno)
"""


def limited(call):
    """Run one call where no file may grow beyond 100 bytes, as on a disk that is full."""
    done = subprocess.run([sys.executable, "-c", LIMITED.format(call=call)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_on_a_full_disk_an_append_is_an_error_and_leaves_no_half(base):
    fs_hot.append(base + "/log", b"x" * 59 + b"\n")
    assert "OSError" in limited(f"fs_hot.append({base + '/log'!r}, b'y' * 79 + b'\\n')")
    assert fs_hot.read_bytes(base + "/log") == b"x" * 59 + b"\n"
    assert limited(f"fs_hot.append({base + '/log'!r}, b'y' * 39 + b'\\n')") == ""
    assert len(fs_hot.read_bytes(base + "/log")) == 100


def test_a_failed_rewrite_keeps_the_old_file_and_leaves_no_temporary_one(base):
    fs_hot.append(base + "/f", b"old\n")
    assert "OSError" in limited(f"fs_hot.write_atomic({base + '/f'!r}, b'y' * 200)")
    assert fs_hot.read_bytes(base + "/f") == b"old\n"
    os.mkdir(base + "/g")
    with pytest.raises(OSError):
        fs_hot.write_atomic(base + "/g", b"x")
    assert sorted(os.listdir(base)) == ["f", "g"]


def test_appends_of_many_processes_do_not_mix(base):
    code = (
        "import sys\nfrom memtui.base import fs_hot\n"
        "for n in range(200): fs_hot.append(sys.argv[1], (sys.argv[2] * 100 + '\\n').encode())"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, base + "/log", letter]) for letter in "abcd"]
    assert [writer.wait() for writer in writers] == [0] * 4
    # A writer that meets another one in the middle of its write may leave a blank line; readers pass over those.
    lines = [line for line in fs_hot.read_bytes(base + "/log").split(b"\n") if line]
    assert sorted(lines) == sorted(letter.encode() * 100 for letter in "abcd" for _ in range(200))


def test_a_rewrite_keeps_the_mode_of_the_file_it_replaces(base):
    fs_hot.write_atomic(base + "/new", b"1")
    assert mode(base + "/new") == 0o600
    os.chmod(base + "/new", 0o640)
    fs_hot.write_atomic(base + "/new", b"2")
    assert (mode(base + "/new"), fs_hot.read_bytes(base + "/new")) == (0o640, b"2")
    fs_hot.write_atomic(base + "/sub/dir/f", b"3", durable=False)
    assert (fs_hot.read_bytes(base + "/sub/dir/f"), sorted(os.listdir(base))) == (b"3", ["new", "sub"])


HOLD = """
import sys
from memtui.base import fs_hot
with fs_hot.Lock(sys.argv[1], 5):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    return holder


def let_go(holder):
    holder.stdin.close()
    holder.stdout.close()
    holder.wait()


def test_a_lock_wait_ends_in_time_and_a_killed_process_holds_no_lock(base):
    holder = hold(base + "/deep/lock")
    before = time.monotonic()
    with pytest.raises(fs_hot.LockTimeoutError), fs_hot.Lock(base + "/deep/lock", 0.05):
        pass
    assert 0.04 < time.monotonic() - before < 30
    with pytest.raises(OSError), fs_hot.Lock(base + "/deep/lock", 0):
        pass
    let_go(holder)
    with fs_hot.Lock(base + "/deep/lock", 0):
        pass
    killed = hold(base + "/lock")
    killed.kill()
    let_go(killed)
    with fs_hot.Lock(base + "/lock", 0):
        pass


@given(st.binary(max_size=50), st.integers(-1, 60), st.integers(0, 60))
def test_the_bytes_of_a_file_from_a_place_to_a_limit(tmp_path_factory, data, limit, offset):
    path = tmp_path_factory.getbasetemp() / "some"
    path.write_bytes(data)
    wanted = data[offset:] if limit < 0 else data[offset : offset + limit]
    assert fs_hot.read_bytes(str(path), limit, offset) == wanted


def test_what_the_disk_does_not_confirm_is_taken_off_or_said_to_be_there(base, monkeypatch):
    def fails(*_):
        raise OSError(5, "Input/output error")

    path = base + "/notes"
    fs_hot.append(path, b"one\n", durable=True)
    with monkeypatch.context() as patch:
        patch.setattr(posix, "fsync", fails)
        with pytest.raises(OSError, match="Input") as told:
            fs_hot.append(path, b"two\n", durable=True)
        assert not isinstance(told.value, fs_hot.KeptError)
        assert fs_hot.read_bytes(path) == b"one\n"
        patch.setattr(posix, "ftruncate", fails)
        with pytest.raises(fs_hot.KeptError):
            fs_hot.append(path, b"two\n", durable=True)
    assert fs_hot.read_bytes(path) == b"one\ntwo\n"
