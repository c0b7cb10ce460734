"""One registry tells every finding: doctor, Setup, `hooks status`, the flags of memories, the states of guidance."""

import ast
import string
from pathlib import Path

import pytest

import memtui
from memtui.base import findings
from memtui.base.finding import problem
from memtui.tidy.checks import fixes, lint

SOURCES = Path(memtui.__file__).parent
MAKERS = {"problem", "note", "good", "told"}


REGISTRIES = {Path(findings.__file__)}


def strings():
    """(every string in the sources of the package but the registry's, those of them that findings are made of)."""
    every, made = set(), set()
    for file in set(SOURCES.rglob("*.py")) - REGISTRIES - set((SOURCES / "demo").iterdir()):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant):
                every.add(node.value)
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS and node.args:
                made.add(getattr(node.args[0], "value", None))
    return every, {each for each in made if isinstance(each, str)}


@pytest.mark.slow
def test_every_code_is_in_the_registry_and_every_entry_is_some_checks():
    every, made = strings()
    assert len(made) > 40
    assert made <= set(findings.REGISTRY)
    general = {f"{area}.{what}" for area in findings.AREAS for what in ("ok", "failed")}
    assert set(findings.REGISTRY) - every - general == set()


def test_each_code_of_memories_belongs_to_one_check():
    codes = [code for check in lint.CHECKS for code in check.codes]
    assert len(codes) == len(set(codes))
    of_pairs = {"memories.contradict", "memories.alike"}
    assert set(findings.OF_MEMORIES) - set(codes) == {"memories.changed", *of_pairs}


def test_a_fix_is_one_that_fixes_or_a_door_makes():
    asked = {kind.fix for kind in findings.REGISTRY.values() if kind.fix}
    assert asked - set(fixes._FIXES) == {"install", "trust", "lint"}
    assert set(fixes.AT_ONCE) <= asked


def test_facts_fill_templates_and_long_lists_are_cut():
    for code, kind in findings.REGISTRY.items():
        for template in (kind.words, kind.remedy, kind.flag, kind.several):
            names = [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
            assert all(map(str.isidentifier, names)), code
        assert not kind.several or (kind.by and "{files" in kind.several), code
    found = problem("memories.broken", scope="auto", memory="{why}", why="{path} {0}", path="/x")
    assert findings.message(found) == "auto:{why} is broken: {path} {0}."
    names = [f"{letter}.md" for letter in "abcdefg"]
    found = problem("memories.no_line", scope="auto", files=names)
    sentence = "MEMORY.md of auto has no line for 7 memories: a.md, b.md, c.md, d.md, e.md and 2 more."
    assert findings.message(found) == sentence
    hidden = problem("memories.hidden", scope="auto", memory="a", count=1, path="/a.md")
    assert findings.message(hidden) == "auto:a has 1 invisible character."


def test_problems_are_counted_and_told_by_cause_or_each_if_to_be_decided():
    def below(name):
        return problem("memories.cut", "index:auto", scope="auto", files=[f"{name}.md"], line=201)

    found = [*(below(f"m{number}") for number in range(305)), problem("memories.cut", scope="global", files=["a.md"])]
    assert findings.problems(found) == 2
    first, _ = findings.by_cause(found)
    assert first.sentence == "MEMORY.md of auto is over its limit: 305 memories not loaded."
    assert (first.action, len(first.memories), len(first.parts)) == ("fix", 305, 305)
    found = [problem("memories.secret", f"memory:/{n}.md", scope="auto", memory=n, kinds="a key") for n in "ab"]
    assert [each.action for each in findings.by_cause(found)] == ["edit", "edit"]
    assert findings.problems(found) == 2
    facts = [{"scope": "auto", "memory": name, "path": f"/{name}.md"} for name in "ab"]
    one, both = (
        findings.by_cause(problem("memories.no_description", **each) for each in some) for some in (facts[:1], facts)
    )
    assert one[0].sentence == "auto:a has no description, by which Claude finds it."
    assert both[0].sentence == "2 memories of auto have no description, by which Claude finds them: a, b."
    assert len(both) == 1
