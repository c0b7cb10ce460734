"""Words for hooks that are installed or removed, and for fixes."""

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.base import findings
from memtui.base.finding import Finding
from memtui.base.phrasing_hot import ago, many
from memtui.client.agents.program import PROGRAM, Program
from memtui.hooks.install import installation as install
from memtui.hooks.install import settings_merge
from memtui.hooks.install.entries import commands_in, is_ours, shows_ours
from memtui.hooks.install.installation import SettingsPlan
from memtui.hooks.install.status import Status
from memtui.views.words import TABLES

if TYPE_CHECKING:
    from memtui.sync.sync import MachineRow
    from memtui.tidy.checks.fixes import FixOutcome

TO_SEE_BOTH = "\n  To see both, put this there in place of its `command`:"
TO_SEE_IT_ALONE = "\n  To see it without memtui, put this there in place of its `command`:"
DOES = TABLES["hooks"]
# Parts of paths where uvx and pipx keep what they run once: it may be cleared.
CACHES = ("/uv/archive-v0/", "/uv/environments-v2/", "/pipx/.cache/")


def state(hooks: Status | None, others: Sequence[str]) -> tuple[str, bool]:
    """Say whether hooks are installed and where, `✓ 7 hooks (user)`, and whether they are. `hooks`: those of
    Claude Code, None if not known; `others`: the agents beside it that run memtui's hooks."""
    words = list(others)
    if hooks is not None and hooks.installed:
        places = ", ".join(dict.fromkeys(hook.source for hook in hooks.hooks))
        words.insert(0, f"{many(len(hooks.hooks), 'hook')} ({places})")
    elif hooks is not None and hooks.unreadable:
        return "✗ Claude Code skips a settings file", False
    return ("✓ " + " · ".join(words), True) if words else ("✗ not installed", False)


def machine(row: "MachineRow", now: float) -> str:
    """Say what is known of a machine that syncs: `laptop · memtui 0.2.0 · sent about 3h ago · at most 2 behind`."""
    words = [
        row.name,
        f"memtui {row.version}",
        *([f"sent about {ago(min(row.time, now), now)}".replace("about just", "just")] if row.time else []),
    ]
    if row.ahead is None:
        return " · ".join([*words, f"{'at most ' * bool(row.behind)}{row.behind:,} behind"])
    if row.is_syncing:
        return " · ".join([*words, "a sync is running"])
    return " · ".join([*words, f"{row.ahead:,} ahead", f"{row.behind:,} behind", f"{row.withheld:,} held back"])


def notes(plan: SettingsPlan) -> list[str]:
    """Return what to know before a plan is carried out, in sentences."""
    if plan.action == "uninstall":
        if plan.other_status_line is None:
            return []
        words = f"The status line in {plan.settings_path} is your own and starts memtui: it is left alone."
        return [words + (TO_SEE_IT_ALONE if plan.instead else " Take memtui out of its `command`.")]
    if plan.new_record is None:
        return []
    path, launcher = plan.settings_path, plan.new_record.launcher
    lines = []
    if plan.scope != "user":
        lines.append(f"Claude Code reads {path} only when it is started in {os.path.dirname(os.path.dirname(path))}.")
    if plan.scope == "project":
        lines.append(
            "This file is usually committed, but the hooks name this machine's paths: `--scope local` is for you alone."
        )
    if any(place in launcher for place in CACHES):
        lines.append(f"{launcher} is in a cache that may be cleared. Install memtui permanently first.")
    if plan.other_status_line is not None:
        other = plan.other_status_line
        theirs = other.get("command") if isinstance(other, dict) else None
        if not isinstance(theirs, str):
            lines.append("`statusLine` there is not memtui's, and stays. Remove it to have memtui's.")
        elif shows_ours(theirs):
            lines.append(f"The status line there shows memtui's already, and stays: {theirs}")
        else:
            lines.append(f"The status line there stays: {theirs}" + (TO_SEE_BOTH if plan.instead else ""))
    return lines


def to_paste(plan: SettingsPlan) -> str:
    """Return the line to paste for another status line beside or without memtui's, empty if there is none."""
    return f'"command": {json.dumps(plan.instead)}' if plan.instead else ""


def outcome(not_served: Sequence[Finding]) -> list[str]:
    """Say in sentences whether sessions are served now, or what keeps them from it (`not_served`)."""
    sentences = []
    for finding in not_served:
        remedy = f" {findings.remedy(finding)}".rstrip()
        if finding.area != "hooks":
            remedy = f" To change that:{remedy}"
        elif remedy.startswith(" memtui "):  # it only says the same again
            remedy = ""
        sentences.append(findings.message(finding) + remedy)
    return sentences or [served(PROGRAM)]


def served(program: Program) -> str:
    """Say which sessions are served from now on."""
    return f"New {program.title} sessions will use memtui."


def effects(plan: SettingsPlan) -> list[tuple[str, list[str]]]:
    """List what a plan does: `Adds 7 hooks` with their events, `Adds the status line`."""
    before, after = _ours(plan.before), _ours(plan.after)
    both = before.keys() & after.keys()
    other = {event for event in both if before[event] != after[event]}
    changes = [("Adds", after.keys() - both), ("Removes", before.keys() - both), ("Changes", other)]
    order, rows = [*DOES].index, []
    for verb, events in changes:
        if hooks := sorted(events & DOES.keys(), key=order):
            rows.append((f"{verb} {many(len(hooks), 'hook')}", hooks))
        if settings_merge.STATUS_LINE in events:
            rows.append((f"{verb} the status line", []))
    return rows


def _ours(data: bytes | None) -> dict[str, list[str]]:
    """Return the commands of our hooks in a settings file, by event, and that of our status line."""
    text = install.decode(data)[1]
    if text.startswith("//"):  # a plugin
        return {event: [command] for event, command in commands_in(text).items()}
    settings = settings_merge.read(text, "")
    commands: dict[str, list[str]] = {}
    for event, command in settings_merge.our_hooks(settings):
        commands.setdefault(event, []).append(command)
    for event, command in commands_in(text).items() if not commands else ():  # a file of another form
        if event != settings_merge.STATUS_LINE:
            commands[event] = [command]
    line = settings.get(settings_merge.STATUS_LINE)
    if isinstance(line, dict) and is_ours(line):
        commands[settings_merge.STATUS_LINE] = [line["command"]]
    return commands


def unchanged(plan: SettingsPlan) -> str:
    """Say why a plan changes nothing, after the path of the settings file."""
    if plan.action == "install":
        return "has the hooks and the status line already" if plan.status_line else "has the hooks already"
    return "has no status line of memtui's" if plan.status_line else "has no hooks of memtui's"


def done(plan: SettingsPlan) -> str:
    """Describe what was done, once a plan was carried out."""
    what = ("hooks and status line" if plan.action == "install" else "status line") if plan.status_line else "hooks"
    return f"{what} {'installed in' if plan.action == 'install' else 'removed from'} {plan.settings_path}"


# fixes

NOTHING = TABLES["nothing to fix"]


def fixed(outcome: "FixOutcome") -> str:
    if not outcome.changed:
        return NOTHING[outcome.fix]
    if outcome.fix == "notes":
        back = sum(len(getattr(change, "returned", ())) for change in outcome.changed)
        number = many(len(outcome.changed), "delivery", "deliveries")
        return f"Found out what became of {number}; {many(back, 'note')} back in the queue."
    files = many(len(outcome.changed), "file or directory is", "files and directories are")
    return {
        "errors": f"The errors are set aside, in {outcome.changed[0]}.",
        "files": f"{files} private to you now.",
        "projects": "This project has now what was kept apart.",
    }[outcome.fix]
