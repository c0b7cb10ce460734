"""The one table of colours: of states and of kinds; beside each colour stands a sign or a word."""

# A problem is wrong and can be put right. A warning is what a person should know before going on.
GOOD, UNDER_WAY, WARNING, PROBLEM, QUIET = "green", "cyan", "yellow", "red", "dim"
PERSON, RULE, PLAIN = "magenta", "blue", ""  # what comes from a person, what the agent is to do, and all else
# What waits in the Inbox, by its word in the list.
KINDS = {
    "draft": RULE,
    "todo": "bold",
    "changed": PERSON,
    "merge": PLAIN,
    "fix": PLAIN,
    "rule": RULE,
    "problem": PROBLEM,
    "trust": WARNING,
}
# What sessions got, and notes that wait, by their word in Activity.
DELIVERIES = {
    "urgent": "bold",
    "on the way": UNDER_WAY,
    "note": PERSON,
    "prompt": RULE,
    "start": PLAIN,
    "model": "italic",
    "answer": "italic",
}
