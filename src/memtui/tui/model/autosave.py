"""What a person is typing, kept until it is sent or saved: neither escape nor a crash loses it."""

from memtui.core.base import fastjson, fs, session_state

Draft = dict[str, object]


def path(root: str, name: str) -> str:
    """The file of a draft. `name` says what is being written: `guidance`, or the id of what is edited."""
    return f"{root}/drafts/{session_state.safe(name)}.json"


def save(root: str, name: str, draft: Draft) -> None:
    """Keep a draft. Raises OSError. Not synced: it is kept at every pause in typing."""
    fs.write_atomic(path(root, name), fastjson.dumps(draft).encode("utf-8", "replace"), durable=False)


def load(root: str, name: str) -> Draft:
    """The draft of that name, `{}` if there is none."""
    try:
        return fastjson.loads_dict(fs.read_bytes(path(root, name), 1 << 24))
    except OSError:
        return {}


def drop(root: str, name: str) -> None:
    """Forget a draft. Raises OSError."""
    fs.unlink(path(root, name))
