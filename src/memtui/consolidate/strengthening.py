"""Stronger forms of a memory that was violated all the same, each a proposal: pinned, so that recall prefers it; a line
of CLAUDE.md or a rule, which every session gets; or commands that it forbids, which a hook then refuses
(hooks/forbidden.py)."""

import json
import os
import re
from collections.abc import Mapping

from memtui.consolidate import coverage
from memtui.consolidate.changeset import FileOutput, Proposal, ProposalEvidence, propose, read_from
from memtui.core.base.storage import read_or_none
from memtui.core.memories import memory, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.recall import fields
from memtui.recall.fields import Fields

# Characters of a body with which a memory becomes a rule of its own instead of a line.
LINE = 300
PINNED = "Pinned, it comes before others."
INSTRUCTED = "Every session gets what stands there, whatever it is about."
RULED = "Claude Code loads it with the files that it is about."
FORBIDDEN = "With it a hook refuses {commands} once a session, and gives Claude the memory as the reason."
# Programs that a memory can forbid as a whole, and those of which it can only forbid what is done with them. Names that
# are English words as well count only as code.
_PROGRAMS = """
npm npx yarn pnpm bun bunx pip pip3 pipx pipenv poetry conda easy_install sed awk curl wget vim nano sudo rm grep tox
nox jest mocha vitest webpack mvn gradle cmake apt apt-get brew
"""
_WITH_SUBCOMMAND = """
git gh docker docker-compose kubectl helm terraform cargo uv aws gcloud systemctl python python3 node deno php composer
dotnet
"""
_JOINING = "a an and any anymore as at but by for from here in is on or the this to with"
PROGRAMS, WITH_SUBCOMMAND = frozenset(_PROGRAMS.split()), frozenset(_WITH_SUBCOMMAND.split())
WORDS = frozenset(["find", "go", "just", "make", "bundle", "rails", "ruby", "swift", "mise", "ant"])
# A word behind a program that is none of its commands.
JOINING = frozenset(_JOINING.split())
# What is only forbidden under a condition is left to the person.
CONDITION = re.compile(r"\b(?:after|before|if|once|unless|until|when|while|without|yet)\b", re.IGNORECASE)
# What is refused stands right behind a negation: as code, or as the plain name of a known program.
_NEGATED = re.compile(
    r"\b(?:never|not|don'?t|do not|avoid|stop|instead of|rather than|without|no)\s+"
    r"(?:(?:ever|use|using|run|running|call|calling|type|do|to)\s+)*"
    r"(?P<rest>`[^`\n]+`(?:\s*(?:,|or|and|nor|/)\s*`[^`\n]+`)*|[\w./-]+(?:[ \t]+[\w:=./-]+){0,3})"
    r"(?P<more>[^.;\n]*)",
    re.IGNORECASE,
)
_CODE = re.compile(r"`([^`\n]+)`")
MOST_COMMANDS = 8


def pinned(found: Memory, evidence: ProposalEvidence, reason: str) -> Proposal | None:
    """Propose to pin a memory; None if it is. Raises MemtuiError if its frontmatter can't be changed."""
    if _read(found).pinned:
        return None
    return _rewritten(found, {"pinned": "true"}, evidence, f"{reason} {PINNED}")


def forbidding(found: Memory, evidence: ProposalEvidence, reason: str) -> Proposal | None:
    """Propose that a hook refuses the commands that a memory says not to run; None if it names none, or forbids some
    already. Raises MemtuiError if its frontmatter can't be changed."""
    commands = forbidden_commands(f"{found.description}\n{found.body}")
    if not commands or _read(found).forbids:
        return None
    told = ", ".join(f"`{each}`" for each in commands)
    return _rewritten(found, {"forbids": ", ".join(commands)}, evidence, f"{reason} {FORBIDDEN.format(commands=told)}")


def instructed(scope: Scope, found: Memory, evidence: ProposalEvidence, reason: str) -> Proposal | None:
    """Propose a line of CLAUDE.md for a memory, or a rule if it has more to say or is about some paths; None if that is
    there, or for a scope without instructions. Raises OSError if what is there can't be read."""
    place = scopes.instructions_for(scope)
    if place is None:
        return None
    read = _read(found)
    long = len(found.body.strip()) > LINE or bool(read.paths)
    path = f"{place.directory}/{place.rules}/{found.stem}.md" if long else f"{place.directory}/{place.main}"
    before = read_or_none(path)
    if long and before is not None:
        return None
    after = _rule(found, read) if long else _with_line(path, before or b"", found.description)
    if after is None:
        return None
    inputs = [read_from(found.path, found.raw), read_from(path, before)]
    return propose(
        "rule", inputs, [FileOutput(path, after)], [evidence], f"{reason} {RULED if read.paths else INSTRUCTED}"
    )


def forbidden_commands(text: str) -> list[str]:
    """List the commands that a text says not to run: what it names in code, or a program by its name, behind “never”,
    “don't”, “instead of” and the like. Only programs that are known to be some."""
    found: list[str] = []
    for match in _NEGATED.finditer(text.replace("’", "'")):
        rest = match["rest"]
        if CONDITION.search(_CODE.sub("", rest) + match["more"]):
            continue
        named = _CODE.findall(rest) if rest.startswith("`") else [_plain(rest)]
        found += [each for each in (" ".join(name.split()) for name in named) if _is_command(each)]
    return list(dict.fromkeys(found))[:MOST_COMMANDS]


def _plain(rest: str) -> str:
    """Return the command that begins a text without marks: a program, what is done with it where it needs that to be a
    command, and options; empty for one that is an English word as well."""
    program, *further = rest.lower().split()
    if program in WORDS:
        return ""
    kept = [program]
    if program in WITH_SUBCOMMAND and further and further[0] not in JOINING:
        kept.append(further.pop(0))
    for each in further:
        if not each.startswith("-"):
            break
        kept.append(each)
    return " ".join(kept).rstrip(".,;:!?")


def _is_command(text: str) -> bool:
    program, *further = text.split() or [""]
    if not text.isprintable() or "," in text:
        return False
    script = program.startswith(("./", "bin/", "scripts/")) or program.endswith(".sh")
    return program in PROGRAMS or script or (program in WITH_SUBCOMMAND | WORDS and bool(further))


def _read(found: Memory) -> Fields:
    return fields.read(found.raw, os.path.basename(found.path), ())


def _rewritten(found: Memory, changed: Mapping[str, str], evidence: ProposalEvidence, reason: str) -> Proposal:
    data = memory.with_fields(found, changed)
    return propose("rewrite", [read_from(found.path, found.raw)], [FileOutput(found.path, data)], [evidence], reason)


def _with_line(path: str, before: bytes, description: str) -> bytes | None:
    """Return a CLAUDE.md with a description as the last item of its list at the end, or of a new one; None if it says
    so already, or there is nothing to say."""
    text = " ".join(description.split())
    says = coverage.of_text(path, before.decode("utf-8", "replace"))
    if not coverage.cover(coverage.of_text(path, text), says).dropped:
        return None
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    lines = before.splitlines()
    ended = before if not lines or before.endswith((b"\n", b"\r")) else before + newline
    goes_on = not lines or not lines[-1].strip() or lines[-1].lstrip().startswith((b"- ", b"* "))
    return ended + (b"" if goes_on else newline) + b"- " + text.encode() + newline


def _rule(found: Memory, read: Fields) -> bytes:
    """Return a rule with what a memory says, bound to its paths. YAML reads a text in JSON."""
    head = "".join(["---\npaths:\n", *(f"  - {json.dumps(each)}\n" for each in read.paths), "---\n\n"])
    title = "" if found.body.lstrip().startswith("# ") else f"# {' '.join(found.description.split())}\n\n"
    return f"{head if read.paths else ''}{title}{found.body.strip()}\n".encode()
