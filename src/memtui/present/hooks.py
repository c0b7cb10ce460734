"""Words for installing and removing hooks, in both front doors."""

import os

from memtui.hooks.installer.install import Plan

SERVED = "Sessions started from now on are served."
# Parts of paths where uvx and pipx keep what they run once: it may be cleared.
CACHES = ("/uv/archive-v0/", "/uv/environments-v2/", "/pipx/.cache/")


def notes(plan: Plan) -> list[str]:
    """Return what to know before a plan is carried out, in sentences."""
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
    if any(place in launcher for place in CACHES):
        found.append(f"{launcher} is in a cache that may be cleared. Install memtui permanently first.")
    return found


def unchanged(plan: Plan) -> str:
    """Say why a plan changes nothing, after the path of the settings file."""
    if plan.action == "install":
        return "has the hooks and the status line already" if plan.status_line else "has the hooks already"
    return "has no status line of memtui's" if plan.status_line else "has no hooks of memtui's"


def done(plan: Plan) -> str:
    """Describe what was done, once a plan was carried out."""
    what = ("hooks and status line" if plan.action == "install" else "status line") if plan.status_line else "hooks"
    return f"{what} {'installed in' if plan.action == 'install' else 'removed from'} {plan.settings_path}"
