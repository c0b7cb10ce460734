"""Settings files that the client skips as a whole, and others that it reads: the end-to-end tests show both to it."""

from typing import Any

COMMAND = {"type": "command", "command": "true"}


def guarding(*groups: object) -> dict[str, Any]:
    """Settings with these groups of hooks before tools."""
    return {"hooks": {"PreToolUse": [*groups]}}


# Settings, and the key that the client names. `hooks` are added to those of the test.
SKIPPED: dict[str, tuple[dict[str, Any], str]] = {
    "a number under the least": ({"cleanupPeriodDays": 0}, "cleanupPeriodDays"),
    "a number that is not whole": ({"cleanupPeriodDays": 1.5}, "cleanupPeriodDays"),
    "a number over the most": ({"feedbackSurveyRate": 2}, "feedbackSurveyRate"),
    "a number as a string": ({"cleanupPeriodDays": "30"}, "cleanupPeriodDays"),
    "a string as a number": ({"model": 5}, "model"),
    "a null": ({"model": None}, "model"),
    "a word for a boolean": ({"includeCoAuthoredBy": "yes"}, "includeCoAuthoredBy"),
    "a number for a boolean": ({"autoMemoryEnabled": 1}, "autoMemoryEnabled"),
    "a string for an object": ({"statusLine": "x"}, "statusLine"),
    "an object without what it needs": ({"statusLine": {"type": "command"}}, "statusLine.command"),
    "an object with a wrong part": ({"attribution": {"commit": 5}}, "attribution.commit"),
    "a string for a list": ({"permissions": {"allow": "Bash"}}, "permissions.allow"),
    "a list with a wrong item": ({"companyAnnouncements": [5]}, "companyAnnouncements.0"),
    "no choice": ({"permissions": {"defaultMode": "nonsense"}}, "permissions.defaultMode"),
    "a list for a record": ({"env": ["A=1"]}, "env"),
    "a record with a wrong item": ({"enabledPlugins": {"a@b": "yes"}}, "enabledPlugins.a@b"),
    "a choice in a record": ({"skillOverrides": {"a": "x"}}, "skillOverrides.a"),
    "a sandbox switched on in short": ({"sandbox": True}, "sandbox"),
    "a matcher that is an object": (guarding({"matcher": {}, "hooks": [COMMAND]}), "hooks.PreToolUse.0"),
    "a hook in place of a group": (guarding(COMMAND), "hooks.PreToolUse.0"),
    "a hook without a command": (guarding({"hooks": [{"type": "command"}]}), "hooks.PreToolUse.0.hooks.0"),
    "a hook without a type": (guarding({"hooks": [{"command": "true"}]}), "hooks.PreToolUse.0.hooks.0"),
    "a hook of no known type": (guarding({"hooks": [{"type": "x"}]}), "hooks.PreToolUse.0.hooks.0"),
    "an agent hook without a prompt": (guarding({"hooks": [{"type": "agent"}]}), "hooks.PreToolUse.0.hooks.0"),
    "a time-out as a string": (guarding({"hooks": [{**COMMAND, "timeout": "5"}]}), "hooks.PreToolUse.0.hooks.0"),
    "a time-out of 0": (guarding({"hooks": [{**COMMAND, "timeout": 0}]}), "hooks.PreToolUse.0.hooks.0"),
}
READ: dict[str, dict[str, Any]] = {
    "an unknown key": {"nonsense": 3},
    "no choice where any other is taken": {"effortLevel": "x", "viewMode": "x", "theme": 5},
    "values of variables of any type": {"env": {"A": 1, "B": True, "C": None, "D": {}}},
    "rules that are no strings": {"permissions": {"allow": [5, "Bash("]}},
    "servers of a wrong type": {"allowedMcpServers": ["x"], "mcpServers": []},
    "a large number": {"cleanupPeriodDays": 10**9},
    "the least number": {"cleanupPeriodDays": 1},
    "an empty path": {"autoMemoryDirectory": ""},
    "an unknown event": {"hooks": {"NoSuch": [{}]}},
    "an event that is null": {"hooks": {"PreToolUse": None}},
    "a group without hooks in it": guarding({"matcher": "Bash", "hooks": []}),
    "a matcher that is no regular expression": guarding({"matcher": "(", "hooks": [COMMAND]}),
}
# HOOKS stands for the hooks of the test.
SKIPPED_TEXTS = {
    "a comment": '{// why\n"hooks": HOOKS}',
    "a comment in a block": '{/* why */ "hooks": HOOKS}',
    "a trailing comma": '{"hooks": HOOKS,}',
    "text behind it": '{"hooks": HOOKS} x',
    "single quotes": "{'a': 1, \"hooks\": HOOKS}",
    "a line break in a string": '{"x": "a\nb", "hooks": HOOKS}',
    "NaN": '{"x": NaN, "hooks": HOOKS}',
    "more than the client reads": '{"x": "' + "a" * 2_200_000 + '", "hooks": HOOKS}',
}
READ_TEXTS = {
    "a byte order mark": '\ufeff{"hooks": HOOKS}',
    "blank lines": ' \n{"hooks": HOOKS}\n\n',
    "a key twice": '{"hooks": {}, "model": 5, "model": "opus", "hooks": HOOKS}',
    "a number without end": '{"x": 1e999, "hooks": HOOKS}',
}
