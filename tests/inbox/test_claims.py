"""Guidance is taken by one hook only, for whom it is meant, and what is not taken stays."""

import os

import pytest

from memtui.base import fs_hot, ids_hot
from memtui.inbox import claims_hot, file_hot, format_hot
from tables import rows

NOW = 1795219200.0
SESSION = "2581a30a-f827-46a4-a54f-1c2be567828b"


@pytest.fixture
def box(tmp_path):
    return str(tmp_path / "memtui" / "global")


def recipient(**more):
    found = claims_hot.Recipient(SESSION, more.pop("agent", ""), "/w/shop", NOW)
    for key, value in more.items():
        setattr(found, key, value)
    return found


def leave(box, text, **fields):
    return file_hot.add_entry(box, "guidance", {k.rstrip("_"): v for k, v in fields.items()}, text, now=NOW)


def take(box, who=None, fits=lambda entry: True):
    return claims_hot.take(box, who or recipient(), ids_hot.new_id(NOW), fits)


def texts(claim):
    return [entry.text for entry, _ in claim.entries] if claim else []


def waiting(box):
    return [entry.text for entry in format_hot.read(box + "/guidance.md")]


def names_claimed(box):
    return sorted(os.listdir(box + "/claimed")) if os.path.isdir(box + "/claimed") else []


@pytest.mark.parametrize(("fields", "who", "reason"), rows(__file__, "guidance is for whom its fields say"))
def test_guidance_is_for_whom_its_fields_say(fields, who, reason):
    entry = format_hot.parse(format_hot.render({"id": "x", **fields}, "text"))[0]
    assert claims_hot.addressed(entry, recipient(**who)) == reason


def test_what_is_taken_is_in_the_claim_alone_and_no_lock_is_waited_for(box):
    leave(box, "CI is red")
    fs_hot.append(box + "/guidance.md", b"by hand\n")
    claim = take(box)
    assert texts(claim) == ["CI is red", "by hand"]
    assert (waiting(box), names_claimed(box)) == ([], [claim.name])
    assert claim.name.split("~")[1:] == [SESSION, f"{os.getpid()}.md"]
    assert claim.size == os.path.getsize(claim.path)
    assert [row[0] for row in file_hot.claimed(box)] == [claim.name]
    assert take(box) is None
    leave(box, "CI is red")
    with fs_hot.Lock(box + "/.lock", 0):
        assert take(box) is None
    assert texts(take(box)) == ["CI is red"]


def test_what_is_for_others_goes_back_as_it_stood(box):
    fs_hot.append(box + "/guidance.md", b"<!-- memtui id=a  for=agent:bob odd -->\r\n  one\r\n<!-- /memtui -->\r\n")
    leave(box, "mine")
    leave(box, "too long")
    leave(box, "late", expires="2020-01-01")
    before = fs_hot.read_bytes(box + "/guidance.md")
    assert texts(take(box, fits=lambda entry: entry.text != "too long")) == ["mine"]
    (mine,) = [e.raw for e in format_hot.parse(format_hot.decode(before)) if e.text == "mine"]
    assert fs_hot.read_bytes(box + "/guidance.md") == before.replace(mine.encode(), b"")


def test_where_nothing_is_due_or_can_be_delivered_nothing_is_touched(box):
    assert take(box) is None
    assert not os.path.exists(box)
    leave(box, "for bob", for_="agent:bob")
    inode = os.stat(box + "/guidance.md").st_ino
    assert take(box) is None
    assert take(box, recipient(agent="bob"), fits=lambda entry: False) is None
    assert (os.stat(box + "/guidance.md").st_ino, names_claimed(box)) == (inode, [])
    for data in (b"\x00\x01\x02 binary\n", b"x" * (format_hot.MAX_BYTES + 1)):
        fs_hot.write_atomic(box + "/guidance.md", data)
        assert take(box) is None
        assert fs_hot.read_bytes(box + "/guidance.md") == data


@pytest.mark.parametrize("make", [os.mkdir, lambda path: os.symlink("elsewhere.md", path)])
def test_what_is_no_file_is_an_error_and_stays(box, make):
    fs_hot.append(box + "/elsewhere.md", b"CI is red\n")
    make(box + "/guidance.md")
    with pytest.raises(OSError):
        take(box)
    assert os.path.lexists(box + "/guidance.md")
    assert names_claimed(box) == []


def test_put_back_and_dropped_a_claim_leaves_what_was_there_and_came_since(box):
    leave(box, "CI is red")
    claim = take(box)
    with open(claim.path, "ab") as late:
        late.write(b"appended by one who had the file open\n")
    claims_hot.put_back(box, [entry for entry, _ in claim.entries])
    claims_hot.drop(claim)
    assert (waiting(box), names_claimed(box)) == (["CI is red", "appended by one who had the file open"], [])


def test_only_claims_are_listed(box):
    fs_hot.makedirs(box + "/claimed")
    good = f"{ids_hot.new_id(NOW)}~{SESSION}~17.md"
    for name in (good, "x.md", f"{ids_hot.new_id(NOW)}~s~².md", f"{ids_hot.new_id(NOW)}~s.md", "short~s~1.md", ".tmp"):
        fs_hot.append(f"{box}/claimed/{name}", b"x\n")
    assert [(name, session, pid) for name, _, session, pid in file_hot.claimed(box)] == [(good, SESSION, 17)]
