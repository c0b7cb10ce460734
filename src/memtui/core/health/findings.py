"""The registry of findings: each code with its sentence, what to do about it, and the fix that does it (fixes.py).

A check makes a `Finding` (core/base/finding.py) from a code and facts; `doctor`, Health, `hooks status`, the flags of
memories and the states of guidance take their words from here. No code reads a sentence to decide what to do.
"""

from collections.abc import Iterable
from typing import NamedTuple

from memtui.core.base.finding import PROBLEM, Finding
from memtui.core.base.phrasing import ago, many, size

NAMES_SHOWN = 5
AREAS = {
    "hooks": "hooks in Claude Code's settings",
    "client": "Claude Code",
    "root": "memtui's own files",
    "config": "settings",
    "errors": "errors of hooks and workers",
    "inbox": "inboxes",
    "memories": "memories and their index",
    "trust": "trust in the project's memories",
    "journal": "the journal of changes",
    "log": "the delivery log",
    "kept": "what is kept",
}


class Kind(NamedTuple):
    """The words of a code: `words` and `remedy` are templates filled with its data, `flag` is a short form for lists.

    `{name:memory|memories}` is a count, `{name:size}` a number of bytes; a list of names is cut after NAMES_SHOWN.
    `fix` is the id of the fix that CLI and TUI offer, empty if only a person can fix it.
    """

    words: str = ""
    remedy: str = ""
    fix: str = ""
    flag: str = ""


FIX_FILES = "memtui doctor --fix files, or: chmod -R "
FIX_INDEX = "memtui index --scope {scope} --fix"
WITHDRAW = "memtui guide --withdraw {id}"
AGAIN = f"memtui guide --again {{id}}, or {WITHDRAW}"
GUIDANCE = "{inbox}: guidance {id}"
STATUS = "memtui hooks status"
REINSTALL = "`memtui hooks install --scope {source}` fixes it."
UNLINK = "Remove the link."
EDIT = "memtui config edit   (docs: {path})"

REGISTRY = {
    **{f"{area}.ok": Kind() for area in AREAS},
    **{
        f"{area}.failed": Kind("can't be looked at: {why}", "Check owner and mode of the files it names.")
        for area in AREAS
    },
    # hooks in Claude Code's settings
    "hooks.failed": Kind("can't be looked at: {why}", STATUS),
    "hooks.ok": Kind("{hooks:hook} ({places})"),
    "hooks.absent": Kind("not installed: no session is served", "memtui hooks install", "install"),
    "hooks.file": Kind("{path}: {why}", STATUS),
    "hooks.disabled": Kind("No hook runs: {path} says so (`disableAllHooks` or `allowManagedHooksOnly`).", STATUS),
    "hooks.not_believed": Kind(
        "{path} sets {name} for sessions of this project. memtui does not believe it: take it out of `env` there.",
        STATUS,
    ),
    "hooks.both": Kind(
        "Plugin and settings hooks are both on; the plugin's stand down. Keep one: `memtui hooks uninstall`, or "
        "`/plugin disable {plugin}`.",
        STATUS,
    ),
    "hooks.gone": Kind("{path} starts {gone}, which is not there. " + REINSTALL, STATUS, "install"),
    "hooks.other": Kind("{path} starts another memtui, {launcher}. " + REINSTALL, STATUS, "install"),
    "hooks.elsewhere": Kind(
        "The hooks in {path} keep memtui's files in {there}, but MEMTUI_HOME or CLAUDE_CONFIG_DIR of this shell says "
        "{root}. " + REINSTALL,
        STATUS,
        "install",
    ),
    "hooks.outdated": Kind(
        "{path} holds a command that this memtui would write differently. " + REINSTALL, STATUS, "install"
    ),
    "hooks.status_line_hidden": Kind(
        "Claude Code shows the status line of {path} here, not memtui's",
        "To see both, put `memtui statusline --after '…'` with its command there",
    ),
    "hooks.event_absent": Kind("{path} has no hook of memtui's for {events}. " + REINSTALL, STATUS, "install"),
    "hooks.several": Kind("{event} runs {count} memtui hooks: {paths}.", STATUS),
    "hooks.plugin_absent": Kind("{path} enables the plugin {plugin}, but the client has not installed it.", STATUS),
    "hooks.plugin_launcher": Kind("The plugin's launcher {launcher} is not there: reinstall the plugin.", STATUS),
    "hooks.plugin_no_python": Kind("The plugin's hooks need `python3` on the PATH, and there is none.", STATUS),
    "hooks.plugin_python_fails": Kind("The plugin's hooks start {python}, which does not run: {why}", STATUS),
    "hooks.plugin_python_old": Kind("The plugin's hooks need Python 3.11, and {python} is {version}.", STATUS),
    # Claude Code
    "client.absent": Kind("`claude` is not on the PATH, so its version is not known"),
    "client.no_version": Kind("{path} does not tell its version", "Run `claude --version` and fix what it says."),
    "client.old": Kind("{path} is {version}: too old for these hooks", "Update Claude Code."),
    "client.ok": Kind("{version} at {path}"),
    "client.memory_off": Kind(
        "its own memory is switched off by {by}: nobody loads the {memories:memory|memories} of the scope auto",
        "Approve drafts with --scope global or --scope project, or switch it on there (`autoMemoryEnabled`).",
    ),
    # memtui's own files
    "root.foreign": Kind(
        "{path} belongs to another user (number {owner}): nothing there is read or written",
        'Make it yours: sudo chown -R "$USER" {path}, or move it away.',
    ),
    "root.absent": Kind("{root} is not there yet; the first thing that is written makes it"),
    "root.unmakable": Kind("{root} can't be made: {above} is not writable", "chmod u+rwx {above}, or set MEMTUI_HOME."),
    "root.no_directory": Kind("{root} is no directory", "Move it away."),
    "root.unwritable": Kind("{root} is not writable: hooks log nothing", FIX_FILES + "u+rwX {root}", "files"),
    "root.open": Kind(
        "{count} of memtui's files are open to other users: {files}", FIX_FILES + "go-rwx {root}", "files"
    ),
    "root.locked": Kind("not readable and writable for you: {files}", FIX_FILES + "u+rwX {root}", "files"),
    "root.trash": Kind("the trash holds {bytes:size}", "memtui restore lists it; memtui rm --purge ID."),
    # settings
    "config.failed": Kind("can't be looked at: {why}", "Check owner and mode of the files it names.", "config"),
    "config.silent": Kind("{name} is set: hooks of sessions started here do nothing", "unset {name}"),
    "config.defaults": Kind("defaults"),
    "config.unreadable": Kind(
        "{path} can't be read: {why}; the last good settings hold", "memtui config edit", "config"
    ),
    "config.mode_off": Kind("the mode is off: sessions here get nothing", "memtui config set mode full"),
    "config.unknown": Kind("{table}{key} is no setting", EDIT, "config"),
    "config.misspelt": Kind("{table}{key} is no setting: did you mean {meant}?", EDIT, "config"),
    "config.value": Kind("{key} {why}, not {given}: the default holds", EDIT, "config"),
    "config.own_value": Kind("{table}{key} {why}, not {given}", EDIT, "config"),
    "config.not_own": Kind("{table}{key} can't be set for one project", EDIT, "config"),
    "config.keys": Kind("{table}{key} {why}", EDIT, "config"),
    "config.no_tables": Kind('projects must hold tables, as [projects."/path"]', EDIT, "config"),
    "config.no_table": Kind("{table}must be a table", EDIT, "config"),
    "config.relative": Kind("{table}must name an absolute path", EDIT, "config"),
    "config.no_root": Kind("{table}is no project's root: that is {root}", EDIT, "config"),
    # errors of hooks and workers
    "errors.failed": Kind("can't be looked at: {why}", "Check owner and mode of the files it names.", "errors"),
    "errors.recent": Kind(
        "{count:error} within {days} days; the last at {time}: {where}: {error}: {message}",
        "Look into {path}. Once that is fixed, set it aside: memtui doctor --fix errors",
        "errors",
    ),
    # inboxes
    "inbox.part": Kind(
        "{path} is larger than {most} MB: only notes in its first and its last half MB are read; {left} MB between "
        "them wait in vain.",
        "Take out of it what is no note: a log belongs into a file of its own, which a note can name.",
    ),
    "inbox.closed": Kind("{path} is closed to you.", 'Make it yours again: sudo chown "$USER" {path}'),
    "inbox.directory": Kind("{path} is a directory, no file.", "Move it away: mv {path} {path}.aside"),
    "inbox.unread": Kind("{path} can't be read: {why}.", "Check what it is, its owner and its mode."),
    "inbox.claim_unread": Kind("{path} {why}: nobody settles it", "Move {path} away."),
    "inbox.unproven": Kind(
        "{inbox}: guidance taken by delivery {delivery} is still unproven",
        "The next session of that project settles it, and memtui doctor --fix guidance; or move {path} back.",
        "guidance",
    ),
    "inbox.nobody": Kind(GUIDANCE + " is for “{whom}”: nobody", f"Fix its `for`, or {WITHDRAW}", "withdraw"),
    "inbox.endless": Kind(
        GUIDANCE + " never expires: “{expires}” is no time", f"Fix its `expires`, or {WITHDRAW}", "withdraw"
    ),
    "inbox.expired": Kind(GUIDANCE + " expired undelivered", AGAIN, "again", "expired"),
    "inbox.held": Kind(
        GUIDANCE + " is held: it came back {attempts} times", AGAIN, "again", "held: came back {attempts} times"
    ),
    "inbox.binary": Kind(GUIDANCE + " is binary and not delivered", WITHDRAW, "withdraw", "binary, not delivered"),
    "inbox.long": Kind(
        GUIDANCE + " is too long to be delivered", f"Shorten it, or {WITHDRAW}", "withdraw", "too long to deliver"
    ),
    "inbox.secret": Kind(
        GUIDANCE + " looks like it holds {kinds}", f"memtui guide --edit {{id}} TEXT, or {WITHDRAW}", "withdraw"
    ),
    "inbox.old": Kind("{id} is older than {days} days", "", "", "older than {days} days, not delivered"),
    # memories and their index
    "memories.scope": Kind("{scope}: {path} {why}", UNLINK),
    "memories.broken": Kind("{scope}:{memory} is broken: {why}", "Fix {path} in an editor.", flag="broken: {why}"),
    "memories.leaves": Kind("{scope}:{memory} is broken: {why}", UNLINK, flag="broken: {why}"),
    "memories.hidden": Kind(
        "{scope}:{memory} holds {count:character} that nobody can see",
        "Instructions can hide so: look at {path} in an editor that shows them.",
        flag="{count:character} that nobody can see",
    ),
    "memories.link": Kind(
        "{scope}:{memory} links to [[{name}]], which is not there",
        "memtui new {name}, or take the link out: memtui edit {scope}:{memory}",
        flag="broken link [[{name}]]",
    ),
    "memories.cut": Kind(
        "{scope}: MEMORY.md is too long, cut at line {line}: {below} memories below",
        "Shorten lines or move memories elsewhere: memtui index",
        flag="below the cut of MEMORY.md: the client does not load its line",
    ),
    "memories.dangling": Kind("{scope}: MEMORY.md points to what is not there: {files}", FIX_INDEX, "index"),
    "memories.no_line": Kind("{scope}: MEMORY.md has no line for {files}", FIX_INDEX, "index", "no line in MEMORY.md"),
    "memories.changed": Kind("{file} changed since it was delivered", flag="changed since it was delivered"),
    # trust in the project's memories
    "trust.unreadable": Kind("{path} can't be read: nothing is trusted", "Fix it, or remove it and trust again."),
    "trust.waiting": Kind(
        "not trusted, so not delivered, in {directory}: {files}",
        "Read them, then: memtui trust",
        "trust",
        "not trusted, not delivered: {do}",
    ),
    "trust.refused": Kind("{path} {why}", UNLINK),
    # the journal, the delivery log, what is kept
    "journal.cut_off": Kind("a change was cut off; the next one finishes it or takes it back"),
    "journal.skipped": Kind("{count} lines of {path} can't be read: those can't be undone"),
    "log.skipped": Kind("{count} of the newest lines of {path} can't be read and are passed over"),
    "kept.ok": Kind("{changes:change} for undo{since:age}, {log:size} of deliveries, {texts_days:texts}"),
    "kept.due": Kind(
        "{changes:change} for undo{since:age}, {log:size} of deliveries, {texts_days:texts}; some of it is due to go"
        " with the end of a turn",
        "memtui gc --dry-run",
        "collect",
    ),
}


def some(names: list[str]) -> str:
    """Join the first NAMES_SHOWN names, and say how many more there are."""
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


class _Fact:
    """A value, formatted as a template asks; see `Kind`."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __format__(self, how: str) -> str:
        value = self.value
        if isinstance(value, list):
            return some(value)
        if how == "age":
            return f" since {ago(0.0, value)}" if isinstance(value, float) else ""
        if not how or not isinstance(value, int):
            return str(value)
        if how == "size":
            return size(value)
        if how == "texts":
            return f"their texts for {many(value, 'day')}" if value else "with all texts"
        return many(value, *how.split("|"))


def _filled(template: str, found: Finding, **more: object) -> str:
    return template.format_map({key: _Fact(value) for key, value in {**found.data, **more}.items()})


def message(found: Finding) -> str:
    """Return the sentence of a finding; empty for an area that is all right."""
    return _filled(REGISTRY[found.code].words, found)


def remedy(found: Finding) -> str:
    """Return what to do about a finding; empty if there is nothing to do."""
    return _filled(REGISTRY[found.code].remedy, found)


def flag(found: Finding, do: str = "memtui trust") -> str:
    """Return the short form of a finding for a list. `do`: the command or key that trusts a memory."""
    return _filled(REGISTRY[found.code].flag, found, do=do)


def fix_of(found: Finding) -> str:
    """Return the id of the fix for a finding; empty if only a person can fix it."""
    return REGISTRY[found.code].fix


def with_remedy(found: Finding) -> str:
    """Return the sentence of a finding, and what to do about it."""
    return f"{message(found)} {remedy(found)}".strip()


def unread_row(found: Finding) -> dict[str, str]:
    """Return the finding on an inbox that can't be read, for --json."""
    return {"message": message(found), "hint": remedy(found)}


def as_row(found: Finding) -> dict[str, object]:
    """Return a finding for --json."""
    return {
        "area": found.area,
        "code": found.code,
        "level": found.level,
        "subject": found.subject,
        "message": message(found),
        "remedy": remedy(found),
    }


def problems(found: Iterable[Finding]) -> int:
    """Count the findings that are problems."""
    return sum(each.level == PROBLEM for each in found)
