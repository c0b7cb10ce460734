"""Words for installing hooks and taking them out, at both front doors."""

import os

from memtui.hooks.installer.install import Plan

SERVED = "Sessions started from now on are served."
# Where launchers lie for a while only.
PASSING_PLACES = ("/uv/archive-v0/", "/uv/environments-v2/", "/pipx/.cache/")


def notes(plan: Plan) -> list[str]:
    """Notes on a plan, for before it is carried out."""
    if plan.new_record is None:
        return []
    path, launcher = plan.settings_path, plan.new_record.launcher
    found = []
    if plan.scope != "user":
        found.append(f"Claude Code reads {path} only when it is started in {os.path.dirname(os.path.dirname(path))}.")
    if plan.scope == "project":
        found.append(
            "This file is usually committed, but the hooks name this machine's paths: `--scope local` is for you alone."
        )
    if any(place in launcher for place in PASSING_PLACES):
        found.append(f"{launcher} lies in a cache that may be cleared: install memtui for good first.")
    return found


def done(plan: Plan) -> str:
    """The sentence after it was carried out."""
    return f"hooks {'installed in' if plan.action == 'install' else 'removed from'} {plan.settings_path}"
