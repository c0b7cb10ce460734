"""Export scopes: as a folder, a ZIP or a `.tar.gz`, which `restoring` brings back byte for byte on another machine."""

import gzip
import io
import os
import shutil
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field

import memtui
from memtui.core.base import fs, ids, paths
from memtui.core.base.errors import ConflictError, NotFoundError, UsageError
from memtui.core.base.phrasing import size
from memtui.core.base.storage import storage_error
from memtui.core.journal.changes import beside_edit
from memtui.core.memories import beside, scopes
from memtui.core.memories.scopes import Scope
from memtui.core.places import locate
from memtui.core.redaction import redact
from memtui.transfer import archive, identity
from memtui.transfer.archive import ArchivedScope
from memtui.transfer.incoming import LeftOut
from memtui.transfer.trees import MAX_FILE, MAX_FILES, MAX_TOTAL, why_not

ZIP_ENDINGS, TAR_ENDINGS = (".zip",), (".tar.gz", ".tgz")
OTHER_ENDINGS = (".tar", ".gz", ".xz", ".bz2", ".zst", ".txz", ".tbz2", ".tbz", ".7z", ".rar", ".lz", ".jar", ".af")
# Characters of a memory that are searched for secrets.
MAX_SEARCHED = 200_000
# The first time that a ZIP file can hold. No real time is in an archive but those of the memories.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass
class Export:
    """What an export holds: the scopes, and what of them was left out; `others`: files beside the memories that are
    none; `secrets`: the memories that seem to hold one, with its kind."""

    scopes: list[ArchivedScope] = field(default_factory=list)
    skipped: list[LeftOut] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    secrets: list[LeftOut] = field(default_factory=list)

    @property
    def memories(self) -> int:
        """The number of memories."""
        return sum(len(each.memories) for each in self.scopes)


def collect(env: dict[str, str], wanted: Sequence[Scope]) -> Export:
    """Read the memories of scopes. Raises NotFoundError if there are none, UsageError for scopes that are no memtui's
    to export or too large."""
    found, root = Export(), paths.root(env)
    total = 0
    for scope in wanted:
        if scope.kind == "instructions":
            raise UsageError(f"The scope “{scope.label}” has no memories, but instructions.", "Copy these files.")
        if scope.is_shared:
            raise UsageError(f"The scope “{scope.label}” is your team's.", "Claude Code fetches it on each machine.")
        project = identity.of_project(env, scope.slug, scope.root_path) if scope.slug else identity.NONE
        made = ArchivedScope(_label(scope, {each.label for each in found.scopes}), project)
        for name, problem in [*scopes.files(scope), *([(locate.INDEX_NAME, "")] if scope.exists else [])]:
            where = f"{made.label}:{name}"
            why = problem or why_not(name) or _unwritable(name)
            if why:
                found.skipped.append(LeftOut(where, why))
                continue
            try:
                data, time = (
                    fs.read_bytes(f"{scope.directory}/{name}", MAX_FILE + 1),
                    os.stat(f"{scope.directory}/{name}").st_mtime,
                )
            except (FileNotFoundError, NotADirectoryError):
                continue  # removed since it was listed, or there is no index
            except OSError as error:
                found.skipped.append(LeftOut(where, f"can't be read: {error.strerror or error}"))
                continue
            if len(data) > MAX_FILE:
                found.skipped.append(LeftOut(where, f"is larger than {size(MAX_FILE)}"))
                continue
            total += len(data)
            made.files[name] = data
            made.modified[name] = time
        made.rows = {
            kind: {
                name: [row for row in rows if kind != beside.PATHS or not beside_edit.text_of(row).startswith("/")]
                for name, rows in beside.rows(root, kind, scope.directory).items()
                if name in made.files
            }
            for kind in beside.KINDS
        }
        if made.files:
            found.scopes.append(made)
            found.others += [f"{made.label}:{name}" for name in _others(scope, {*made.files})]
            found.secrets += _secrets(made)
    if total > MAX_TOTAL or found.memories > MAX_FILES // 2:
        raise UsageError(
            f"That is more than {size(MAX_TOTAL)} or {MAX_FILES // 2:,} memories.", "Export fewer scopes at once."
        )
    if not found.scopes:
        labels = ", ".join(each.shown for each in wanted)
        raise NotFoundError(f"There are no memories to export in {labels}.", "`memtui list` shows what there is.")
    return found


def _others(scope: Scope, known: set[str]) -> list[str]:
    """List the files of a scope that are no memories: not Markdown, hidden, or links that lead nowhere."""
    listed = known | {name for name, _ in scopes.files(scope)}
    found: list[str] = []
    for here, directories, names in os.walk(scope.directory):
        never = {".git", locate.TEAM} if here == scope.directory and scope.kind == "auto" else {".git"}
        directories[:] = sorted(name for name in directories if name not in never)
        below = here[len(scope.directory) :].strip("/")
        found += [name for each in sorted(names) if (name := f"{below}/{each}".strip("/")) not in listed]
        if len(found) > MAX_FILES:
            break
    return found


def _secrets(made: ArchivedScope) -> list[LeftOut]:
    """List the memories of a scope that seem to hold a secret, with its kind."""
    texts = {name: made.files[name].decode("utf-8", "replace") for name in made.memories}
    kinds = {name: redact.kinds_in(text[:MAX_SEARCHED]) for name, text in texts.items()}
    return [LeftOut(f"{made.label}:{name}", redact.described(each)) for name, each in kinds.items() if each]


def _label(scope: Scope, used: set[str]) -> str:
    """Return what an archive calls a scope: its label, or for another project the project's name, never its path. One
    of which only the slug is known, which is made of its path, is called by the last word of it."""
    name = os.path.basename(scope.root_path or (scope.slug or "").rpartition("-")[2]) or "project"
    label = f"auto:{name}" if scope.project else scope.label
    found, number = label, 2
    while found in used:
        found, number = f"{label}-{number}", number + 1
    return found


def _unwritable(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        return "has a name that is not UTF-8"
    return ""


def default_name(label: str) -> str:
    """Return the name of the file that an export of a scope is written to where a person gives none."""
    return f"memtui-{archive.directory_of(label, ())}.zip"


def is_packed(path: str) -> bool:
    """Whether an export to a path makes one file."""
    return path.lower().endswith((*ZIP_ENDINGS, *TAR_ENDINGS))


def write(found: Export, path: str) -> None:
    """Write an export to a path that nothing is at yet, or an empty folder; only the person can read it. Raises
    UsageError for the name of an archive of another kind, ConflictError, MemtuiError."""
    other = next((each for each in OTHER_ENDINGS if path.lower().endswith(each) and not is_packed(path)), "")
    if other:
        raise UsageError(f"memtui writes no {other} files.", "Give a path that ends in .zip or .tar.gz, or a folder.")
    files = archive.contents(found.scopes, memtui.__version__)
    packed = is_packed(path)
    if os.path.lexists(path) and (packed or not os.path.isdir(path) or os.listdir(path)):
        raise ConflictError(f"{path} is there already.", "Give another path with --to, or remove it first.")
    path = os.path.abspath(path)
    try:
        fs.makedirs(os.path.dirname(path))
        if packed:
            data = _zipped(files) if path.lower().endswith(ZIP_ENDINGS) else _tarred(files)
            if not _create(path, data):
                raise ConflictError(f"{path} is there already.", "Give another path with --to, or remove it first.")
        else:
            _write_folder(files, path)
    except OSError as error:
        raise storage_error(error, path) from error


def _create(path: str, data: bytes) -> bool:
    """Create a file with all its content at once, and return False if there is one. It has no name before, so that a
    process that is killed leaves nothing. Raises OSError."""
    try:
        fd = os.open(os.path.dirname(path), os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, fs.FILE_MODE)
    except (OSError, AttributeError):  # another system, or file system
        return fs.create(path, data, durable=True)
    try:
        fs.write_all(fd, data)
        os.fsync(fd)
        # A directory descriptor, which the full path does not need, makes Python follow the link in /proc.
        os.link(f"/proc/self/fd/{fd}", path, src_dir_fd=fd)
    except FileExistsError:
        return False
    finally:
        os.close(fd)
    return True


def _write_folder(files: dict[str, bytes], path: str) -> None:
    """Write a folder all at once: one that is killed leaves nothing at its path. Raises OSError."""
    temporary = f"{path.rstrip('/')}.{ids.new_id()}"
    try:
        for name, data in files.items():
            place = f"{temporary}/{name}"
            fs.makedirs(os.path.dirname(place))
            fs.create(place, data)
        if os.path.isdir(path):
            os.rmdir(path)
        os.rename(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, ZIP_TIME)
            info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, 0o100600 << 16, 3
            packed.writestr(info, data)
    return made.getvalue()


def _tarred(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", 9, made, mtime=0) as plain,
        tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as packed,
    ):
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o600
            packed.addfile(info, io.BytesIO(data))
    return made.getvalue()
