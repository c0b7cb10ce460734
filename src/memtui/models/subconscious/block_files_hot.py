"""The blocks of the subconscious, short Markdown texts that it keeps up to date and its person may edit, some for one
project; and where all its files are, under `subconscious/` in memtui's root. Hooks import this module."""

import posix

from memtui.base import fs_hot, session_state_hot

# The blocks in the order in which they are shown: whether there is one for each project, and what it is for.
BLOCKS: "dict[str, tuple[bool, str]]" = {
    "core_directives": (False, "what the subconscious is, and what it is to do; only you change it"),
    "guidance": (True, "what the agent should have in mind in this project now"),
    "user_preferences": (False, "how you like to work"),
    "project_context": (True, "what the project is, decisions and their reasons, pitfalls"),
    "session_patterns": (True, "what happens again and again in sessions of the project"),
    "pending_items": (True, "work that was begun and not finished"),
    "self_improvement": (False, "what the subconscious has learned about its own work"),
    "tool_guidelines": (False, "how the agent should use its tools"),
}
DIRECTIVES = "core_directives"  # the block that the subconscious itself may not change, and that no session is given
MOST = 2000  # characters of a block, at most: all of them together should fit into two deliveries
# Bytes of a block that can be read whole, and so be changed: a larger file was made for something else.
WHOLE_BYTES = 64 << 10
CUT = "(the rest is left out: it is longer than a block may be)"  # what stands instead of the rest of a longer block


def home(root: str) -> str:
    return root + "/subconscious"


def directory(root: str, project: str) -> str:
    """Return the directory of the blocks of a project, by its slug; of those for everything for an empty one."""
    return f"{home(root)}/projects/{project}" if project else home(root) + "/blocks"


def path(root: str, project: str, name: str) -> str:
    """Return the file of a block as a project sees it. Raises KeyError for a name that is none."""
    return f"{directory(root, project if BLOCKS[name][0] else '')}/{name}.md"


def text(root: str, project: str, name: str) -> str:
    """Return a block as sessions and the model get it, CUT after MOST; empty if there is none, or unreadable."""
    try:
        data = fs_hot.read_bytes(path(root, project, name), WHOLE_BYTES)
    except OSError:
        return ""
    content = clean(data.decode("utf-8", "replace"))
    return content if len(content) <= MOST else f"{content[:MOST].rstrip()}\n{CUT}"


def whole(root: str, project: str, name: str) -> str:
    """Return all of a block; empty if there is none. Raises OSError if it can't be read whole."""
    file = path(root, project, name)
    try:
        data = fs_hot.read_bytes(file, WHOLE_BYTES + 1)
    except FileNotFoundError:
        return ""
    if len(data) > WHOLE_BYTES:
        raise OSError(27, f"is larger than {WHOLE_BYTES >> 10} KB", file)
    try:
        return clean(data.decode())
    except UnicodeDecodeError as error:
        raise OSError(84, "is not valid UTF-8", file) from error


def clean(text: str) -> str:
    """Return the text of a block's file without a byte order mark and blank lines around it."""
    return text.replace("\r\n", "\n").removeprefix("\ufeff").strip()


def stamps(root: str, project: str) -> "dict[str, object]":
    stamps_by_name: dict[str, object] = {}
    for scope in (project, ""):
        try:
            names = posix.listdir(directory(root, scope))
        except OSError:
            continue
        for file in names:
            name = file.removesuffix(".md")
            if name != file and name in BLOCKS and BLOCKS[name][0] == bool(scope):
                stamps_by_name[name] = fs_hot.stamp(path(root, scope, name))
    return stamps_by_name


def seen_path(root: str) -> str:
    """Return the file with the ids of the answers that a person saw."""
    return home(root) + "/seen"


def seen_answers(root: str) -> "set[str]":
    """Return the ids of the answers that a person saw, of the last day."""
    return {*fs_hot.read_or_empty(seen_path(root)).decode("utf-8", "replace").split()}


def session(root: str, session_id: str) -> str:
    return f"{home(root)}/sessions/{session_state_hot.safe(session_id)}.json"
