"""The command that adds a package to this installation of memtui, told from the interpreter that runs it."""

import os
import sys
import sysconfig
import tomllib
from importlib.util import find_spec

from memtui.base import shell

UV_NOTES, PIPX_NOTES = "uv-receipt.toml", "pipx_metadata.json"  # of uv in the environment of a tool, of pipx in its own


def adding(package: str) -> str:
    """Return the command that installs a package where this memtui finds it, whoever installed memtui."""
    prefix = sys.prefix
    if os.path.exists(f"{prefix}/{PIPX_NOTES}"):
        return f"pipx inject {shell.shell_word(os.path.basename(prefix))} {package}"
    if os.path.exists(f"{prefix}/{UV_NOTES}"):
        return _as_uv_tool(f"{prefix}/{UV_NOTES}", package)
    python = shell.shell_word(sys.executable)
    if find_spec("pip") is None:
        return f"uv pip install --python {python} {package}"
    managed = sys.prefix == sys.base_prefix and os.path.exists(sysconfig.get_path("stdlib") + "/EXTERNALLY-MANAGED")
    return f"{python} -m pip install {'--break-system-packages ' * managed}{package}"


def _as_uv_tool(path: str, package: str) -> str:
    """Return uv's command with all that the tool was installed with: uv drops what is not named again."""
    try:
        with open(path, "rb") as file:
            requirements = list(map(_requirement, tomllib.load(file)["tool"]["requirements"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        requirements = []
    memtui, *others = requirements or ["memtui"]
    return " ".join(["uv tool install", *(f"--with {other}" for other in (*others, package)), memtui])


def _requirement(row: dict[str, object]) -> str:
    source = next((str(row[key]) for key in ("directory", "editable", "path", "url") if key in row), str(row["name"]))
    if "git" in row:
        address, _, revision = str(row["git"]).partition("?rev=")
        source = f"git+{address}" + f"@{revision}" * bool(revision)
    extras, version = row.get("extras"), str(row.get("specifier") or "")
    return shell.shell_word(source + (f"[{','.join(extras)}]" if isinstance(extras, list) else "") + version)
