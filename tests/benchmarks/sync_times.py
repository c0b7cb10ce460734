"""How long a sync takes beside git itself, each pair in one run, in turn.

    python tests/benchmarks/sync_times.py [--memories 10000] [--rounds 20] [--directory DIRECTORY]

With nothing to do: as a worker does it in its process, and `memtui sync`, beside `git ls-remote`, of a folder and over ssh.
For the first time, sending and receiving: beside `git clone` of the same tree with its files written.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from memtui.base import paths_hot
from memtui.sync import membership, quick, state, sync

sys.path.insert(0, str(Path(__file__).parents[1]))
from sync.daemon import Daemon

WORDS = "ship tests review branch cache deploy release config index query cursor hook build lint merge".split()


def fill(home, count):
    """Write memories, with their index, as a person's global ones."""
    draw, directory = Random(1), Path(home, ".claude", "memory")
    directory.mkdir(parents=True)
    rows = []
    for number in range(count):
        text = "\n\n".join(" ".join(draw.choices(WORDS, k=30)) + f" {number}." for _ in range(3))
        if number % 25 == 0:  # 18 of 481 memories of 14 real stores speak of one: the search for secrets looks closer
            text += "\n\nThe token comes from the environment."
        head = f"---\nname: m{number}\ndescription: about {draw.choice(WORDS)} {number}\ntype: feedback\n---\n\n"
        (directory / f"m{number}.md").write_text(head + text + "\n")
        rows.append(f"- [m{number}](m{number}.md) - about {number}\n")
    (directory / "MEMORY.md").write_text("".join(rows))


def environment(home):
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def spent(run):
    """The seconds that a run takes, and those of CPU in it, with the processes that it starts."""
    before = sum(os.times()[:4])
    return seconds(run), sum(os.times()[:4]) - before


def first_syncs(place, count):
    """Print how long the first sync of a full and of an empty machine takes, beside a clone."""
    remote = place / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    fill(place / "a", count)
    for name in ("a", "b"):
        env = environment(place / name)
        root = paths_hot.root(env)
        os.sync()  # else this pays for what was written before
        took, cpu = spent(lambda: sync.run(env, membership.join(root, str(remote), name), time.time()))
        clone = ["git", "clone", "-q", "--no-local", "--branch", "memtui", remote]
        # Each into a place of its own: ext4 is slow to give away inodes that were freed a moment ago.
        clones = [spent(lambda n=n: subprocess.run([*clone, place / f"{name}{n}"], check=True)) for n in range(3)]
        cloned, of_clone = map(min, zip(*clones, strict=True))
        verb = "sending" if name == "a" else "receiving"
        print(
            f"{verb:10} {count} memories: {took:5.2f} s, git clone {cloned:5.2f}: {took / cloned:.2f} times; of CPU"
            f" {cpu:.2f} s, {of_clone:.2f}: {cpu / of_clone:.2f} times"
        )


def no_changes(place, remote, rounds, label, git_env=None):
    """Print how long a sync with nothing to do takes, beside `git ls-remote`."""
    home = place / f"c-{label}"
    fill(home, 20)
    env = environment(home) | (git_env or {})
    os.environ.update(git_env or {})
    root = paths_hot.root(env)
    run = lambda: sync.run(env, state.load(root), time.time())
    sync.run(env, membership.join(root, str(remote), label), time.time())
    time.sleep(2 * quick.TICK)
    run()
    ways = {
        "worker": lambda: quick.is_done(env, time.time()) or sys.exit("something changed"),
        "command": lambda: subprocess.run(
            [sys.executable, "-m", "memtui", "sync"], env=env, check=True, capture_output=True
        ),
        "ls-remote": lambda: subprocess.run(
            ["git", "ls-remote", remote, "refs/heads/*"], env=env, check=True, capture_output=True
        ),
    }
    times = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in ways.items():
            times[way].append(seconds(run))
    for way in ("worker", "command"):
        least, middle = ([sorted(times[name])[at] for name in (way, "ls-remote")] for at in (0, rounds // 2))
        print(
            f"no changes, {label:6} {way:8} {least[0] * 1000:6.1f} ms, ls-remote {least[1] * 1000:6.1f}: {least[0] / least[1]:.2f} times"
            f" (median {middle[0] / middle[1]:.2f})"
        )


def main():
    """Print all figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--memories", type=int, default=10_000)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--directory")
    args = options.parse_args()
    with tempfile.TemporaryDirectory(dir=args.directory) as name:
        place = Path(name)
        first_syncs(place, args.memories)
        small = place / "small.git"
        subprocess.run(["git", "init", "-q", "--bare", small], check=True)
        no_changes(place, small, args.rounds, "folder")
        shutil.rmtree(small)
        subprocess.run(["git", "init", "-q", "--bare", small], check=True)
        with Daemon(place / "ssh") as daemon:
            no_changes(place, daemon.url(small), args.rounds, "ssh", daemon.env)


if __name__ == "__main__":
    main()
