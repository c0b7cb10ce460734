"""How memories of two machines merge: git alone, git with `merge=union`, and memtui, on the same random edits.

    python tests/benchmarks/merge.py DIRECTORY... [--pairs 300] [--seed 1]

Each pair takes a store of memories, and makes three changes on each of two sides: a field, a word or a paragraph of a body, a new
memory with its line, a deletion. Judged by what each side said: right means that each statement is there once, deleted ones are
gone, no mark is in a text, and the index has one line for each memory.
"""

import argparse
import collections
import shutil
import subprocess
import tempfile
from pathlib import Path
from random import Random

from memtui.sync import trees

GIT = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]


def tree_of(directory):
    """A store's memories and index by relative path."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*.md"))
        if path.is_file()
    }


def changed(draw, tree, side):
    """A tree with three changes; (tree, statements added, statements gone)."""
    tree, added, gone = dict(tree), set(), set()
    for number in range(3):
        paths = [path for path in tree if not path.endswith("MEMORY.md")]
        path = draw.choice(paths)
        word = f"zq{side}{number}{draw.randrange(10**6)}"
        kind = draw.choice(["field", "word", "paragraph", "new", "delete"])
        text = tree[path].decode("utf-8", "surrogateescape")
        if kind == "field" and "\ndescription:" in text:
            head, _, rest = text.partition("\ndescription:")
            line, _, below = rest.partition("\n")
            text = f"{head}\ndescription: {word}{line}\n{below}"
            added.add(word)
        elif kind == "word":
            lines = text.split("\n")
            places = [at for at, line in enumerate(lines) if len(line.split()) > 4 and at > 6]
            if not places:
                continue
            at = draw.choice(places)
            lines[at] += f" {word}"
            text = "\n".join(lines)
            added.add(word)
        elif kind == "paragraph":
            text = text.rstrip("\n") + f"\n\n{word} is a new paragraph.\n"
            added.add(word)
        elif kind == "new":
            path = f"{word}.md"
            text = f"---\nname: {word}\ndescription: d\ntype: user\n---\n\n{word}body.\n"
            index = tree.get("MEMORY.md", b"")
            end = b"" if not index or index.endswith(b"\n") else b"\n"
            tree["MEMORY.md"] = index + end + f"- [{word}]({word}.md) - line\n".encode()
            added.add(f"{word}body")
        elif kind == "delete" and len(paths) > 3 and "zq" not in text:
            del tree[path]
            name = path.rpartition("/")[2].encode()
            rows = tree.get("MEMORY.md", b"").splitlines(True)
            tree["MEMORY.md"] = b"".join(
                row for row in rows if b"(" + path.encode() + b")" not in row and b"(" + name + b")" not in row
            )
            gone.add(path)
            continue
        else:
            continue
        tree[path] = text.encode("utf-8", "surrogateescape")
    return tree, added, gone


def by_git(base, ours, theirs, union):
    """What git makes of it: (tree, whether it reports a conflict)."""
    with tempfile.TemporaryDirectory() as place:

        def run(*words, check=True):
            return subprocess.run([*GIT, *words], cwd=place, capture_output=True, check=check)

        def write(tree, message):
            for path in Path(place).iterdir():
                if path.name != ".git":
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            for name, data in tree.items():
                path = Path(place, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            if union:
                Path(place, ".gitattributes").write_text("*.md merge=union\n")
            run("add", "-A")
            run("commit", "-qm", message, "--allow-empty")

        run("init", "-q", "-b", "main")
        write(base, "base")
        run("checkout", "-qb", "theirs")
        write(theirs, "theirs")
        run("checkout", "-q", "main")
        write(ours, "ours")
        merged = run("merge", "-q", "--no-edit", "theirs", check=False)
        return tree_of(Path(place)), merged.returncode != 0


def judge(tree, added, gone, edited, conflict, aside=""):
    """(right, lost, doubled, conflict) of a merge; what is `aside`, with a conflict, is not lost."""
    text = b"\n".join(data for path, data in tree.items() if not path.endswith("MEMORY.md")).decode("utf-8", "replace")
    index = tree.get("MEMORY.md", b"").decode("utf-8", "replace")
    lost = sum(word not in text + aside for word in added)
    doubled = sum(text.count(word) > 1 for word in added if word.endswith("body"))
    doubled += sum(index.count(f"({path})") > 1 for path in tree)
    back = sum(path in tree and path not in edited for path in gone)
    rows = sum(f"({path})" in index and path not in tree for path in gone)
    marks = "<<<<<<<" in text + index
    return not (lost or doubled or back or rows or marks or conflict), lost, doubled, conflict


def main():
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("directories", nargs="+", type=Path)
    options.add_argument("--pairs", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    args = options.parse_args()
    stores = [tree for tree in map(tree_of, args.directories) if len(tree) > 3]
    draw = Random(args.seed)
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for _ in range(args.pairs):
        base = draw.choice(stores)
        (ours, new, gone), (theirs, more, others) = changed(draw, base, "a"), changed(draw, base, "b")
        edited = {path for path in base for side in (ours, theirs) if path in side and side[path] != base[path]}
        merged = trees.merge(
            {f"s/{k}": v for k, v in base.items()},
            {f"s/{k}": v for k, v in ours.items()},
            {f"s/{k}": v for k, v in theirs.items()},
        )
        ways = {
            "git": (*by_git(base, ours, theirs, False), ""),
            "merge=union": (*by_git(base, ours, theirs, True), ""),
            "memtui": (
                {path[2:]: data for path, data in merged.tree.items()},
                bool(merged.conflicts),
                " ".join(conflict.other for conflict in merged.conflicts),
            ),
        }
        for way, (tree, conflict, aside) in ways.items():
            for at, value in enumerate(judge(tree, new | more, gone | others, edited, conflict, aside)):
                sums[way][at] += value
    print(f"{args.pairs} pairs of {len(stores)} stores, three changes on each side\n")
    print(f"{'':12} {'right':>6} {'lost':>6} {'doubled':>8} {'conflicts':>10}")
    for way, (right, lost, doubled, conflicts) in sums.items():
        print(f"{way:12} {right:6} {lost:6} {doubled:8} {conflicts:10}")


if __name__ == "__main__":
    main()
