"""Write the bundles of compiled modules that hooks load at once (hooks/bundle.py)."""

import marshal

from memtui.core.base import fs
from memtui.hooks import bundle


def write() -> list[str]:
    """Write the bundles that are missing or not current; return their groups. Where that can't be, there are none."""
    return [group for group in bundle.GROUPS if _write(group)]


def _write(group: str) -> bool:
    try:
        sources = [f"{bundle.top()}/{name.replace('.', '/')}.py" for name in bundle.GROUPS[group]]
        stamps = marshal.dumps(tuple(map(bundle.stamp, sources)))
        head = bundle.magic() + len(stamps).to_bytes(4, "little") + stamps
        path = bundle.path(group)
        if _is_whole(fs.read_or_empty(path), head):
            return False
        fs.write_atomic(path, head + marshal.dumps(list(map(_compiled, sources))), durable=False)
    except (OSError, ImportError, SyntaxError):
        return False
    return True


def _is_whole(data: bytes, head: bytes) -> bool:
    """Tell whether a bundle begins like this and can be read. The same code has not always the same bytes."""
    try:
        return data.startswith(head) and bool(marshal.loads(data[len(head) :]))  # noqa: S302
    except (ValueError, EOFError, TypeError):
        return False


def _compiled(source: str) -> object:
    """Return the code of a module without its docstrings, which every hook would read."""
    return compile(fs.read_or_empty(source), source, "exec", dont_inherit=True, optimize=2)
