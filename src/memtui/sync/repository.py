"""The bare repository in memtui's own directory through which memories travel. git is the engine; nothing is ever
checked out: names, kinds and sizes of files are looked at before their contents are read."""

import os
import signal
import subprocess
import time
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from memtui.base import fs_hot
from memtui.base.errors import MemtuiError

Tree = dict[str, bytes]  # contents by path, relative and with `/`
BRANCH = "refs/heads/memtui"
HERE, THERE = "refs/memtui/here", "refs/memtui/there"
# Seconds for one answer of a remote; bytes of a file, and files of a tree at most.
PATIENCE, MAX_BYTES, MAX_FILES = 20.0, 1 << 20, 50_000
AS_ON = "as on "  # how the subject of a commit begins that has what one machine changed; its name follows
ENDINGS = (".md", ".json", ".jsonl")
# No configuration of the person's, no hooks, no prompts; only these ways to a remote.
OPTIONS = [
    word
    for option in (
        *("core.hooksPath=/dev/null", "transfer.fsckObjects=true", "gc.auto=0", "commit.gpgsign=false"),
        "core.compression=1",  # memories are small: what a better one takes is more than what it saves
        *("core.quotePath=false", "user.name=memtui", "user.email=memtui@localhost", "protocol.allow=never"),
        *("protocol.ssh.allow=always", "protocol.https.allow=always", "protocol.file.allow=always"),
    )
    for word in ("-c", option)
]
NO_REPOSITORY = "does not appear to be a git repository"
SSH = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT")  # what a person set for git's way over ssh stays in force
# What git says of a lock, and the seconds that are left to the one that holds it.
LOCKED, LOCK_SECONDS = r"Unable to create '([^']+\.lock)': File exists", 1.0
LOCK_HINT = "Sync again; if it stays and no machine syncs, remove that file."
WORDS = {
    "Permission denied": "You may not read or write there: check your key, or the rights of the folder.",
    "Host key verification failed": "Connect to the host once by hand, so that ssh knows its key.",
    "Could not read from remote": "Check the address, the network, and that you may read it: `git ls-remote URL`.",
    "could not read Username": "It asks for a password: set up a key, or git's credential helper.",
    "Could not resolve host": "There is no network, or the address is wrong. The next sync tries again.",
    "remote rejected": "You may not write there: ask who may write there, or check the rights of the folder.",
    "error: 403": "You may not write there: check who may write there, and your token.",
}


class FileWriter(NamedTuple):
    """Who wrote a file: the person, the machine, and the counter of its store then."""

    person: str
    machine: str
    counter: int


class RejectedError(MemtuiError):
    """The remote went on meanwhile: another machine pushed."""


def run(words: list[str], data: bytes, env: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run a program; after PATIENCE it is ended, with what it started, such as ssh. Raises TimeoutExpired, OSError."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=env, start_new_session=True) as process:
        try:
            output, errors = process.communicate(data, PATIENCE)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


class Remote:
    """The remote `url`, through the bare repository at `path`; git gets `env`, by default this process's."""

    def __init__(self, path: str, url: str, env: Mapping[str, str] = os.environ) -> None:
        self.path, self.url, self.env, self.begin = path, url, env, time.time()

    def git(self, *words: str, data: bytes = b"", check: bool = True) -> bytes:
        """Run git on the repository and return its output. Raises MemtuiError with what to do."""
        env = {key: text for key, text in self.env.items() if not key.startswith("GIT_") or key in SSH}
        env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_DIR": self.path, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        env["SSH_ASKPASS_REQUIRE"] = "never"  # and no terminal, as ssh reads passwords from
        try:
            process = run(["git", *OPTIONS, *words], data, env)
        except FileNotFoundError as error:
            raise MemtuiError("git can't be started.", "Install git 2.30 or newer.") from error
        except subprocess.TimeoutExpired as error:
            raise MemtuiError(f"{self.url} does not answer.", "The next sync tries again.") from error
        if process.returncode < 0:  # who was killed did not say no
            raise MemtuiError(f"git was ended at {words[0]}.", "Nothing was lost: sync again.")
        if process.returncode and check:
            import re  # which would take a sync with nothing to do as long as git

            words_of_git = process.stderr.decode("utf-8", "replace").strip()
            hint = next((hint for words, hint in WORDS.items() if words in words_of_git), "")
            if lock := re.search(LOCKED, words_of_git):
                if self._frees(lock[1]):
                    return self.git(*words, data=data, check=check)
                raise RejectedError(f"{lock[1]} is in the way: a push was broken off, or goes on.", LOCK_HINT)
            if "[rejected]" in words_of_git or "fetch first" in words_of_git or "cannot lock ref" in words_of_git:
                raise RejectedError("Another machine pushed at the same time.", "Sync again.")
            lines = words_of_git.split("\n")
            reason = next((line for line in lines if line.startswith("fatal:")), lines[0])[:300].removeprefix("fatal: ")
            if NO_REPOSITORY in words_of_git:
                place = self.url if ":" not in self.url else "PATH, on that machine"
                raise MemtuiError(f"There is no git repository at {self.url}.", f"Make one: git init --bare {place}")
            verb = f"reach {self.url}" if words[0] == "ls-remote" else words[0]
            raise MemtuiError(f"git could not {verb}: {reason.rstrip('.')}.", hint or "Nothing was changed.")
        return process.stdout

    def _frees(self, lock: str) -> bool:
        """Remove a lock of this repository that a git left which was killed; tell whether it is gone."""
        if not lock.startswith(self.path + "/"):
            return False
        time.sleep(LOCK_SECONDS)  # a git whose memtui was killed may be at its end
        with suppress(FileNotFoundError):
            if self.begin <= os.stat(lock).st_mtime <= time.time():
                return False
            os.unlink(lock)
        return True

    def make(self) -> None:
        """Make the repository if it is not whole."""
        if not all(os.path.exists(f"{self.path}/{name}") for name in ("HEAD", "config", "objects", "refs")):
            fs_hot.makedirs(os.path.dirname(self.path))
            self.git("init", "-q", "--bare", self.path)

    def heads(self) -> dict[str, str]:
        """Ask the remote for its branches; return their commits by name. Raises MemtuiError."""
        rows = self.git("ls-remote", "--", self.url, "refs/heads/*").decode().splitlines()
        return {name: commit for commit, _, name in (row.partition("\t") for row in rows)}

    def fetch(self, present: str = "") -> str:
        """Fetch the remote's memories, unless `present`; return their commit, empty for none. Raises MemtuiError."""
        commits = self.heads()
        if present and commits.get(BRANCH) == present and self.has(present):
            return present
        if BRANCH not in commits:
            if commits:
                problem = f"{self.url} has no memories of memtui, but other branches."
                raise MemtuiError(problem, "Give an empty repository.")
            return ""
        self.git("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", self.url, f"+{BRANCH}:{THERE}")
        remote_head = self.git("rev-parse", "--verify", "-q", THERE, check=False).decode().strip()
        if remote_head != (head := commits[BRANCH]) and self.common(head, remote_head) != head:
            raise MemtuiError(f"{self.url} is shallow: it has only the end of its history.", "Sync with the whole one.")
        return remote_head

    def has(self, commit: str) -> bool:
        return bool(self.git("rev-parse", "--verify", "-q", commit + "^{tree}", check=False))

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Tell whether one commit goes on from another."""
        return self.common(commit, of) == commit

    def common(self, commit: str, other: str) -> str:
        """Return the last commit that both go on from; empty for none."""
        return self.git("merge-base", commit, other, check=False).decode().strip()

    def entries(self, commit: str) -> dict[str, str]:
        """Return the ids of the contents of a commit by path. Raises MemtuiError for what memtui never wrote."""
        listing = self.git("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        entries: dict[str, str] = {}
        twins: set[str] = set()
        for row in filter(None, listing.split(b"\0")):
            head, _, name = row.partition(b"\t")
            mode, kind, blob, size = head.decode().split()
            path = name.decode("utf-8", "surrogateescape")
            if not is_safe(path) or mode != "100644" or kind != "blob" or int(size) > MAX_BYTES:
                raise MemtuiError(f"{self.url} holds {path!r}, which is no memory.", "Nothing was taken from it.")
            if (name_there := on_any_disk(path)) in twins:
                raise MemtuiError(f"{self.url} holds two files called {path!r} on some disks.", "Nothing was taken.")
            twins.add(name_there)
            entries[path] = blob
        if len(entries) > MAX_FILES:
            raise MemtuiError(f"{self.url} holds {len(entries)} files.", f"At most {MAX_FILES} are synced.")
        return entries

    def tree(self, commit: str, below: str = "") -> Tree:
        """Return the files of a commit, if they are `below`, with contents; none for no commit. Raises MemtuiError."""
        if not commit:
            return {}
        entries = {path: entry for path, entry in self.entries(commit).items() if path.startswith(below)}
        names = "".join(entry + "\n" for entry in entries.values()).encode()
        contents = _contents(self.git("cat-file", "--batch", data=names))
        return {path: next(contents) for path in entries}

    def commit(self, tree: Tree, parents: list[str], message: str, first: Tree) -> str:
        """Store a tree as a commit and return it; `first` is the tree of the first parent. Raises MemtuiError."""
        marks: dict[bytes, int] = {}
        changed = {path: data for path, data in sorted(tree.items()) if first.get(path) != data}
        stream = [b"reset " + HERE.encode() + b"\n\n"]
        for data in changed.values():
            if data not in marks:
                marks[data] = len(marks) + 1
                stream.append(b"blob\nmark :%d\ndata %d\n%s\n" % (marks[data], len(data), data))
        text = message.encode()
        stream.append(b"commit %s\nmark :%d\n" % (HERE.encode(), len(marks) + 1))
        stream.append(b"committer memtui <memtui@localhost> 0 +0000\ndata %d\n%s\n" % (len(text), text))
        names = [parent.encode() for parent in parents]
        stream += [b"from %s\n" % name for name in names[:1]] + [b"merge %s\n" % name for name in names[1:]]
        stream += [b"D %s\n" % _quoted(path) for path in first.keys() - tree.keys()]
        stream += [b"M 100644 :%d %s\n" % (marks[data], _quoted(path)) for path, data in changed.items()]
        self.git("fast-import", "--depth=0", "--quiet", "--force", data=b"".join([*stream, b"\ndone\n"]))
        return self.git("rev-parse", HERE).decode().strip()

    def writers(self, since: str, commit: str) -> dict[str, FileWriter]:
        """Return who wrote each file that machines changed between two commits; who was last stands."""
        if not commit:
            return {}
        log = self.git(
            *("log", "-z", "--topo-order", "--reverse", "--no-merges", "--name-only"),
            *("--no-renames", f"--format=%x01{_trailer('Author')}%x02{_trailer('Counter')}%x02%s", commit),
            *([f"^{since}"] if since else []),
        )
        writers: dict[str, FileWriter] = {}
        writer = FileWriter("", "", 0)
        for part in filter(None, log.decode("utf-8", "replace").split("\0")):
            fields = part.strip("\n").removeprefix("\x01").split("\x02")
            if len(fields) == 3:
                number = int(fields[1]) if fields[1].isdecimal() else 0
                writer = FileWriter(fields[0].strip(), fields[2].removeprefix(AS_ON), number)
            else:
                writers[fields[0]] = writer
        return writers

    def push(self, commit: str) -> None:
        """Push a commit. Raises RejectedError if another machine pushed since the last fetch, MemtuiError."""
        self.git("push", "-q", "--", self.url, f"{commit}:{BRANCH}")
        with suppress(MemtuiError):  # from some thousand objects on they become one pack
            self.git("-c", "gc.auto=2000", "-c", "gc.autoDetach=false", "gc", "--auto", "-q")


def _trailer(key: str) -> str:
    return f"%(trailers:key=Memtui-{key},valueonly,separator=%x20)"


def _quoted(path: str) -> bytes:
    return b'"%s"' % path.encode("utf-8", "surrogateescape").replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def on_any_disk(path: str) -> str:
    """Return a path so that two are equal if they are the same file on some disks."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()


def is_safe(path: str) -> bool:
    """Tell whether a path may come from a remote: relative, of a known ending, with no `..`, hidden or control name."""
    parts = path.split("/")
    return (
        path.endswith(ENDINGS)
        and len(path) < 512
        and all(part and not part.startswith(".") and "\\" not in part and ":" not in part for part in parts)
        and path.isprintable()
    )


def _contents(output: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        size = int(output[at:end].split()[-1])
        yield output[end + 1 : end + 1 + size]
        at = end + size + 2
