"""What tells a project from another: its git remote, as its own files say, without starting git, and what memtui noted
of it."""

import os
import re

from memtui.base import fastjson, fs, paths

MAX_CONFIG = 1 << 20
MAX_RECORD = 1 << 16
_ADDRESS = re.compile(
    r"^(?:[a-z+]+://)?(?:[^@/]*@)?(?P<host>[^/:]+)(?::\d+(?=/))?[:/]+(?P<path>.+?)(?:\.git)?/*$", re.IGNORECASE
)


def remote(root: str) -> str:
    """Return the address of a repository, written in one way whatever the protocol; empty if it has none."""
    import configparser  # a start reads no repository

    try:
        text = fs.read_bytes(f"{root}/.git/config", MAX_CONFIG).decode("utf-8", "replace")
        config = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
        config.read_string("\n".join(line.strip() for line in text.splitlines()))
        address = config.get('remote "origin"', "url", fallback="") or ""
    except (OSError, configparser.Error):
        return ""
    match = _ADDRESS.match(address.strip())
    return f"{match['host'].lower()}/{match['path']}" if match and not address.startswith(("/", ".")) else ""


def project_record(root: str, key: str) -> dict[str, str]:
    """Return root, remote and inode of a project, as noted in its inbox; nothing if they are another's."""
    try:
        row = fastjson.loads_dict(fs.read_bytes(f"{paths.inbox_dir(root, key)}/{paths.PROJECT_FILE}", MAX_RECORD))
    except OSError:
        return {}
    record = {name: value for name in ("root", "remote", "inode") if isinstance(value := row.get(name), str)}
    return record if paths.project_key(record.get("root", "")) == key else {}


def note_project(root: str, project_root: str) -> None:
    """Note in the inbox of a project, which is made if there is none, whose it is: for a person, and so that the
    project is known again under another name. Raises OSError."""
    key = paths.project_key(project_root)
    try:
        inode = str(os.stat(project_root).st_ino)
    except OSError:
        inode = ""  # it is gone
    row = {"root": project_root, "remote": remote(project_root), "inode": inode}
    before = project_record(root, key)
    if before != row and (inode or not before):
        path = f"{paths.inbox_dir(root, key)}/{paths.PROJECT_FILE}"
        fs.write_atomic(path, fastjson.dumps({"v": 1, **row}).encode() + b"\n", durable=False)
