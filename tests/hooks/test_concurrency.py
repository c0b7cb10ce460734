"""Eight writers with 500 appends each, while guidance is delivered, withdrawn and settled: every entry ends up in one
place."""

import json
import os
import random
import time
from collections import Counter

import pytest
from killing import NONE, TOKEN, TOLD, Child, Session, World, without

from memtui.base import fastjson_hot, fs_hot
from memtui.deliver import log_hot
from memtui.inbox import file_hot, format_hot, reconciliation_hot
from waiting import eventually

APPENDS = 500
SEED = 4


def token(writer, number):
    return f"note-{writer * 1000 + number}-{writer:08x}"


def halfway(begun):
    """Until all who take something out have begun: else the writers may be done before, on a quick disk."""
    assert eventually(lambda: all(os.path.exists(each) for each in begun))


def append_with_memtui(directory, writer, begun):
    for number in range(APPENDS):
        if number == APPENDS // 2:
            halfway(begun)
        file_hot.add_entry(directory, "guidance", {"from": f"writer-{writer}"}, "told " + token(writer, number))


def append_by_hand(directory, writer, begun):
    """As a shell does it: open, write, close, and no lock. Every other writer keeps the file open for ten lines."""
    number = 0
    while number < APPENDS:
        if number == APPENDS // 2:
            halfway(begun)
        fd = os.open(directory + "/guidance.md", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        for _ in range(10 if writer % 2 else 1):
            os.write(fd, f"by hand {token(writer, number)}\n".encode())
            number += 1
            time.sleep(0.0005)
        os.close(fd)


def begin(report):
    os.close(os.open(begun_at(report), os.O_CREAT))


def begun_at(report):
    return report + "-begun"


def withdraw(directory, report, stop):
    """As a person who looks through the inbox: takes out a few entries, and notes what was taken out."""
    chance = random.Random(SEED)
    path = directory + "/guidance.md"
    gone = []
    while not os.path.exists(stop):
        removed = []

        def change(source):
            entries = format_hot.parse(source)
            chosen = chance.sample(entries, min(len(entries), 3))
            removed[:] = [t for e in chosen for t in TOKEN.findall(e.text)]
            return without(source, {e.id for e in chosen})

        try:
            if file_hot.rewrite(path, change):
                gone.extend(removed)
                if len(gone) >= 20:
                    begin(report)
        except fs_hot.LockTimeoutError:
            pass
        time.sleep(0.01)
    fs_hot.write_atomic(report, "\n".join(gone).encode())


def prompt_on(world, mode, report, stop):
    """Sessions with prompts and tools, one after the other."""
    session = Session(world, mode)
    for number in range(10_000):
        if os.path.exists(stop):
            break
        if number % 20 == 19:
            session = Session(world, mode)
        session.prompt("PreToolUse" if number % 4 == 3 else "UserPromptSubmit")
        if len(world.shown) >= 50:
            begin(report)
    fs_hot.write_atomic(report, json.dumps(world.shown).encode())


def settle_on(world, stop):
    while not os.path.exists(stop):
        reconciliation_hot.reconcile(world.env, world.root)
        time.sleep(0.02)


def test_what_an_editor_saves_while_a_rewrite_thinks_is_kept(tmp_path):
    path = str(tmp_path / "guidance.md")
    fs_hot.append(path, b"withdrawn\n")

    def change(source):
        if "edited" not in source:
            fs_hot.write_atomic(path, format_hot.encode(source + "edited\n"))
        return source.replace("withdrawn\n", "")

    assert file_hot.rewrite(path, change)
    assert fs_hot.read_bytes(path) == b"edited\n"


@pytest.mark.kill
def test_eight_writers_while_guidance_is_delivered_withdrawn_and_settled(tmp_path):
    print("seed", SEED)
    world = World(str(tmp_path), SEED)
    directory = world.inboxes[0]
    os.makedirs(directory)
    stop, place = str(tmp_path / "stop"), str(tmp_path / "report-")
    begun = [begun_at(place + name) for name in ("withdrawn", "0", "1")]
    writers = [Child(lambda n=n: append_with_memtui(directory, n, begun)) for n in range(4)]
    writers += [Child(lambda n=n: append_by_hand(directory, n, begun)) for n in range(4, 8)]
    readers = [Child(lambda: withdraw(directory, place + "withdrawn", stop)), Child(lambda: settle_on(world, stop))]
    for number, mode in enumerate((TOLD, NONE)):

        def prompts(number=number, mode=mode):
            world.random.seed(SEED + 1 + number)
            prompt_on(world, mode, f"{place}{number}", stop)

        readers.append(Child(prompts))
    try:
        for child in writers:
            child.wait()
        time.sleep(0.3)
    finally:
        os.close(os.open(stop, os.O_CREAT))
        for child in readers:
            child.wait()
    world.settle(61)
    world.settle(4000)
    assert world.claimed() == []

    waiting = Counter(t for e in world.waiting() for t in TOKEN.findall(e.text))
    withdrawn = Counter(fs_hot.read_bytes(place + "withdrawn").decode().split())
    delivered = Counter()
    for number in range(2):
        shown = fastjson_hot.loads_dict(fs_hot.read_bytes(f"{place}{number}"))
        delivered.update({name: len(times) for name, times in shown.items()})
    written = Counter({token(writer, number): 1 for writer in range(8) for number in range(APPENDS)})
    story = f"{len(waiting)} wait, {len(withdrawn)} withdrawn, {len(delivered)} delivered"
    print(story)
    assert waiting + withdrawn + delivered == written
    assert len(delivered) >= 100
    assert len(withdrawn) >= 20

    if os.path.exists(world.root + "/log/errors.jsonl"):  # on a busy machine a hook can be late, and loses nothing
        errors = fs_hot.read_bytes(world.root + "/log/errors.jsonl").splitlines()
        assert [error for error in errors if b'"LateError"' not in error] == []
    records = list(log_hot.newest_first(world.root))
    assert len({record["id"] for record in records}) == len(records)
    assert Counter(t for record in records for t in TOKEN.findall(record["text"])) == delivered
