"""Two machines change the same memories: nothing is lost, nothing doubled, no marker is written."""

import json
from collections import Counter
from functools import partial
from random import Random

import pytest

from memtui.store.frontmatter import document
from memtui.sync import merge, sync, trees
from memtui.sync.repository import FileWriter

MEMORY = b"""---
name: ship
description: How we ship
metadata:
  type: project
  modified: 1
---

Ship on Tuesdays.

Ask Jo before a migration runs.

- run the tests
- tag the commit
"""


def test_fields_paragraphs_and_points_are_merged_each_for_itself():
    ours = MEMORY.replace(b"type: project", b"type: feedback").replace(b"on Tuesdays", b"on Thursdays")
    theirs = (
        MEMORY.replace(b"Ask Jo", b"Ask Ann").replace(b"commit\n", b"commit\n- tell the team\n") + b"\nNo Fridays.\n"
    )
    merged = merge.merge_memory(MEMORY, ours, theirs, "ship.md")
    wanted = theirs.replace(b"type: project", b"type: feedback").replace(b"on Tuesdays", b"on Thursdays")
    assert merged == merge.Merge(wanted)
    assert merge.merge_memory(MEMORY, theirs, ours, "ship.md", ours_stand=False) == merged


SEVERAL = b"---\ntags:\n  - till\nowners:\n  - jo\n---\n\nShip on Tuesdays.\n"


@pytest.mark.parametrize(
    ("base", "first", "second"),
    [
        (SEVERAL, (b"- till", b"- shop"), (b"- jo", b"- ann")),
        (MEMORY, (b"type: project", b"type: tool"), (b"modified: 1", b"modified: 2")),
        (MEMORY.replace(b"\n", b"\r\n"), (b"Jo", b"Ann"), (b"Ship on", b"We ship on")),
    ],
)
def test_what_each_changed_is_merged_for_itself(base, first, second):
    merged = merge.merge_memory(base, base.replace(*first), base.replace(*second), "ship.md")
    assert merged == merge.Merge(base.replace(*first).replace(*second))


def test_what_both_changed_stands_once_and_the_other_is_returned():
    ours, theirs = MEMORY.replace(b"on Tuesdays", b"on Mondays"), MEMORY.replace(b"on Tuesdays", b"on Sundays")
    for args, stand in (((ours, theirs), True), ((theirs, ours), False)):
        merged = merge.merge_memory(MEMORY, *args, "ship.md", ours_stand=stand)
        assert merged.data == ours
        assert [(row.stands, row.other) for row in merged.conflicts] == [("Ship on Mondays.", "Ship on Sundays.")]


def test_the_index_has_the_line_of_the_memory_that_stands():
    base, ours, theirs = (
        {"global/a.md": b"%s\n" % text, "global/MEMORY.md": b"- [A](a.md) - %s\n" % text}
        for text in (b"Run the tests", b"Run make", b"Run make all")
    )
    for side in (ours, theirs):
        merged = trees.merge(base, ours, theirs, lambda path, side=side: (side is ours) == path.endswith("a.md"))
        assert merged.tree == side


def test_a_paragraph_that_one_deleted_and_the_other_changed_stands():
    ours = MEMORY.replace(b"Ask Jo before a migration runs.\n\n", b"")
    theirs = MEMORY.replace(b"Ask Jo", b"Ask Ann")
    merged = merge.merge_memory(MEMORY, ours, theirs, "ship.md")
    assert b"Ask Ann" in merged.data
    assert [row.other for row in merged.conflicts] == [""]


def test_a_paragraph_that_moved_is_there_once_with_the_others_change():
    ours = MEMORY.replace(b"Ship on Tuesdays.\n\n", b"") + b"\nShip on Tuesdays.\n"
    theirs = MEMORY.replace(b"on Tuesdays", b"on Thursdays")
    merged = merge.merge_memory(MEMORY, ours, theirs, "ship.md")
    assert merged.data.count(b"Ship on") == 1
    assert merged.data.endswith(b"\nShip on Thursdays.\n")
    ours = b"Ask Jo before it runs.\n\nUse pnpm here.\n\nTag each commit twice.\n"
    texts = b"Use pnpm here.\n\nAsk Jo before it runs.\n", ours, b"Use pnpm here.\n\nAsk Ann before it runs.\n"
    assert merge.merge_memory(*texts, "a.md") == merge.Merge(ours.replace(b"Jo", b"Ann"))


def test_a_paragraph_that_moved_up_is_there_once():
    ours = MEMORY.replace(b"Ship on Tuesdays.\n\n", b"") + b"\nShip on Tuesdays.\n"
    merged = merge.merge_memory(ours, MEMORY, ours.replace(b"type: project", b"type: tool"), "ship.md")
    assert merged.data == MEMORY.replace(b"type: project", b"type: tool")


def test_a_line_of_the_index_is_one_thing_wherever_it_stands():
    base = b"# Memory\n\n- [A](a.md) - x\n- [B](b.md) - y\n"
    ours = b"# Memory\n\n- [B](b.md) - y\n- [A](a.md) - x\n- [C](c.md) - z\n"
    theirs = b"# Memory\n\n- [A](a.md) - new words\n- [B](b.md) - y\n- [C](c.md) - z\n"
    merged = merge.merge_index(base, ours, theirs, "MEMORY.md")
    assert sorted(merged.data.splitlines()) == sorted(theirs.splitlines())


def test_a_memory_renamed_here_and_changed_there_is_one_memory():
    base = {"global/ship.md": MEMORY, "global/MEMORY.md": b"- [Ship](ship.md) - how\n"}
    ours = {"global/deploy.md": MEMORY, "global/MEMORY.md": b"- [Ship](deploy.md) - how\n"}
    theirs = {**base, "global/ship.md": MEMORY.replace(b"Jo", b"Ann"), "global/MEMORY.md": b"- [Ship](ship.md) - why\n"}
    merged = trees.merge(base, ours, theirs)
    assert merged.tree == {
        "global/deploy.md": MEMORY.replace(b"Jo", b"Ann"),
        "global/MEMORY.md": b"- [Ship](deploy.md) - why\n",
    }
    assert merged.conflicts == []


def test_what_one_merged_gets_what_the_other_changed_in_it():
    base = {"global/a.md": MEMORY, "global/b.md": b"Use pnpm.\n\nAsk Ann.\n"}
    ours = {"global/a.md": MEMORY + b"\nUse pnpm.\n\nAsk Ann.\n"}
    theirs = {"global/a.md": MEMORY.replace(b"Tuesdays", b"Mondays"), "global/b.md": b"Use pnpm.\n\nAsk Jo.\n"}
    merged = {"global/a.md": theirs["global/a.md"] + b"\nUse pnpm.\n\nAsk Jo.\n"}
    assert trees.merge(base, ours, theirs) == (merged, [])
    assert trees.merge(base, theirs, ours) == (merged, [])
    base["global/b.md"], theirs = (
        f"---\ndescription: {words}\n---\nUse pnpm.\n".encode() for words in ("Tools", "Jo's")
    )
    for sides in ((ours, {**base, "global/b.md": theirs}), ({**base, "global/b.md": theirs}, ours)):
        assert b"Jo's" in trees.merge(base, *sides).tree["global/a.md"]


def test_two_names_and_two_texts_leave_one_of_each_and_the_other_text():
    names = {"a.md": b"Jo", "b.md": b"Ann", "c.md": b"Max"}
    base, ours, theirs = ({name: MEMORY.replace(b"Jo", who)} for name, who in names.items())
    merged = trees.merge(base, ours, theirs)
    (row,) = sync._asked(base, ours, theirs, merged, lambda _: True, "laptop", dict).values()
    assert (merged.tree, b'"path": "b.md"' in row, b"Ask Max" in row) == (ours, True, True)
    for words, paths in (b"", ["x/x.md"]), (b" of us", ["x/MEMORY.md", "x/x.md"]):  # those stand in no memory
        three = [
            {"x/x.md": MEMORY.replace(b"Jo", who), "x/MEMORY.md": b"- [X](x.md) - %s%s\n" % (who, words)}
            for who in names.values()
        ]
        asked = sync._asked(*three, trees.merge(*three), lambda _: True, "laptop", dict).values()
        assert sorted(json.loads(row)["path"] for row in asked) == paths
    texts = ((n, f"---\nname: {n}\n---\nText.\n".encode(), f"- [{n}]({n}.md)\n".encode()) for n in "abc")
    merged = trees.merge(*({f"x/{n}.md": text, "x/MEMORY.md": line} for n, text, line in texts))
    assert sync._sentences(merged.conflicts) == ["x/a.md: renamed on both sides; it is x/b.md now."]


def test_a_text_in_the_place_of_another_one_is_asked_about_by_its_own_name():
    base = {"a.md": b"Use pnpm.\n", "b.md": MEMORY}
    ours = {"a.md": MEMORY.replace(b"Jo", b"Ann"), "c.md": b"Use pnpm.\n"}
    theirs = {**base, "b.md": MEMORY.replace(b"Jo", b"Max")}
    merged = trees.merge(base, ours, theirs)
    assert [conflict.where for conflict in merged.conflicts] == ["a.md"]
    assert sync._asked(base, ours, theirs, merged, lambda _: True, "laptop", dict)


def test_two_memories_that_each_machine_merged_the_other_way_are_one():
    base = {"global/a.md": MEMORY, "global/b.md": b"Use pnpm.\n", "global/MEMORY.md": b"- [A](a.md)\n- [B](b.md)\n"}
    ours = {"global/a.md": MEMORY + b"\nUse pnpm.\n", "global/MEMORY.md": b"- [A](a.md)\n"}
    theirs = {"global/b.md": b"Use pnpm.\n\n" + MEMORY.partition(b"---\n\n")[2], "global/MEMORY.md": b"- [B](b.md)\n"}
    merged = trees.merge(base, ours, theirs)
    assert merged == trees.merge(base, theirs, ours, lambda _: False)
    (text,) = [data for path, data in merged.tree.items() if "MEMORY" not in path]
    assert [text.count(words) for words in (b"pnpm", b"Tuesdays", b"tag the commit")] == [1, 1, 1]


def test_two_new_memories_of_one_name_are_two():
    base = {"global/MEMORY.md": b""}
    ours = {"global/a.md": b"One.\n", "global/MEMORY.md": b"- [A](a.md)\n"}
    theirs = {"global/a.md": b"---\nname: a\n---\nOther.\n", "global/MEMORY.md": b"- [A](a.md)\n"}
    merged = trees.merge(base, ours, theirs)
    assert merged.tree["global/a.md"] == b"One.\n"
    assert merged.tree["global/a-2.md"] == b"---\nname: a-2\n---\nOther.\n"
    assert sync._sentences(merged.conflicts) == ["global/a.md: new on both sides; the other one is global/a-2.md now."]
    assert sorted(merged.tree["global/MEMORY.md"].splitlines()) == [b"- [A](a-2.md)", b"- [A](a.md)"]
    assert trees.merge(base, ours, ours).tree == ours


@pytest.mark.parametrize(("own", "other"), [(3, 2), (2, 3), (2, 2)])
def test_the_higher_counter_stands_whoever_syncs_first(own, other):
    ours, theirs = {"a.md": b"One.\n"}, {"a.md": b"Other.\n"}
    wins = [
        trees.ours_stands(ours, theirs, own, lambda: {"a.md": FileWriter("", "", other)}, "a.md"),
        not trees.ours_stands(theirs, ours, other, lambda: {"a.md": FileWriter("", "", own)}, "a.md"),
    ]
    assert wins[0] == wins[1]
    assert own == other or wins[0] == (own > other)


LISTED = "# Memory\n\n- [m2](m2.md) - 2\n"


@pytest.mark.parametrize(
    ("base", "first", "second"),
    [
        ({"m4": "Text.\n"}, {"n4": "Text.\n"}, {"o4": "Text.\n"}),
        ({"m2": "One.\n", "n5": "Two.\n", "MEMORY": LISTED}, {"n5": "One.\n"}, {"p5": "Two.\n", "MEMORY": LISTED}),
        ({"MEMORY": LISTED}, {"m2": "One.\n", "m3": "", "MEMORY": LISTED.replace("2", "3")}, {"m2": "Two.\n"}),
        ({"m4": "One.\n", "n2": "Two.\n"}, {"m0": "Two.\n", "m1": "One.\n"}, {"m1": "Two.\n", "n2": "Three.\n"}),
    ],
)
def test_two_machines_merge_the_same_whoever_is_first(base, first, second):
    trees_now = [{f"global/{name}.md": text.encode() for name, text in tree.items()} for tree in (base, first, second)]
    merges = []
    for ours, theirs in (trees_now[1:], trees_now[:0:-1]):
        writers = {path: FileWriter("", "", 1) for path in theirs}
        stands = partial(trees.ours_stands, ours, theirs, 1, lambda writers=writers: writers)
        merges.append(trees.merge(trees_now[0], ours, theirs, stands))
    assert merges[0] == merges[1]


def test_a_name_is_the_persons_whatever_it_ends_in():
    base = {"a~new.md": MEMORY}
    changed = {"a~new.md": MEMORY.replace(b"Jo", b"Ann"), "b.md": b"Text.\n"}
    assert trees.merge(base, {**base, "c.md": b"C.\n"}, changed).tree == {**changed, "c.md": b"C.\n"}


WORDS = [a + b + c for a in "bdfklmnprst" for b in ("a", "e", "io", "u") for c in ("n", "rt", "lm", "sk", "gg")]


class Machine:
    """A machine with its tree, and the tree at its last sync."""

    def __init__(self):
        self.tree = {"global/MEMORY.md": b"# Memory\n\n", "projects/shop/MEMORY.md": b"# Memory\n\n"}
        self.base, self.undo = dict(self.tree), None
        self.counter = self.seen = 0  # of the store at the last sync, and how many syncs of all that one saw


class Simulation:
    """Machines that change memories and sync over one remote. Each statement is a paragraph `sID.VERSION words`."""

    def __init__(self, seed, machines=3):
        self.draw = Random(seed)
        self.machines = [Machine() for _ in range(machines)]
        self.remote = dict(self.machines[0].tree)
        self.number = 0
        self.created, self.removed = set(), Counter()  # versions of statements, and how often each was taken away
        self.conflicts = []
        self.syncs = []  # (paths, counter) of each

    @property
    def live(self):
        return {name for name in self.created if self.removed[name] <= 0}

    def words(self):
        return " ".join(self.draw.choices(WORDS, k=8))

    def statement(self):
        self.number += 1
        self.created.add(f"s{self.number}.")
        return f"s{self.number}. {self.words()}"

    def change(self, machine):
        """Change something, or take back the last change since the last sync."""
        if machine.undo and self.draw.random() < 0.15:
            machine.tree, created, removed = machine.undo
            machine.undo, self.created = None, self.created - created
            self.removed.subtract(removed)
            return
        tree, created, removed = dict(machine.tree), set(self.created), Counter(self.removed)
        self.change_one(machine)
        machine.undo = tree, self.created - created, self.removed - removed

    def change_one(self, machine):
        tree = machine.tree
        paths = [path for path in sorted(tree) if not path.endswith("MEMORY.md")]
        kind = self.draw.choice(["create", "body", "body", "add", "field", "rename", "move", "delete", "drop"])
        kind = "merge" if self.draw.random() < 1 / 12 else kind
        if kind == "create" or not paths:
            scope = self.draw.choice(["global", "projects/shop"])
            path = f"{scope}/m{self.draw.randrange(12)}.md"
            if path in tree:
                return
            tree[path] = f"---\nname: x\ntype: user\n---\n\n{self.statement()}\n\n{self.statement()}\n".encode()
            self.index(tree, path, True)
            return
        path = self.draw.choice(paths)
        text = tree[path].decode()
        head, _, body = text.partition("---\n\n")
        parts = body.rstrip("\n").split("\n\n")
        at = self.draw.randrange(len(parts))
        if not body.strip():  # each side dropped another part
            parts, kind = [], "add"
        if kind == "body":
            old, _, words = parts[at].partition(" ")
            self.number += 1
            self.removed[old] += 1
            self.created.add(new := f"s{self.number}.")
            changed = words.split()
            changed[self.draw.randrange(len(changed))] = self.draw.choice(WORDS)
            parts[at] = f"{new} {' '.join(changed)}"
        elif kind == "add":
            parts.insert(at, self.statement())
        elif kind == "drop" and len(parts) > 1:
            self.removed[parts.pop(at).partition(" ")[0]] += 1
        elif kind == "field":
            head = head.replace("type: user", "type: project") if "user" in head else head.replace("project", "user")
        elif kind in ("rename", "move"):
            scope, _, name = path.rpartition("/")
            target = f"{scope}/r{self.draw.randrange(1000)}.md" if kind == "rename" else (
                f"{'global' if scope != 'global' else 'projects/shop'}/{name}")  # fmt: skip
            if target in tree:
                return
            tree[target] = tree.pop(path)
            self.index(tree, path, False)
            self.index(tree, target, True)
            return
        elif kind == "merge":
            if (other := self.draw.choice(paths)) != path:
                tree[path] = "".join(
                    [text.rstrip("\n"), "\n\n", tree.pop(other).decode().partition("---\n\n")[2]]
                ).encode()
                self.index(tree, other, False)
            return
        elif kind == "delete":
            self.removed.update(part.partition(" ")[0] for part in parts)
            del tree[path]
            self.index(tree, path, False)
            return
        tree[path] = "".join([head, "---\n\n", "\n\n".join(parts), "\n"]).encode()

    def index(self, tree, path, there):
        scope, _, name = path.rpartition("/")
        line = f"- [{name}]({name}) - {self.draw.randrange(9)}\n".encode()
        rows = [row for row in tree[f"{scope}/MEMORY.md"].splitlines(True) if f"({name})".encode() not in row]
        tree[f"{scope}/MEMORY.md"] = b"".join([*rows, *([line] if there else [])])

    def sync(self, machine):
        changed = [path for path in machine.tree | machine.base if machine.tree.get(path) != machine.base.get(path)]
        counter = machine.counter + len(changed)
        writers = {path: FileWriter("", "", number) for paths, number in self.syncs[machine.seen :] for path in paths}
        stands = partial(trees.ours_stands, machine.tree, self.remote, counter, lambda: writers)
        merged = trees.merge(machine.base, machine.tree, self.remote, stands)
        self.conflicts += merged.conflicts
        self.syncs.append((changed, counter))
        machine.seen, machine.counter = len(self.syncs), max(number for _, number in self.syncs)
        machine.undo, self.remote = None, dict(merged.tree)
        machine.tree, machine.base = dict(merged.tree), dict(merged.tree)

    def run(self, steps):
        for _ in range(steps):
            machine = self.draw.choice(self.machines)
            self.sync(machine) if self.draw.random() < 0.25 else self.change(machine)
        for machine in [*self.machines, *self.machines]:
            self.sync(machine)

    def faults(self):
        """What is wrong in the end, in words."""
        faults = [f"machine {n} differs" for n, each in enumerate(self.machines) if each.tree != self.remote]
        text = b"\n".join(self.remote[path] for path in sorted(self.remote) if "MEMORY" not in path).decode()
        aside = "\n".join(row.stands + "\n" + row.other for row in self.conflicts)
        words = text.split()
        for name in sorted(self.live):
            if name not in words and name not in aside.split():
                faults.append(f"{name} is lost")
            if words.count(name) > 1:
                faults.append(f"{name} is there {words.count(name)} times")
        for scope in ("global", "projects/shop"):
            names = sorted(
                path.rpartition("/")[2] for path in self.remote if path.startswith(scope) and "MEMORY" not in path
            )
            rows = self.remote[f"{scope}/MEMORY.md"].decode()
            listed = sorted(row.partition("](")[2].partition(")")[0] for row in rows.splitlines() if "](" in row)
            if names != listed:
                faults.append(f"the index of {scope} has {listed}, not {names}")
        faults += [f"{path} is broken" for path, data in self.remote.items() if document.parse(data).broken]
        faults += ["a marker was written"] * ("<<<<" in text)
        return faults


@pytest.mark.every(step=11)
@pytest.mark.parametrize("count", [40, *[1_000] * 10])
def test_random_histories_lose_nothing_and_double_nothing(count):
    wrong = {}
    for _ in range(count):
        seed = Random().randrange(1 << 30)
        simulation = Simulation(seed)
        simulation.run(30)
        if simulation.faults():
            wrong[seed] = simulation.faults()
    assert wrong == {}
