"""Scenes of a session, each in a home of its own: what the hooks said, and what of it the log and the inboxes then have."""

import os
import re

import pytest
from launching import Home

import recorded
from memtui.base import clock_hot, paths_hot
from memtui.deliver import log_hot, record, sessions, statistics
from memtui.inbox import format_hot, reconciliation_hot, redelivery_hot

# What differs from one run to the next.
FRESH = [
    (r"~\d+\.md", "~PID.md"),
    (r"\b0[0-9A-HJKMNP-TV-Z]{25}\b", "ID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", "TIME"),
]
KEYS = {"ms", "client", "logged", "started", "last", "corrected_last", "time", "_time", "_recalls", "place"}


def steady(value, words):
    """A value without what differs from one run to the next."""
    if isinstance(value, dict):
        return {steady(key, words): 0 if key in KEYS else steady(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [steady(item, words) for item in value]
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(name, word)
        for pattern, word in FRESH:
            value = re.sub(pattern, word, value)
    return value


def played(base, steps):
    """What the steps of a scene said, and left."""
    home, said, transcript = Home(base), [], []
    for name, *given in steps:
        fields = given.pop() if given and isinstance(given[-1], dict) else {}
        if name == "write":
            path = home.base / given[0].format(config=home.config, slug=paths_hot.slug(str(home.project)))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(given[1])
            continue
        if name == "heard":  # what the client's transcript has by now
            home.write_transcript([*transcript, *given])
            os.utime(home.own_directory / "s1.jsonl", (clock_hot.now() + 60,) * 2)
            continue
        if name == "settled":
            outcomes = reconciliation_hot.reconcile(home.env, str(home.root), "s1", now=clock_hot.now() + given[0])
            said.append([name, outcomes, redelivery_hot.note(home.env, str(home.root), "s1")])
            continue
        reply = getattr(home, name)(*given, **fields)
        if hasattr(reply, "context"):
            said.append([name, *given, reply.context, reply.message, reply.refusal])
            event = {"start": "SessionStart", "prompt": "UserPromptSubmit"}.get(name, "PreToolUse")
            context = {"type": "hook_additional_context", "hookEvent": event, "content": [reply.context]}
            if reply.context:
                transcript.append(
                    {
                        "type": "attachment",
                        "uuid": f"a{len(transcript)}",
                        "timestamp": clock_hot.iso(clock_hot.now()),
                        "attachment": context,
                    }
                )
    home.settle()
    root = str(home.root)
    inboxes = [[box, name, (path / name).read_text()] for box, path in home.boxes.items() for name in format_hot.FILES.values() if (path / name).exists()]  # fmt: skip
    deliveries = [record.Delivery(row) for row in home.log()]
    notes = [note.fields for delivery in deliveries for note in record.notes_of(delivery)]
    read = [[delivery.items, delivery.contents, delivery.uses, delivery.tells_recall] for delivery in deliveries]
    served = sessions.collect(root, log_hot.newest_first(root))
    counter = statistics.RecallCounter()
    for delivery in reversed(deliveries):
        counter.count(delivery)
    after = [said, inboxes, home.log(), read, notes, served, counter.memories, counter.total(), home.errors()]
    project = str(home.project)
    names = {paths_hot.project_key(project): "KEY", paths_hot.slug(project): "SLUG", str(home.base): "BASE"}
    return steady(recorded.shown(after), names)


LENGTH = 120  # of the path of a home, which counts as part of what is said
ROWS = recorded.rows(__file__, "scenes")


@pytest.mark.parametrize("scene", range(len(ROWS)))
def test_a_scene_plays_as_ever(tmp_path, scene):
    recorded.check(
        __file__,
        "scenes",
        lambda _, *steps: played(tmp_path / "h".ljust(LENGTH - len(str(tmp_path)), "o"), steps),
        only=scene,
    )
