"""The registry of findings: the sentence of each code, what to do, and the fix. No code reads a sentence to decide."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from memtui.base import memory_kinds, shell
from memtui.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.base.memory_kinds import Kind, fill

AREAS = {
    "hooks": "hooks",
    "client": "Claude Code",
    "root": "files",
    "config": "settings",
    "errors": "errors",
    "inbox": "notes and drafts",
    "memories": "memories",
    "trust": "trust",
    "journal": "changes",
    "kept": "kept data",
    "semantic": "sentence model",
    "llm": "models",
}


FIX_FILES = "memtui doctor --fix files, or: chmod -R "
WITHDRAW = "memtui note --withdraw {id}"
AGAIN = f"{WITHDRAW}, or a on it in Activity of the TUI sends it again"
NOTE_OF = "Note “{text}” for {inbox}"
STATUS = "memtui setup"
REINSTALL = "`memtui setup hooks --scope {source}` fixes it."
EDIT = "Edit {path}"
# A word of a remedy that facts fill, as `{scope}:{memory}`.
_PLACE = re.compile(r"\{\w+\}(?::\{\w+\})*")
UNCHECKED = Kind("This can't be checked: {why}.", "Check the owner and mode of the files it names.")

REGISTRY = {
    **{f"{area}.ok": Kind() for area in AREAS},
    "root.ok": Kind("private to you"),
    "config.ok": Kind("no mistakes"),
    "errors.ok": Kind("none in the last 7 days"),
    "inbox.ok": Kind("everything can be read and delivered"),
    "memories.ok": Kind("nothing broken, every index complete"),
    "trust.ok": Kind("nothing to review"),
    "journal.ok": Kind("all of them can be undone"),
    **{f"{area}.failed": UNCHECKED for area in AREAS},
    # hooks in Claude Code's settings
    "hooks.failed": UNCHECKED._replace(remedy=STATUS),
    "hooks.ok": Kind("{hooks:hook} ({places})"),
    "hooks.absent": Kind("The hooks are not installed, so memtui delivers nothing.", "memtui setup hooks", "install"),
    "hooks.others": Kind("Claude Code has no hooks of memtui's, only {agents}.", "memtui setup hooks", "install"),
    "hooks.file": Kind(
        "Claude Code skips {path} as a whole: {why}.",
        "Fix that in the file: until then nothing in it counts, neither hooks nor permissions.",
    ),
    "hooks.entry": Kind(
        "Claude Code skips a malformed hook in {path}, `{key}`.",
        "Fix or remove it there: older versions (2.1.197) skip the whole file for it.",
    ),
    "hooks.unserved": Kind(
        "No hook of memtui's ran in the {sessions:newest session|newest sessions} of this project, the first of them"
        " {first} (in {directories}). {last}.",
        "If nothing else is named that keeps hooks from running: /hooks in a session lists what it runs; one started"
        " with --bare, --setting-sources, CLAUDE_HEADLESS or another CLAUDE_CONFIG_DIR has none of memtui's.",
    ),
    "hooks.above": Kind(
        "A session that is started here runs no hooks: Claude Code reads {path} only for sessions started in "
        "{directory}.",
        "Start sessions in {directory}, or install the hooks for all projects: memtui setup hooks",
        "install",
    ),
    "hooks.disabled": Kind(
        "Claude Code runs no hooks: {path} says so (`{key}`).",
        "Take that out of the file; a managed file is your administrator's.",
    ),
    "hooks.not_believed": Kind(
        "{path} sets {name} for sessions of this project. memtui ignores it: take it out of `env` there.", STATUS
    ),
    "hooks.both": Kind(
        "Both the plugin and the settings run memtui's hooks; the plugin's do nothing. Keep one: "
        "`memtui setup hooks --remove`, or `/plugin disable {plugin}`.",
        STATUS,
    ),
    "hooks.gone": Kind("{path} starts {gone}, which does not exist. " + REINSTALL, STATUS, "install"),
    "hooks.other": Kind("{path} starts another installation of memtui, {launcher}. " + REINSTALL, STATUS, "install"),
    "hooks.elsewhere": Kind(
        "The hooks in {path} keep memtui's files in {there}, but MEMTUI_HOME or CLAUDE_CONFIG_DIR of this shell says "
        "{root}. " + REINSTALL,
        STATUS,
        "install",
    ),
    "hooks.outdated": Kind(
        "{path} has hooks that this version of memtui writes differently. " + REINSTALL, STATUS, "install"
    ),
    "hooks.event_absent": Kind("{path} has no memtui hook for {events}. " + REINSTALL, STATUS, "install"),
    "hooks.several": Kind("{event} runs {count} memtui hooks, one is enough: {paths}.", STATUS),
    "hooks.plugin_absent": Kind("{path} enables the plugin {plugin}, but Claude Code has not installed it.", STATUS),
    "hooks.plugin_launcher": Kind("The plugin's launcher {launcher} does not exist: reinstall the plugin.", STATUS),
    "hooks.plugin_no_python": Kind("The plugin's hooks need `python3` on the PATH, and there is none.", STATUS),
    # those of other agents
    "hooks.agent": Kind("memtui's hooks in {agent} are {state}.", "{remedy}"),
    "hooks.agent_note": Kind("{words}"),
    # Claude Code
    "client.absent": Kind("not on the PATH, so its version is not known"),
    "client.no_version": Kind("{path} --version prints no version.", "Run `claude --version` and fix what it says."),
    "client.old": Kind("{path} is version {version}, too old for memtui's hooks.", "Update Claude Code."),
    "client.ok": Kind("{version} at {path}"),
    "client.memory_off": Kind(
        "Claude Code's own memory is off ({by}): the {memories:memory|memories} in scope auto are not loaded.",
        "Switch it on there (`autoMemoryEnabled`), or approve drafts with --scope global or --scope project.",
    ),
    # memtui's own files
    "root.foreign": Kind(
        "{path} belongs to another user (number {owner}), so memtui does not read or write there.",
        'Make it yours: sudo chown -R "$USER" {path}, or move it away.',
    ),
    "root.absent": Kind("{root} does not exist yet; it is created when needed."),
    "root.unmakable": Kind(
        "{root} can't be created: {above} is not writable.", "chmod u+rwx {above}, or set MEMTUI_HOME."
    ),
    "root.no_directory": Kind("{root} is not a directory.", "Move it away: mv {root} {root}.aside"),
    "root.unwritable": Kind("{root} is not writable, so hooks log nothing.", FIX_FILES + "u+rwX {root}", "files"),
    "root.open": Kind(
        "Other users can read {count:file|files} of memtui's: {files}.", FIX_FILES + "go-rwx {root}", "files"
    ),
    "root.locked": Kind("You can't read and write {files} in {root}.", FIX_FILES + "u+rwX {root}", "files"),
    # settings
    "config.failed": UNCHECKED,
    "config.silent": Kind("{name} is set, so hooks of sessions started in this shell do nothing.", "unset {name}"),
    "config.defaults": Kind("all at their defaults"),
    "config.unreadable": Kind("{path} can't be read: {why}. The settings as last read are used.", EDIT),
    "config.mode_off": Kind("The mode is off, so sessions here get nothing.", "memtui config set mode full"),
    "config.mode_off_here": Kind(
        "The mode is off for this project, so sessions here get nothing.", "memtui config set mode full --project ."
    ),
    "config.unknown": Kind("{table}{key} is not a setting.", EDIT),
    "config.misspelt": Kind("{table}{key} is not a setting. Did you mean {meant}?", EDIT),
    "config.no_model": Kind(
        "{key} is on, but llm_backend is off, so no model is asked.",
        "Choose one: memtui config set llm_backend auto; or switch it off: memtui config unset {key}",
    ),
    "config.value": Kind("{table}{key} {why}, not {given}. It is not used.", EDIT),
    "config.not_own": Kind("{table}{key} can't be set for one project.", EDIT),
    "config.keys": Kind("{table}{key} {why}", EDIT),
    "config.no_project": Kind(
        '{table}is no table of a project, named by the absolute path of its root, such as [projects."/path"].', EDIT
    ),
    # errors of hooks and workers
    "errors.failed": UNCHECKED._replace(fix="errors"),
    "errors.recent": Kind(
        "{count:error} of hooks and workers in the last {days} days, the last {age}: {where}: {error}: {message}",
        "memtui doctor --errors lists them. Once the cause is fixed, set them aside: memtui doctor --fix errors",
        "errors",
    ),
    # inboxes
    "inbox.part": Kind(
        "{path} is larger than {most} MB, so nothing in it is read.",
        "Remove what is not a note. A log belongs in a file of its own, which a note can name.",
    ),
    "inbox.renamed": Kind(
        "{root} is gone, and this project {why}: {count:memory or entry|memories and entries} of it are kept apart.",
        "If it was renamed: memtui doctor --fix projects --project {here}",
        "projects",
    ),
    "inbox.closed": Kind("You may not read {path}.", 'Make it yours again: sudo chown "$USER" {path}'),
    "inbox.directory": Kind("{path} is a directory, not a file.", "Move it away: mv {path} {path}.aside"),
    "inbox.unread": Kind("{path} can't be read: {why}.", "Check what it is, its owner and its mode."),
    "inbox.claim_unread": Kind("{path} can't be read ({why}), so its notes stay undelivered.", "Move {path} away."),
    "inbox.unproven": Kind(
        "It is not known whether the notes for {inbox} arrived with delivery {delivery}.",
        "The next session of that project finds out, or now: memtui doctor --fix notes",
        "notes",
    ),
    "inbox.nobody": Kind(
        NOTE_OF + " reaches nobody: no agent or session is called “{whom}”.", f"Change whom it is for, or {WITHDRAW}"
    ),
    "inbox.endless": Kind(
        NOTE_OF + " never expires: “{expires}” is not a time.", f"Change its `expires`, or {WITHDRAW}"
    ),
    "inbox.expired": Kind(NOTE_OF + " expired before it was delivered.", AGAIN, "", "expired"),
    "inbox.held": Kind(NOTE_OF + " is held back: it came back {attempts} times.", AGAIN, "", "returned {attempts}×"),
    "inbox.binary": Kind(NOTE_OF + " is not text, so it is not delivered.", WITHDRAW, "", "binary, not delivered"),
    "inbox.long": Kind(
        NOTE_OF + " is too long to be delivered.",
        f"Shorten it in Activity, or {WITHDRAW}",
        "",
        "too long, not delivered",
    ),
    "inbox.secret": Kind("Note {id} for {inbox} seems to contain {kinds}.", f"Take it out in Activity, or {WITHDRAW}"),
    # memories and their index
    **memory_kinds.KINDS,
    # trust in the project's memories
    "trust.unreadable": Kind(
        "{path} can't be read, so no memory of a repository is trusted.", "Fix it, or remove it and trust again."
    ),
    "trust.waiting": Kind(
        "{files:memory is|memories are} not trusted, and so not delivered: {files} in {directory}.",
        "Read and trust: memtui trust",
        "trust",
        "not trusted, not delivered: {do}",
        ("directory",),
        letter="U",
    ),
    # the journal, what is kept
    "journal.cut_off": Kind("a change was interrupted; the next one completes or reverts it"),
    "journal.skipped": Kind("{count:line} of {path} can't be read, so those changes can't be undone"),
    # the daemon with a sentence model
    "semantic.ok": Kind("{model}, kept warm by process {pid}"),
    "semantic.starting": Kind("{model} is being loaded"),
    "semantic.idle": Kind("{model}; its daemon starts with the next session"),
    "semantic.not_installed": Kind(
        "The setting semantic is on, but the extra is not installed, so prompts are compared without it.", "{install}"
    ),
    "semantic.not_loaded": Kind(
        "The daemon can't work, so prompts are compared without it: {why}.",
        "memtui model sentences on tries again at once.",
    ),
    "semantic.silent": Kind(
        "The daemon was killed, or hangs, so prompts are compared without it.",
        "The next session starts it, or now: memtui model sentences on",
    ),
    # models that memtui may ask
    "llm.off": Kind("off: memtui asks no model"),
    "llm.ok": Kind("{model} by {backend}; today {calls:call}, {tokens} tokens, ${cost}"),
    "llm.no_key": Kind(
        "There is no ANTHROPIC_API_KEY.", "Set ANTHROPIC_API_KEY, or: memtui config set llm_backend claude"
    ),
    "llm.no_server": Kind(
        "llm_key is none, but there is no ANTHROPIC_BASE_URL.",
        "Set ANTHROPIC_BASE_URL to the address of your server, or: memtui config unset llm_key",
    ),
    "llm.no_package": Kind("The Python package anthropic is not installed.", "{install}"),
    "llm.no_client": Kind("`claude` is not on the PATH.", "Install Claude Code, or: memtui config set llm_backend api"),
    "llm.nothing": Kind(
        "There is neither ANTHROPIC_API_KEY nor `claude` on the PATH.", "Set ANTHROPIC_API_KEY, or install Claude Code."
    ),
    "llm.budget": Kind("Today's budget for models is used up: {count:call|calls} not made.", "memtui model log"),
    "llm.instead": Kind(
        "The service does not have {wanted}, so {model} is asked. It lists {models}.",
        "Choose one of these: memtui config set llm_model NAME",
    ),
    "llm.absent": Kind(
        "The service does not have the model {model}, and it {why}.",
        "Choose another model: memtui config set llm_model NAME; or check ANTHROPIC_BASE_URL.",
    ),
    "llm.dream": Kind("The last dream had no answer: {why}", "memtui model log"),
    "llm.last_failed": Kind("The last call of a model had no answer ({outcome}, {when}).", "memtui model log"),
    "kept.counts": Kind(
        "The counts of rules could not be read: they are in {path} now, and transcripts of the last {days} days were"
        " counted anew.",
        "rm {path}",
    ),
    "kept.ok": Kind(
        "{changes:change} for undo{since:age}, {log:size} of deliveries, {keep_days:texts},"
        " {versions:size} of versions, {bytes:size} in all"
    ),
}


def message(finding: Finding) -> str:
    """Return the sentence of a finding; empty for an area that is all right."""
    kind, files = REGISTRY[finding.code], finding.data.get("files")
    is_several = bool(kind.several) and isinstance(files, list) and len(files) > 1
    return fill(kind.several if is_several else kind.words, finding.data)


def remedy(finding: Finding) -> str:
    """Return what to do about a finding; empty if there is nothing to do."""
    return _PLACE.sub(lambda place: shell.shell_word(fill(place[0], finding.data)), REGISTRY[finding.code].remedy)


def flag(finding: Finding, do: str = "memtui trust") -> str:
    """Return the short form of a finding for a list. `do`: the command or key that trusts a memory."""
    return fill(REGISTRY[finding.code].flag, {**finding.data, "do": do})


def fix_of(finding: Finding) -> str:
    """Return the id of the fix for a finding; empty if only a person can fix it."""
    return REGISTRY[finding.code].fix


def with_remedy(finding: Finding) -> str:
    return f"{message(finding)} {remedy(finding)}".strip()


def unread_row(finding: Finding) -> dict[str, str]:
    """Return the finding on an inbox that can't be read, for --json."""
    return {"message": message(finding), "hint": remedy(finding)}


def as_row(finding: Finding) -> dict[str, object]:
    return {
        "area": finding.area,
        "code": finding.code,
        "level": finding.level,
        "memories": memories(finding),
        "place": place(finding),
        "subject": finding.subject,
        "message": message(finding),
        "remedy": remedy(finding),
    }


def memories(finding: Finding) -> list[str]:
    files = finding.data.get("files") or [finding.data[key] for key in ("memory", "file") if key in finding.data][:1]
    return list(map(str, files)) if isinstance(files, list) else []


def _agreement(finding: Finding) -> tuple[str, ...]:
    """Return what the findings of one cause agree in beside their code; nothing where each is one of its own."""
    by, index = REGISTRY[finding.code].by, finding.subject if finding.subject.startswith("index:") else ""
    return (index, *(str(finding.data.get(key)) for key in by)) if by else ()


def grouped(findings: Iterable[Finding], more: Callable[[Finding], object] = lambda _: None) -> list[list[Finding]]:
    """Group findings by what they come from (`Kind.by`), in their order; those in a group agree in `more` too."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        key = (finding.code, finding.level, _agreement(finding) or number, more(finding))
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def merged(findings: Sequence[Finding]) -> Finding:
    """Return one finding for those of one cause, with the names of all memories."""
    if len(findings) == 1:
        return findings[0]
    files = list(dict.fromkeys(name for finding in findings for name in memories(finding)))
    return findings[0]._replace(data={**findings[0].data, "files": files})


def place(finding: Finding) -> str:
    """Return the place where a finding is cured: `inbox` for memories, `activity` for notes that wait, else `setup`."""
    if finding.subject.startswith("note:"):
        return "activity"
    is_of_memories = finding.area == "memories" or finding.code in {"trust.waiting", "trust.ok"}
    return "inbox" if is_of_memories and finding.code != "memories.failed" else "setup"


def of_setup(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings on what is set up: those on memories wait in the Inbox, those on notes in Activity."""
    return [finding for finding in findings if place(finding) == "setup"]


def problems(findings: Iterable[Finding]) -> int:
    """Count the problems to fix, by cause."""
    return len(grouped(finding for finding in findings if finding.level == PROBLEM))


def notes(findings: Iterable[Finding]) -> int:
    """Count what is worth knowing, by cause."""
    return len(grouped(finding for finding in findings if finding.level == NOTE))


# What a person can do: have it fixed, trust memories, edit the memory, or what `remedy` says.
Action = Literal["fix", "trust", "edit", "run"]


class Problem(NamedTuple):
    """A cause of trouble: the finding for all that it touches, its `parts`, what can be done, what to type."""

    finding: Finding
    parts: tuple[Finding, ...]
    action: Action
    remedy: str

    @property
    def cause(self) -> str:
        """The code of the findings: `memories.cut`."""
        return self.finding.code

    @property
    def key(self) -> str:
        """What tells it from all others, however many memories it touches."""
        return f"problem:{self.cause} {' '.join(_agreement(self.finding)) or self.sentence}"

    @property
    def later_key(self) -> str:
        """What it is hidden under; it shows again once it touches other memories."""
        return f"problem:{self.cause} {self.sentence}"

    @property
    def level(self) -> str:
        """PROBLEM for what is to be fixed, NOTE for what is worth knowing."""
        return self.finding.level

    @property
    def sentence(self) -> str:
        """What is wrong: `MEMORY.md of auto is over its limit: 305 memories not loaded.`"""
        return message(self.finding)

    @property
    def memories(self) -> list[str]:
        """The names of the memories and files that it touches."""
        return memories(self.finding)


def by_cause(
    findings: Iterable[Finding],
    fixable: Callable[[Finding], bool] = lambda finding: bool(fix_of(finding)),
    remedy: Callable[[Finding], str] = remedy,
) -> list[Problem]:
    """Return the problems that findings tell of. `fixable`: whether memtui fixes one; `remedy`: what to type."""
    findings = (finding for finding in findings if finding.level != OK)
    causes = [(merged(parts), tuple(parts)) for parts in grouped(findings, fixable)]
    return [Problem(whole, parts, _action(parts[0], fixable), remedy(whole)) for whole, parts in causes]


def _action(finding: Finding, fixable: Callable[[Finding], bool]) -> Action:
    if fix_of(finding) == "trust":
        return "trust"
    return "fix" if fixable(finding) else "edit" if finding.subject.startswith("memory:") else "run"
