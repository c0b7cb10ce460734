"""The one table of colours: what state a thing is in, and of what kind it is. A colour says nothing alone: a sign or a
word stands beside it."""

# A problem is wrong and can be put right. A warning is what a person should know before going on.
GOOD, UNDER_WAY, WARNING, PROBLEM, QUIET = "green", "cyan", "yellow", "red", "dim"
# What waits in the Inbox, by its word in the list. None of them is a warning's, which looks like the accent.
KINDS = {
    "draft": "green",
    "todo": "cyan",
    "changed": "magenta",
    "merge": "blue",
    "fix": "blue",
    "safe fix": "green",
    "rule": "blue",
    "problem": PROBLEM,
    "trust": PROBLEM,
    "rejected": QUIET,
}
# What sessions got, and notes that wait, by their word in Activity.
DELIVERIES = {
    "urgent": "bold",
    "on the way": UNDER_WAY,
    "stuck": PROBLEM,
    "note": "cyan",
    "prompt": "green",
    "start": "blue",
    "model": "magenta",
}
