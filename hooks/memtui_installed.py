"""Where memtui is installed: `lib`, the directory of its package. Asked only where the plugin has no checkout."""

import glob
import os
import shutil
import sys

INSTALLED = "/lib/python3.*/*-packages/memtui/hooks/bundle.py"
WHY = "the plugin brings only the hooks, and there is no memtui on the PATH. Its README says how to install it"

# A link of uv or pipx leads into the environment that has it. A relative PATH would find what a repository brings.
program = shutil.which("memtui") or ""
top = os.path.dirname(os.path.dirname(os.path.realpath(program))) if program.startswith("/") else ""
found = glob.glob(glob.escape(top) + INSTALLED) if top else []
if not found:
    if "SessionStart" in sys.argv:
        print('{"systemMessage": "memtui is off: ' + WHY + '"}')
    raise SystemExit(0)
lib = found[0][: -len("/memtui/hooks/bundle.py")]
