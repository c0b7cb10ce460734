"""docs/architecture.md tells the truth: what it says stands somewhere stands there."""

import ast
import collections
import importlib
import re
import tomllib
from pathlib import Path

import memtui

DOCS = Path(__file__).parents[1] / "docs" / "architecture.md"
SOURCES = Path(memtui.__file__).parent
# Names that say nothing of what they hold, and how many of them a function may have on average.
BARE = {"found", "each", "given", "told", "kept", "made", "left", "known", "there", "taken", "said", "became", "seen"}
BARE |= {"wanted", "asked", "shown", "done", "written", "sent", "heard", "gone", "meant", "held", "used", "named"}
BARE |= {"listed", "came"}
MOST_BARE = 0.066
ENOUGH = 25  # behaviours that a newcomer may look for
# Words that code once had, and another took the place of (the glossary has those).
GONE = "vouch(?:ed)?|settle|seat|tally|survey|upkeep|standdown|mend(?:ing)?|rowshape|turning|carry|alike|looks|deciding"


def section(title):
    """The lines under a heading of the page."""
    text = DOCS.read_text()
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0].splitlines()


def rows(title):
    """The cells of a table under a heading, without its head."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in section(title) if line.startswith("|")]
    return found[2:]


def test_each_behaviour_stands_where_the_page_says():
    told = rows("Where is what")
    assert len(told) >= ENOUGH
    for behaviour, place in told:
        for path, name in re.findall(r"`([\w/]+\.py)` `([\w.]+)`", place):
            found = importlib.import_module("memtui." + path.removesuffix(".py").replace("/", "."))
            for part in name.split("."):
                assert hasattr(found, part), f"{behaviour}: there is no {name} in {path}"
                found = getattr(found, part)
        assert "`" in place, behaviour


def test_each_package_is_on_the_page():
    named = {name for cells in rows("The tree") for name in re.findall(r"`([\w/]+)`", cells[0])}
    there = {
        each.parent.relative_to(SOURCES).as_posix() for each in SOURCES.rglob("__init__.py") if each.parent != SOURCES
    }
    there |= {each.stem for each in SOURCES.glob("*.py") if not each.stem.startswith("__")}
    assert there == named


def test_the_glossary_explains_each_word_once():
    words = [cells[0] for cells in rows("Glossary")]
    assert len(words) == len(set(words)) > 20
    assert words == sorted(words)


def test_no_import_contract_has_an_exception():
    contracts = tomllib.loads((DOCS.parents[1] / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert len(contracts) > 5
    assert not [each["name"] for each in contracts if "ignore_imports" in each or "skip_descendants" in each]
    sources = {
        name for each in contracts if each.get("forbidden_modules") == ["memtui.tui"] for name in each["source_modules"]
    }
    of_cli = {f"memtui.cli.{each.stem}" for each in (SOURCES / "cli").iterdir() if not each.name.startswith("__")}
    assert of_cli - {"memtui.cli.open_tui"} == sources


def test_no_name_is_of_a_word_that_another_took_the_place_of():
    stale = re.compile(rf"\b_?(?:{GONE})\b")
    found = [
        f"{each.relative_to(SOURCES)}:{number}: {line.strip()}"
        for each in sorted(SOURCES.rglob("*.py"))
        for number, line in enumerate(each.read_text().splitlines(), 1)
        if re.match(r"\s*(?:def|class|from|import)\b", line) and stale.search(line)
    ]
    assert found == []


def test_a_class_name_is_of_one_class():
    classes = collections.Counter(
        node.name
        for each in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(each.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in classes.items() if count > 1] == []


def test_a_local_says_what_it_holds():
    """A bare participle names nothing: `drafts`, not `found`."""
    count, functions = 0, 0
    for path in SOURCES.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions += 1
                names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
                names |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
                count += len(names & BARE)
    assert count / functions < MOST_BARE


def test_one_module_imports_rapidfuzz():
    """Two threads that import different parts of it at once can fail."""
    imports = re.compile(r"^\s*(?:import|from) rapidfuzz\b", re.MULTILINE)
    found = [each.relative_to(SOURCES).as_posix() for each in SOURCES.rglob("*.py") if imports.search(each.read_text())]
    assert found == ["tidy/similarity.py"]
