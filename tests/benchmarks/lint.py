"""How long a check of memories takes in a repository with a history, and how many of its findings are wrong.

    python tests/benchmarks/lint.py [STORE …] [--labels FILE] [--beside REVISION] [--runs 3]

STORE is a project that has memories, or a directory of memories in one. Without any the benchmark writes a repository
itself: code with a history, memories with faults that later commits made (planted), and memories that look like it.
`--beside` measures the sources of another revision of this repository as well, in turn. Seconds are medians: of wall
time, and of the processor's time in this process and in git; `cold` with no cache, `again` when nothing changed.

A label is a line of memory, words and `planted`, `right` or `wrong`, between tabs: findings of codes that ask git are
counted by them. Without labels only their number is said."""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from revision import REPO, sources

sys.path.insert(0, str(REPO / "tests"))
from tidy.checks.repositories import fast_import, git

CODES = ("memories.path", "memories.symbol", "memories.command")
COMMITS, FILES, NAMES = 400, 60, 8
RUN = """
import json, os, sys, time
from memtui.tidy.checks import lint
began, before = time.perf_counter(), os.times()
findings = lint.check(lint.at(sys.argv[1], "/", time.time(), sys.argv[2]))
spent = sum(os.times()[:4]) - sum(before[:4])
rows = [(each.code, each.data.get("memory"), each.data.get("words")) for each in findings]
print(json.dumps([time.perf_counter() - began, spent, rows]))
"""
# What each memory says of a name or path; and sentences in which neither is a fault, though it is gone.
NOW = (
    "The {n} step is done by `{name}()`.",
    "Run `{path}` after each release.",
    "`{name}` öffnet die Kasse.",
    "レジは `{name}` が開ける。",
)
PAST = (
    *("`{name}()` was replaced in May.", "`{name}` → another one.", "`{name}` wurde entfernt."),
    *("`{name}` a été supprimé.", "`{name}` fue eliminado.", "`{name}` è stato rimosso."),
    *("`{name}` foi removido.", "`{name}` 已删除。", "`{name}` は削除された。", "`{name}`는 삭제되었다."),
    *("The other repository has `{name}()`.", "`{path}` moved to the attic."),
)
LIBRARY = ("useLayoutEffect", "create_engine", "cache_control", "your_api_key")


def write_store(top: Path) -> dict[tuple[str, str], str]:
    """Write a repository with memories; what each finding on them is, by memory and words."""
    chance = random.Random(1)
    name = lambda file, number: f"{chance.choice(('open', 'close', 'count'))}_till_{file}_{number}"
    code = {f"src/part{file % 7}/f{file}.py": [name(file, n) for n in range(NAMES)] for file in range(FILES)}
    draw = lambda names: "".join(f"def {each}(x):\n    return {each.upper()!r}  # {LIBRARY[0]}\n\n\n" for each in names)
    steps = [([], {path: draw(names) + f"{LIBRARY[1]}(1, {LIBRARY[2]}={{}})\n" for path, names in code.items()})]
    gone: list[tuple[str, str]] = []
    for number in range(1, COMMITS):
        path = chance.choice(list(code))
        if number % 13 == 0:  # a name goes
            gone.append((code[path].pop(chance.randrange(len(code[path]))), ""))
        elif number % 37 == 0:  # a file goes, or moves
            gone.append((code[path][0], path))
            target = path.replace("/f", "/moved_f") if number % 2 else ""
            names = code.pop(path)
            code |= {target: names} if target else {}
            steps.append(([number - 1], {path: None} | ({target: draw(names)} if target else {})))
            continue
        else:
            code[path].append(name(number, "new"))
        steps.append(([number - 1], {path: draw(code[path])}))
    fast_import(top, steps)
    git(top, "reset", "-q", "--hard")
    present = [(names[0], path) for path, names in code.items() if names]
    return write_memories(top, gone, present, {each for names in code.values() for each in names})


def write_memories(top, gone, present, names) -> dict[tuple[str, str], str]:
    labels, texts = {}, []
    for number, (name, path) in enumerate(gone):
        say = NOW[1] if path else NOW[number % 4 if number % 4 != 1 else 0]
        if number % 3 and (path or name not in names):
            labels[f"fault-{number}", path or name] = "planted"
        else:
            say = PAST[11] if path else PAST[number // 3 % 11]
        texts.append((f"fault-{number}", say.format(n=number, name=name, path=path)))
    for number, (name, path) in enumerate(present):
        texts.append((f"sound-{number}", f"{NOW[number % 4].format(n=number, name=name, path=path)} See `{path}`."))
    texts += [(f"library-{each.lower()}", f"Pages call `{each}` first.") for each in LIBRARY]
    memories = top / ".claude/memory"
    memories.mkdir(parents=True)
    for stem, text in texts:
        (memories / f"{stem}.md").write_text(f"---\nname: {stem}\ndescription: About {stem}\n---\n\n{text}\n")
    (memories / "MEMORY.md").write_text("".join(f"- [{stem}]({stem}.md) — about it\n" for stem, _ in texts))
    return labels


def check(source: Path, store: Path, root: Path) -> tuple[float, float, list[list[str]]]:
    """Check a store in a process of its own: seconds of wall time and of the processor, and the findings."""
    root.mkdir(exist_ok=True)  # where there is no home, nothing is kept
    words = [sys.executable, "-c", RUN, str(store), str(root)]
    done = subprocess.run(words, env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE)
    done.check_returncode()
    return tuple(json.loads(done.stdout))


def report(side: str, times: dict[str, list[tuple[float, float]]], rows, labels) -> None:
    """Print the line of one side: times, findings by code, and what the labels say of them."""
    for state, spent in times.items():
        wall, processor = (statistics.median(column) for column in zip(*spent, strict=True))
        print(f"{side:8} {state:6} {wall:8.2f} s  {processor:8.2f} s of the processor")
    asked = {(memory, words) for code, memory, words in rows if code in CODES}
    counts = ", ".join(f"{sum(row[0] == code for row in rows)} {code.partition('.')[2]}" for code in CODES)
    print(f"{side:8} {counts}; {len(rows)} findings in all")
    if labels:
        planted = {key for key, label in labels.items() if label == "planted"}
        wrong = {key for key in asked if labels.get(key, "wrong") == "wrong"}
        print(f"{side:8} planted {len(asked & planted)} of {len(planted)}, wrong {len(wrong)} of {len(asked)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", type=Path)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--beside", metavar="REVISION")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        base, labels = Path(directory), {}
        if options.labels:
            rows = (line.split("\t") for line in options.labels.read_text().splitlines())
            labels = {(memory, words): label for memory, words, label in rows}
        if not options.stores:
            options.stores, labels = [base / "store"], write_store(base / "store")
        sides = {"here": REPO / "src"}
        if options.beside:
            sides["beside"] = sources(options.beside, base / "beside")
        for store in options.stores:
            print(f"{store.name}: {len(list(store.rglob('memory/*.md')))} files of memories")
            times = {side: {"cold": [], "again": []} for side in sides}
            for run in range(options.runs):
                for side, source in sides.items():
                    for state in ("cold", "again"):
                        *spent, rows = check(source, store.resolve(), base / f"{store.name}-{side}-{run}")
                        times[side][state].append(spent)
                        if run == options.runs - 1 and state == "again":
                            report(side, times[side], rows, labels)


if __name__ == "__main__":
    main()
