"""What is said of a finding, and the words of those about memories and their index, the worst first.

Those down to `memories.changed` are found by every check (doctor, Setup, the flags of memories); the others by `memtui
check` alone: tidy/checks/lint.py."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from memtui.base.phrasing_hot import ago, many, share, size, some


class Kind(NamedTuple):
    """The words of a code: `words` and `remedy` are templates filled with its data, `flag` is a short form for lists,
    `several` the template for more than one memory, `{files}`. In a remedy each place, or several joined by colons, is
    one word of a shell command. `{name:memory|memories}` is a count, or the length of a list; for others see FORMATS.
    `fix` is the id of the fix that CLI and TUI offer, empty if only a person can fix it. `by` names the facts that a
    cause has: findings of a code that agree in them are one problem; where it is empty each is one of its own.
    `letter` is that of the flag in lists (store/status.py)."""

    words: str = ""
    remedy: str = ""
    fix: str = ""
    flag: str = ""
    by: tuple[str, ...] = ()
    several: str = ""
    letter: str = ""


# How a template writes a value; all others are counts.
FORMATS: dict[str, Callable[[Any], str]] = {
    "": str,
    "moved": lambda path: f"; it is {path} now" if path else "",
    "commit": lambda words: f" ({words})" if words else "",
    "similar": lambda score: share(score / 100),
    "because": lambda why: f": {why}" if why else " yet",
    "since": lambda time: f" (since {time[:10]})" if time else "",
    "unmerged": lambda why: f" No merge is proposed: {why}." if why else "",
    "age": lambda seconds: f" (the oldest made {ago(0.0, seconds)})" if seconds is not None else "",
    "size": size,
    "texts": lambda days: f"their texts for {many(days, 'day')}" if days else "with all texts",
}


class Fact:
    """A value, formatted as a template asks; see `Kind`."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __format__(self, how: str) -> str:
        if isinstance(self.value, list):
            return many(len(self.value), *how.split("|")) if how else some(self.value)
        if how not in FORMATS and isinstance(self.value, int):
            return many(self.value, *how.split("|"))
        return FORMATS.get(how, str)(self.value)


def fill(template: str, facts: Mapping[str, object]) -> str:
    return template.format_map({key: Fact(value) for key, value in facts.items()})


UNLINK = "Remove the link."
FIX = "memtui check --fix"
FIX_INDEX = f"{FIX} --scope {{scope}}"

# What findings of one cause agree in.
SCOPE, LINK = ("scope",), ("scope", "link")

KINDS = {
    "memories.scope": Kind("Scope {scope} is not read: {path} {why}.", UNLINK),
    "memories.broken": Kind(
        "{scope}:{memory} is broken: {why}.", "Fix {path} in an editor.", flag="broken: {why}", letter="X"
    ),
    "memories.leaves": Kind("{scope}:{memory} is not read: it {why}.", UNLINK, flag="broken: {why}", letter="X"),
    "memories.conflict": Kind(
        "{scope}:{memory} has git's conflict markers, from line {line} on: nobody has merged {ours} and {theirs} yet, "
        "so no session gets it from memtui.",
        "Edit it: memtui edit {scope}:{memory}",
        "",
        "git's conflict markers are in it",
        letter="X",
    ),
    "memories.index_conflict": Kind(
        "MEMORY.md of {scope} has git's conflict markers, from line {line} on: nobody has merged {ours} and {theirs} "
        "yet, and until then memtui writes nothing into it.",
        "Edit {path}.",
    ),
    "memories.hidden": Kind(
        "{scope}:{memory} has {count:invisible character}.",
        "They can hide instructions: look at {path} in an editor that shows them.",
        flag="{count:invisible character}",
        by=SCOPE,
        several="{files:memory has|memories have} invisible characters in {scope}: {files}.",
        letter="H",
    ),
    "memories.link": Kind(
        "{scope} has no {link}, but {files:memory links|memories link} to it: {files}.",
        "memtui new --scope {scope} {name}, or remove the link: memtui edit {scope}:{memory}",
        flag="broken link {link}",
        by=LINK,
        letter="L",
    ),
    "memories.odd_link": Kind(
        "{scope} has no {link}, but {files:memory links|memories link} to it: {files}. No memory can have this name.",
        "Correct or remove the link: memtui edit {scope}:{memory}",
        flag="broken link {link}",
        by=LINK,
        letter="L",
    ),
    "memories.cut": Kind(
        "MEMORY.md of {scope} is over its limit: {files:memory|memories} not loaded.",
        FIX_INDEX + ", or move memories to another scope: memtui mv NAME --scope SCOPE",
        "lint",
        "Claude Code doesn't see this: MEMORY.md is over its limit",
        SCOPE,
        letter="B",
    ),
    "memories.dangling": Kind(
        "MEMORY.md of {scope} lists {files:file that does not exist|files that do not exist}: {files}.",
        FIX_INDEX + ", or take them out: {path}",
        "lint",
        by=SCOPE,
    ),
    "memories.mention": Kind(
        "MEMORY.md of {scope} mentions {files:file that does not exist|files that do not exist}: {files}.",
        "Correct the text by hand: {path}",
        by=SCOPE,
    ),
    "memories.no_line": Kind(
        "MEMORY.md of {scope} has no line for {files:memory|memories}: {files}.",
        FIX_INDEX,
        "lint",
        "no line in MEMORY.md",
        SCOPE,
        letter="N",
    ),
    "memories.no_index": Kind(
        "{scope} has no MEMORY.md, so {files:memory is|memories are} not listed: {files}.",
        FIX_INDEX,
        "lint",
        "no MEMORY.md lists it",
        SCOPE,
        letter="N",
    ),
    "memories.text": Kind(
        "MEMORY.md of {scope} has {texts:passage} of text that no session gets, from line {line} on (“{words}”): "
        "{why}.",
        "Make drafts of it: memtui import {path}",
    ),
    "memories.changed": Kind(
        "{file} changed since it was delivered", flag="changed since it was delivered", letter="C"
    ),
    # found by lint: wrong for anybody who reads the memory
    "memories.secret": Kind(
        "{scope}:{memory} seems to contain {kinds}.", "Take it out, and change it: whoever reads the file has it."
    ),
    "memories.verify": Kind(
        "{scope}:{memory} may no longer be true: its check `{check}` fails{since:since}.",
        "Correct it, or its `verify`: memtui edit {scope}:{memory}; or put it away: memtui rm {scope}:{memory}",
        flag="its check `{check}` fails{since:since}",
        letter="V",
    ),
    "memories.verify_unknown": Kind(
        "{scope}:{memory} has a check that can't be made: `{check}`: {why}.",
        "Write it as: glob PATTERN, grep TEXT in PATTERN, git branch|tag|path NAME; `not` before it turns it round.",
    ),
    "memories.unchecked": Kind(
        "{scope}:{memory} was not checked: `{check}`: {why}.",
        "If that stays so, write the check in another way: memtui edit {scope}:{memory}",
        flag="its check `{check}` was not made{why:because}",
        letter="?",
    ),
    "memories.cut_head": Kind(
        "{scope}:{memory} has a `---` in its frontmatter, at which Claude Code ends it.",
        "In an editor: {path}",
        by=SCOPE,
        several=(
            "{files:memory|memories} of {scope} have a `---` in their frontmatter, at which Claude "
            "Code ends it: {files}."
        ),
    ),
    "memories.expired": Kind("{scope}:{memory} expired on {when}.", "Delete it, or change its `{field}`."),
    "memories.copy": Kind(
        "{scope}:{memory} is a copy of {original} that a sync program or a file manager left.",
        "Put what only it says into {original}, and delete it: memtui rm {scope}:{memory}",
    ),
    "memories.same_name": Kind(
        "{scope}:{memory} has the name “{name}”, as {first} has, so no link reaches it by that name.",
        FIX,
        "lint",
        by=SCOPE,
        several="{files:memory|memories} of {scope} have the name of another one: {files}.",
    ),
    "memories.empty": Kind("{scope}:{memory} has no text.", "Write it, or delete it: memtui rm {scope}:{memory}"),
    "memories.no_description": Kind(
        "{scope}:{memory} has no description, by which Claude finds it.",
        FIX,
        "lint",
        by=SCOPE,
        several="{files:memory|memories} of {scope} have no description, by which Claude finds them: {files}.",
    ),
    "memories.no_sentence": Kind(
        "{scope}:{memory} has no description, and its text has no sentence that could be one.",
        "Write one: memtui edit {scope}:{memory} --description …",
    ),
    "memories.same_line": Kind(
        "MEMORY.md of {scope} lists {file} {count} times.",
        FIX,
        "lint",
        by=SCOPE,
        several="MEMORY.md of {scope} lists {files:memory|memories} more than once: {files}.",
    ),
    "memories.path": Kind(
        "{scope}:{memory} names {words}, which was removed from the repository{commit:commit}{proposed:moved}.",
        "Correct the memory: memtui edit {scope}:{memory}",
        "lint",
        by=SCOPE,
        several="{files:memory|memories} of {scope} name paths that were removed from the repository: {files}.",
    ),
    "memories.command": Kind(
        "{scope}:{memory} names the command `{words}`, but {file} has no {name}.",
        "Correct the memory: memtui edit {scope}:{memory}",
    ),
    # found by lint: a person decides whether that is as it should be
    "memories.contradict": Kind(
        "{scope}:{memory} and {other} contradict each other: “{words}”, “{against}”.",
        "Change one: memtui edit {scope}:{memory}, or keep both: memtui check --apart {scope}:{memory} {other}",
    ),
    "memories.alike": Kind(
        "{scope}:{memory} and {other} are similar: {score:similar}.{why:unmerged}",
        "Merge them: memtui consolidate, or keep both: memtui check --apart {scope}:{memory} {other}",
    ),
    "memories.date": Kind(
        "{scope}:{memory} says “{words}”, which means another day each time it is read. It was written on {written}, "
        "so it means “{proposed}”.",
        "Write the date: memtui edit {scope}:{memory}",
        "lint",
        by=SCOPE,
        several=(
            "{files:memory|memories} of {scope} name days that mean another day each time they are read: {files}."
        ),
    ),
    "memories.symbol": Kind(
        "{scope}:{memory} names {words}, which was in the repository and is not any more{commit:commit}.",
        "Correct the memory: memtui edit {scope}:{memory}",
    ),
    "memories.long_hook": Kind(
        "Line {line} in MEMORY.md of {scope} has {count} characters. Claude Code asks for at most {most}.",
        "Shorten it; the memory itself has room: {path}",
        "lint",
        by=SCOPE,
        several="MEMORY.md of {scope} has {files:line|lines} of more than {most} characters: {files}.",
    ),
    "memories.empty_section": Kind("The section “{title}” in MEMORY.md of {scope} is empty.", FIX, "lint"),
    "memories.no_frontmatter": Kind(
        "{scope}:{memory} has no frontmatter, so no description and no type.",
        "If it is a memory: memtui edit {scope}:{memory} --description …",
        by=SCOPE,
        several="{files:memory|memories} of {scope} have no frontmatter, so no description and no type: {files}.",
    ),
    "memories.type": Kind(
        "{scope}:{memory} has the type “{type}”, which is none of the usual ones: {types}.",
        "memtui edit {scope}:{memory} --type TYPE",
        "lint",
        by=("scope", "type"),
        several="The type “{type}” of {files} in {scope} is none of the usual ones: {types}.",
    ),
    "memories.unused": Kind(
        "{scope}:{memory} came with {count:prompt} in {sessions:session}, and Claude neither opened it nor took up its"
        " words (a rule on how to answer may be followed without them).",
        "memtui consolidate proposes to mute it: then no prompt brings it.",
    ),
    "memories.violated": Kind(
        "{scope}:{memory} was violated: {count:correction} on it after Claude had been given it.",
        "Say it more plainly. After three times memtui consolidate proposes to pin it.",
    ),
    "rules.form": Kind(
        "{scope}:{memory}, line {line}, is no rule: {why}.",
        "Correct it: memtui edit {scope}:{memory}. The memory and its other rules work all the same.",
    ),
    "rules.pin": Kind(
        "{scope}:{memory} was lately broken in {broken} of {sessions:session} that had it: {rule}.",
        "memtui consolidate proposes to pin it: then every session begins with it.",
    ),
    "rules.refuse": Kind(
        "{scope}:{memory} was lately broken in {broken} of {sessions:session} that began with it: {rule}.",
        "memtui consolidate proposes that a hook refuses that, or that Claude Code asks you.",
    ),
    "rules.relax": Kind(
        "{scope}:{memory} held {count:time} in {days:day}, without a break: {rule}. It costs about {tokens:token} a"
        " session.",
        "memtui consolidate proposes to unpin it, or to archive it where it is not pinned: the habit may hold without.",
    ),
}
