"""Write the bundles of compiled modules that hooks load at once (hooks/bundle.py)."""

import marshal
from importlib import machinery

from memtui.core.base import fs
from memtui.hooks import bundle


def write() -> list[str]:
    """Write the bundles that are missing or not current; return their groups. Where that can't be, there are none."""
    return [group for group in bundle.GROUPS if _write(group)]


def _write(group: str) -> bool:
    try:
        made = _made(group)
        path = bundle.path(group)
        if fs.read_or_empty(path) == made:
            return False
        fs.write_atomic(path, made, durable=False)
    except (OSError, ImportError, SyntaxError):
        return False
    return True


def _made(group: str) -> bytes:
    stamps, codes = [], []
    for name in bundle.GROUPS[group]:
        source = f"{bundle.top()}/{name.replace('.', '/')}.py"
        stamps.append(bundle.stamp(source))
        codes.append(machinery.SourceFileLoader("memtui." + name, source).get_code("memtui." + name))
    head = marshal.dumps(tuple(stamps))
    return bundle.magic() + len(head).to_bytes(4, "little") + head + marshal.dumps(codes)
