"""docs/architecture.md tells the truth: what it says stands somewhere stands there."""

import ast
import collections
import re
import tomllib
from pathlib import Path

import pytest

import memtui
from memtui.client.agents import agents_hot

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "architecture.md"
SOURCES = Path(memtui.__file__).parent
# Names that say nothing of what they hold, and how many of them a function may have on average.
BARE = {"found", "each", "given", "told", "kept", "made", "left", "known", "there", "taken", "said", "became", "seen"}
BARE |= {"wanted", "asked", "shown", "done", "written", "sent", "heard", "gone", "meant", "held", "used", "named"}
BARE |= {"listed", "came"}
MOST_BARE = 0.05
ENOUGH, MOST_LINES = 40, 120  # files that the page names; lines of two pages
# Words that code once had, and another took the place of.
GONE = "vouch(?:ed)?|settle|seat|tally|survey|upkeep|standdown|mend(?:ing)?|rowshape|turning|carry|alike|looks|deciding"


def rooms():
    """The names of the rooms, in the first column of the page's table."""
    return [line.split("|")[1] for line in DOCS.read_text().splitlines() if line.startswith("| `")]


def test_each_file_stands_where_the_page_says():
    files = re.findall(r"`([\w/]+\.py)`", DOCS.read_text())
    assert len(files) >= ENOUGH
    assert [file for file in files if not (SOURCES / file).is_file() and not (ROOT / file).is_file()] == []


def test_each_room_is_on_the_page():
    names = {name for cell in rooms() for name in re.findall(r"`([\w/]+)`", cell)}
    names |= {f"tui/screens/{place}" for place in ("memories", "inbox", "activity", "setup")}
    packages = {init.parent.relative_to(SOURCES).as_posix() for init in SOURCES.rglob("__init__.py")} - {"."}
    packages |= {path.stem for path in SOURCES.glob("*.py") if not path.stem.startswith("__")}
    assert names - {"memories", "activity", "setup"} == packages


def test_the_page_is_two_pages():
    assert len(DOCS.read_text().splitlines()) <= MOST_LINES


def test_no_import_contract_has_an_exception():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert len(contracts) > 5
    assert not [each["name"] for each in contracts if "ignore_imports" in each or "skip_descendants" in each]
    sources = {
        name for each in contracts if each.get("forbidden_modules") == ["memtui.tui"] for name in each["source_modules"]
    }
    modules = [*(SOURCES / "cli").glob("[!_]*.py"), *(each.parent for each in (SOURCES / "cli").glob("*/__init__.py"))]
    assert {f"memtui.cli.{each.stem}" for each in modules} - {"memtui.cli.open_tui"} == sources


def test_no_name_is_of_a_word_that_another_took_the_place_of():
    stale = re.compile(rf"\b_?(?:{GONE})\b")
    found = [
        f"{each.relative_to(SOURCES)}:{number}: {line.strip()}"
        for each in sorted(SOURCES.rglob("*.py"))
        for number, line in enumerate(each.read_text().splitlines(), 1)
        if re.match(r"\s*(?:def|class|from|import)\b", line) and stale.search(line)
    ]
    assert found == []


def test_only_its_own_modules_name_another_agent():
    names = re.compile("|".join(agents_hot.NAMES[1:]), re.IGNORECASE)
    places = ("client/agents/", "hooks/install/")
    others = [path for path in SOURCES.rglob("*.py") if not path.relative_to(SOURCES).as_posix().startswith(places)]
    assert len(others) > 200
    assert [path.name for path in others if names.search(path.read_text())] == ["markdown.py"]  # names of their files


def test_a_class_name_is_of_one_class():
    texts = (path.read_text() for path in SOURCES.rglob("*.py"))
    classes = collections.Counter(name for text in texts for name in re.findall(r"^ *class (\w+)", text, re.MULTILINE))
    assert [name for name, count in classes.items() if count > 1] == []


@pytest.mark.slow
def test_a_local_says_what_it_holds():
    """A bare participle names nothing: `drafts`, not `found`."""
    count, functions = 0, 0
    for path in SOURCES.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions += 1
                nodes = ast.walk(function)
                names = {getattr(node, "id", "") or node.arg for node in nodes if isinstance(node, (ast.Name, ast.arg))}
                count += len(names & BARE)
    assert count / functions < MOST_BARE


def test_a_test_name_is_at_most_70_letters():
    names = re.compile(r"^(?:async )?def (test_\w{66,})", re.MULTILINE)
    assert [name for path in (ROOT / "tests").rglob("*.py") for name in names.findall(path.read_text())] == []
