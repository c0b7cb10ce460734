"""Stronger forms of a memory that was violated all the same, each a proposal: pinned, so that recall prefers it; or
with commands that it forbids, which a hook then refuses (hooks/forbidden.py)."""

import os
import re
from collections.abc import Mapping

from memtui.consolidate.changeset import FileOutput, Proposal, ProposalEvidence, propose, read_from
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.recall import fields

PINNED = "Pinned, it comes before others."
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
_WORDS = "find go just make bundle rails ruby swift mise ant"
# Words behind a program that are none of its commands.
_JOINING = "a an and any anymore as at but by for from here in is on or the this to with"
PROGRAMS, WITH_SUBCOMMAND = frozenset(_PROGRAMS.split()), frozenset(_WITH_SUBCOMMAND.split())
WORDS, JOINING = frozenset(_WORDS.split()), frozenset(_JOINING.split())
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
    if fields.read(found.raw, os.path.basename(found.path), ()).pinned:
        return None
    return _rewritten(found, {"pinned": "true"}, evidence, f"{reason} {PINNED}")


def forbidding(found: Memory, evidence: ProposalEvidence, reason: str) -> Proposal | None:
    """Propose that a hook refuses the commands that a memory says not to run; None if it names none, or forbids some
    already. Raises MemtuiError if its frontmatter can't be changed."""
    commands = forbidden_commands(f"{found.description}\n{found.body}")
    if not commands or fields.read(found.raw, os.path.basename(found.path), ()).forbids:
        return None
    told = ", ".join(f"`{each}`" for each in commands)
    return _rewritten(found, {"forbids": ", ".join(commands)}, evidence, f"{reason} {FORBIDDEN.format(commands=told)}")


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


def _rewritten(found: Memory, changed: Mapping[str, str], evidence: ProposalEvidence, reason: str) -> Proposal:
    data = memory.with_fields(found, changed)
    return propose("rewrite", [read_from(found.path, found.raw)], [FileOutput(found.path, data)], [evidence], reason)
