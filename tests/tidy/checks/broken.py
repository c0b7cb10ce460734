"""A sample world with every kind of finding that can be fixed."""

import json
import os

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot
from memtui.settings import config_hot

# What needs nobody's decision, and what a person is asked about.
AT_ONCE = {"root.open", "root.locked", "errors.recent", "inbox.unproven"}
ASKED = {"hooks.absent", "config.misspelt"}


def break_all(world):
    """Break everything of a sample world that a fix can put right."""
    root, shop = world.root, paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    with open(config_hot.file_path(root), "a") as file:
        file.write("budgte = 9000\n")
    row = {"v": 1, "time": clock_hot.iso(world.now - 60), "where": "Stop", "error": "OSError", "message": "disk full"}
    fs_hot.append(f"{root}/log/errors.jsonl", json.dumps({**row, "trace": []}).encode() + b"\n")
    taken = paths_hot.inbox_dir(root, None)
    os.makedirs(f"{taken}/claimed", exist_ok=True)
    fs_hot.write_atomic(f"{taken}/claimed/{ids_hot.new_id(world.now - 7200)}~0000aaaa~99999999.md", b"mind the gap\n")
    os.chmod(f"{root}/trust.json", 0o400)
    os.chmod(shop + "/guidance.md", 0o644)
    os.chmod(root, 0o755)
