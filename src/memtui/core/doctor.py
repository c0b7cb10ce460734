"""What a person could have wrong with memtui's files, and how to mend it. Looks only; nothing is changed.

The hooks and the client are looked at by the command line (cli/doctor.py), which may import them.
"""

import dataclasses
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from memtui.core import (
    claims,
    clock,
    config,
    delivery,
    fastjson,
    fs,
    ids,
    inbox,
    index_budget,
    keymap,
    locate,
    memory_index,
    paths,
    review,
    scopes,
    trust,
)
from memtui.core.errors import MemtuiError
from memtui.core.journal import Journal
from memtui.core.memory import Memory
from memtui.core.words import many

OK, NOTE, PROBLEM = "ok", "note", "problem"
DAY = 86400.0
ERRORS_DAYS = 7
CLAIM_SECONDS = 3600.0
TRASH_BYTES = 100_000_000
Fits = Callable[[inbox.Entry, str, str], bool]
FILES_LOOKED_AT = 20_000
NAMES_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Finding:
    """`area` is what was looked at, `level` is ok, note or problem, `remedy` what to do; empty where nothing is.
    `about`: `memory:` and a path, `note:` and an id, or `index:` and a scope, where it is about one."""

    area: str
    level: str
    message: str
    remedy: str = ""
    about: str = ""


def check(
    env: dict[str, str],
    cwd: str,
    now: float,
    fits: Fits,
    actions: Mapping[str, str] | None = None,
    known: dict[str, Memory] | None = None,
) -> list[Finding]:
    """Everything but hooks and client. `fits` tells of guidance (entry, scope, inbox) whether a delivery has room;
    `actions` are those of the control room, id to keys, that `[keys]` may name; `known` as for `survey.survey`.

    A check that fails itself is a finding; the others go on.
    """
    root = paths.root(env)
    found: list[Finding] = []
    checks: dict[str, Iterator[Finding]] = {
        "root": _root(root),
        "config": _config(env, root, paths.project_root(cwd), actions),
        "errors": _errors(root, now),
        "inbox": _inboxes(root, now, fits),
        "memories": _memories(env, cwd, known),
        "trust": _trust(env, root, cwd),
        "journal": _journal(root),
        "log": _log(root),
    }
    for area, findings in checks.items():
        try:
            got = list(findings)
        except (OSError, MemtuiError, ValueError, RecursionError) as error:
            got = [
                Finding(area, PROBLEM, f"can't be looked at: {error}", "Check owner and mode of the files it names.")
            ]
        found += got or [Finding(area, OK, "")]
    return found


def _some(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _root(root: str) -> Iterator[Finding]:
    if not os.path.lexists(root):
        above = root
        while not os.path.isdir(above):
            above = os.path.dirname(above)
        if not os.access(above, os.W_OK | os.X_OK):
            yield Finding(
                "root",
                PROBLEM,
                f"{root} can't be made: {above} is not writable",
                f"chmod u+rwx {above}, or set MEMTUI_HOME.",
            )
        else:
            yield Finding("root", OK, f"{root} is not there yet; the first thing that is written makes it")
        return
    if not os.path.isdir(root):
        yield Finding("root", PROBLEM, f"{root} is no directory", "Move it away.")
        return
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        remedy = f"memtui doctor --fix files, or: chmod -R u+rwX {root}"
        yield Finding("root", PROBLEM, f"{root} is not writable: hooks log nothing", remedy)
        return
    open_to_others, locked = [], []
    # In a directory that is closed, a note left by `echo >>` is as safe as any.
    closed = not os.stat(root).st_mode & 0o077
    for number, (path, mode) in enumerate(modes(root)):
        if number >= FILES_LOOKED_AT:
            break
        if mode & 0o077 and not closed:
            open_to_others.append(os.path.relpath(path, root))
        if mode & 0o600 != 0o600:
            locked.append(os.path.relpath(path, root))
    if open_to_others:
        yield Finding(
            "root",
            PROBLEM,
            f"{len(open_to_others)} of memtui's files are open to other users: {_some(open_to_others)}",
            f"memtui doctor --fix files, or: chmod -R go-rwx {root}",
        )
    if locked:
        yield Finding(
            "root",
            PROBLEM,
            f"not readable and writable for you: {_some(locked)}",
            f"memtui doctor --fix files, or: chmod -R u+rwX {root}",
        )
    trash = sum(os.lstat(path).st_size for path, _ in modes(root + "/trash"))
    if trash > TRASH_BYTES:
        yield Finding(
            "root", NOTE, f"the trash holds {trash // 1_000_000} MB", "memtui restore lists it; memtui rm --purge ID."
        )


def modes(top: str) -> Iterator[tuple[str, int]]:
    """Every file and directory from `top` on, with its permission bits; no symlinks."""
    try:
        yield top, os.lstat(top).st_mode & 0o777
    except OSError:
        return
    for here, directories, files in os.walk(top):
        for name in [*directories, *files]:
            path = os.path.join(here, name)
            try:
                found = os.lstat(path).st_mode
            except OSError:
                continue
            if found & fs.S_IFMT != fs.S_IFLNK:
                yield path, found & 0o777


def _config(env: dict[str, str], root: str, project: str, actions: Mapping[str, str] | None) -> Iterator[Finding]:
    for name in ("CLAUDE_HEADLESS", "MEMTUI_INSIDE"):
        if env.get(name):
            yield Finding("config", NOTE, f"{name} is set: hooks of sessions started here do nothing", f"unset {name}")
    path = config.file_path(root)
    data = fs.read_or_empty(path)
    if not data.strip():
        yield Finding("config", OK, "defaults")
        return
    try:
        settings = tomllib.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        yield Finding(
            "config", PROBLEM, f"{path} can't be read: {error}; the last good settings hold", "memtui config edit"
        )
        return
    if config.value(settings, project, "mode") == "off":
        yield Finding("config", NOTE, "the mode is off: sessions here get nothing", "memtui config set mode full")
    for where, key, problem in problems(settings, actions):
        yield Finding("config", PROBLEM, f"{where}{key} {problem}", f"memtui config edit   (docs: {path})")


def problems(settings: dict[str, object], actions: Mapping[str, str] | None = None) -> Iterator[tuple[str, str, str]]:
    """(table, key, what is wrong) of settings as written. `actions` as in `check`."""
    tables = settings.get("projects", {})
    for key, given in settings.items():
        if key in {"projects", keymap.TABLE}:
            continue
        if key not in config.DEFAULTS:
            yield "", key, "is no setting" + _near(key)
        elif (problem := config.problem(key, given)) is not None:
            yield "", key, f"{problem}, not {given!r}: the default holds"
    for name, problem in keymap.problems(settings, actions) if actions is not None else ():
        yield "" if name == keymap.TABLE else "[keys] ", name, problem
    if not isinstance(tables, dict):
        yield "", "projects", 'must hold tables, as [projects."/path"]'
        return
    for place, table in tables.items():
        where = f'[projects."{place}"] '
        if not isinstance(table, dict):
            yield where, "", "must be a table"
            continue
        if not place.startswith("/"):
            yield where, "", "must name an absolute path"
        elif paths.project_root(place) != place:
            yield where, "", f"is no project's root: that is {paths.project_root(place)}"
        for key, given in table.items():
            if key not in config.PER_PROJECT:
                why = "can't be set for one project" if key in config.DEFAULTS else "is no setting" + _near(key)
                yield where, key, why
            elif (problem := config.problem(key, given)) is not None:
                yield where, key, f"{problem}, not {given!r}"


def _near(key: str) -> str:
    import difflib

    close = difflib.get_close_matches(key, config.DEFAULTS, 1)
    return f": did you mean {close[0]}?" if close else ""


def _errors(root: str, now: float) -> Iterator[Finding]:
    path = root + "/log/errors.jsonl"
    if not os.path.exists(path):
        return
    recent = []
    for line in delivery.lines_backwards(path):
        row = fastjson.loads_dict(line)
        seconds = clock.parse(row.get("time"))
        if seconds is None:
            continue
        if seconds < now - ERRORS_DAYS * DAY:
            break
        recent.append(row)
    if recent:
        last = recent[0]
        what = f"{last.get('where')}: {last.get('error')}: {last.get('message')}"
        yield Finding(
            "errors",
            PROBLEM,
            f"{many(len(recent), 'error')} within {ERRORS_DAYS} days; the last at {last.get('time')}: {what}",
            f"Look into {path}. Once that is mended, set it aside: memtui doctor --fix errors",
        )


def _inboxes(root: str, now: float, fits: Fits) -> Iterator[Finding]:
    for slug in [None, *review.slugs(root)]:
        directory = paths.inbox_dir(root, slug)
        name = slug or "global"
        unread: list[MemtuiError] = []
        review.waiting(root, [slug], unread=unread)
        for error in unread:
            yield Finding("inbox", PROBLEM, error.message, error.hint)
        for kind, file in inbox.FILES.items():
            path = f"{directory}/{file}"
            try:
                size = os.stat(path).st_size
            except OSError:
                continue
            if any(error.message.startswith(path + " ") for error in unread):
                continue
            if size > inbox.MAX_BYTES:
                yield Finding(
                    "inbox",
                    PROBLEM,
                    f"{path} is larger than {inbox.MAX_BYTES >> 20} MB: hooks don't read it whole",
                    "Shorten it in an editor.",
                )
                continue
            if kind == "guidance":
                yield from _guidance(slug, directory, now, fits)
        for file, delivery_id, _, _ in claims.listed(directory):
            if now - (ids.id_time(delivery_id) or now) > CLAIM_SECONDS:
                yield Finding(
                    "inbox",
                    PROBLEM,
                    f"{name}: guidance taken by delivery {delivery_id} is still unproven",
                    "The next session of that project settles it, and memtui doctor --fix guidance; or move"
                    f" {directory}/{claims.DIRECTORY}/{file} back.",
                )


def _guidance(slug: str | None, directory: str, now: float, fits: Fits) -> Iterator[Finding]:
    for entry in inbox.read(f"{directory}/{inbox.FILES['guidance']}"):
        what = f"{slug or 'global'}: guidance {entry.id[-6:]}"
        attempts = entry.fields.get("attempts", "0")
        withdraw = f"memtui guide --withdraw {entry.id[-6:]}"
        again = f"memtui guide --again {entry.id[-6:]}, or {withdraw}"
        told = partial(Finding, "inbox", PROBLEM, about=f"note:{entry.id}")
        whom = claims.no_addressee(entry)
        expires = entry.fields.get("expires")
        if whom:
            yield told(f"{what} is for “{whom}”: nobody", f"Mend its `for`, or {withdraw}")
        elif expires and clock.parse(expires) is None:
            yield told(f"{what} never expires: “{expires}” is no time", f"Mend its `expires`, or {withdraw}")
        elif entry.expired(now):
            yield told(f"{what} expired undelivered", again)
        elif attempts.isdigit() and int(attempts) >= claims.MAX_ATTEMPTS:
            yield told(f"{what} is held: it came back {attempts} times", again)
        elif "\0" in entry.text:
            yield told(f"{what} is binary and not delivered", withdraw)
        elif not fits(entry, "project" if slug else "global", directory):
            yield told(f"{what} is too long to be delivered", f"Shorten it, or {withdraw}")


def _memories(env: dict[str, str], cwd: str, known: dict[str, Memory] | None) -> Iterator[Finding]:
    for scope in scopes.discover(env, cwd):
        if scope.problem:
            yield Finding("memories", PROBLEM, f"{scope.label}: {scope.directory} {scope.problem}", "Remove the link.")
            continue
        if scope.kind == "instructions" or not scope.exists:
            continue
        for memory in scopes.memories(scope, known):
            if memory.broken:
                where = f"{scope.label}:{memory.stem}"
                linked = memory.broken == locate.LEAVES
                remedy = "Remove the link." if linked else f"Mend {memory.path} in an editor."
                yield Finding(
                    "memories", PROBLEM, f"{where} is broken: {memory.broken}", remedy, f"memory:{memory.path}"
                )
        yield from _index(scope)


def _index(scope: scopes.Scope) -> Iterator[Finding]:
    try:
        index = memory_index.parse_index(fs.read_bytes(scope.index_path))
    except FileNotFoundError:
        return
    files = [name for name, problem in scopes.files(scope) if not problem]
    budget = index_budget.budget(index.raw, agent=scope.kind == "agent")
    fix, here = f"memtui index --scope {scope.label} --fix", f"index:{scope.label}"
    if budget.cut_line is not None:
        yield Finding(
            "memories",
            PROBLEM,
            f"{scope.label}: MEMORY.md is too long, cut at line {budget.cut_line}: {len(budget.below)} memories below",
            "Shorten lines or move memories elsewhere: memtui index",
            f"index:{scope.label}",
        )
    own = [entry for entry in memory_index.dangling(index, files) if entry.leads]
    if own:
        names = _some([entry.target for entry in own])
        yield Finding("memories", PROBLEM, f"{scope.label}: MEMORY.md points to what is not there: {names}", fix, here)
    absent = memory_index.missing(index, files)
    if absent:
        yield Finding("memories", PROBLEM, f"{scope.label}: MEMORY.md has no line for {_some(absent)}", fix, here)


def _trust(env: dict[str, str], root: str, cwd: str) -> Iterator[Finding]:
    path = trust.path(root)
    data = fs.read_or_empty(path)
    if data.strip() and not isinstance(fastjson.loads_dict(data).get("dirs"), dict):
        yield Finding(
            "trust", PROBLEM, f"{path} can't be read: nothing is trusted", "Mend it, or remove it and trust again."
        )
    directory, exists = locate.project_dir(env, cwd)
    if not exists or locate.leaves_repository(directory):
        return  # as `_memories` tells
    found = trust.status(root, directory)
    waiting = [*found.new, *found.changed]
    if waiting:
        yield Finding(
            "trust",
            PROBLEM,
            f"not trusted, so not delivered, in {directory}: {_some(waiting)}",
            "Read them, then: memtui trust",
            f"memory:{directory}/{waiting[0]}",
        )
    for name, why in found.refused.items():
        yield Finding("trust", PROBLEM, f"{directory}/{name} {why}", "Remove the link.")


def _journal(root: str) -> Iterator[Finding]:
    journal = Journal(root)
    ledger = journal.ledger()
    if journal.unfinished() is not None:
        yield Finding("journal", NOTE, "a change was cut off; the next one finishes it or takes it back")
    if ledger.skipped:
        yield Finding("journal", NOTE, f"{ledger.skipped} lines of {journal.path} can't be read: those can't be undone")


def _log(root: str) -> Iterator[Finding]:
    for path in delivery.months(root)[:1]:
        bad = 0
        for number, line in enumerate(delivery.lines_backwards(path)):
            if number >= 1000:
                break
            bad += fastjson.loads_dict(line).get("v") != delivery.VERSION
        if bad:
            yield Finding("log", NOTE, f"{bad} of the newest lines of {path} can't be read and are passed over")
