"""The git repository of a project, as its own files tell, without starting git."""

import configparser
import re

from memtui.core.base import fs

MAX_CONFIG = 1 << 20
_ADDRESS = re.compile(
    r"^(?:[a-z+]+://)?(?:[^@/]*@)?(?P<host>[^/:]+)(?::\d+(?=/))?[:/]+(?P<path>.+?)(?:\.git)?/*$", re.IGNORECASE
)


def remote(root: str) -> str:
    """Return the address of a repository, written in one way whatever the protocol; empty if it has none."""
    try:
        text = fs.read_bytes(f"{root}/.git/config", MAX_CONFIG).decode("utf-8", "replace")
        config = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
        config.read_string("\n".join(line.strip() for line in text.splitlines()))
        address = config.get('remote "origin"', "url", fallback="") or ""
    except (OSError, configparser.Error):
        return ""
    match = _ADDRESS.match(address.strip())
    return f"{match['host'].lower()}/{match['path']}" if match and not address.startswith(("/", ".")) else ""
