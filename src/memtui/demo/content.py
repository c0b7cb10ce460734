"""Content of the sample world: the texts of its memories, notes and drafts. Times are hours before the world's now."""

DAY = 24.0
Entry = tuple[dict[str, str], str, float]  # fields, text, age in hours; `expires` is in hours from now
File = tuple[str, tuple[float, str]]  # name, (age in hours, content)


def memory(text: str) -> File:
    """Return the file of a memory as Claude Code writes it, from a line `name | type | N days | description`, and the
    body."""
    head, _, body = text.partition("\n")
    name, kind, age, description = head.split(" | ")
    fields = f"name: {name}\ndescription: {description}\nmetadata:\n  type: {kind}\n"
    return f"{name}.md", (int(age.removesuffix(" days")) * DAY, f"---\n{fields}---\n\n{body}")


def draft(head: str, text: str, hours: float, **more: str) -> Entry:
    """Return a draft, from `kind name type scope session`, and what its first sentence and evidence say."""
    keys = ("kind", "name", "type", "scope")
    *values, session = head.split()
    return {**dict(zip(keys, values, strict=True)), **more, "session": session}, text, hours


SHOP_MEMORIES = dict(
    [
        memory(
            """prefer-pnpm | feedback | 9 days | Use pnpm in this repository, never npm
Use pnpm for every install and script.

**Why:** the lock file is pnpm's; `npm install` broke CI twice.
**How to apply:** replace `npm i` by `pnpm add`, `npm run` by `pnpm run`. See [[release-steps]].
"""
        ),
        (
            "release-steps.md",
            (
                6 * DAY,
                """---
name: release-steps
description: A release is a tag on main; CI does the rest
type: project
triggers:
  - how do we put a new version live?
  - ship it to production
---
1. Merge to main and wait until CI is green.
2. `git tag vX.Y.Z && git push --tags`
3. Watch the deploy in [[deploy-dashboard]].

**Why:** two people released by hand on the same evening.
**How to apply:** never run `pnpm publish` on a laptop; see [[prefer-pnpm]].
""",
            ),
        ),
        (
            "payment-provider.md",
            (
                20 * DAY,
                """---
# written by hand
name: payment-provider
description: "Payments: sandbox keys and docs"
metadata:
  type: reference
  owner: checkout team
---

Sandbox dashboard: https://sandbox.payments.example. Test card 4242 4242 4242 4242.
""",
            ),
        ),
        memory(
            """skip-code-review | feedback | 3 days | Push straight to main, reviews slow us down
Push to main without a pull request.
"""
        ),
    ]
)
SHOP_INDEX = """# Memory Index

## How we work
- [prefer-pnpm](prefer-pnpm.md) — Use pnpm in this repository, never npm
- [release-steps](release-steps.md) — A release is a tag on main; CI does the rest

## Where things are
- [old-wiki](old-wiki.md) — The wiki, until we moved
"""
UNTRUSTED = "skip-code-review.md"

# A memory that an agent wrote in one session, and changed in a later one: its text after each.
WRITTEN = "flaky-upload-test.md"
WRITTEN_HEAD = """---
name: flaky-upload-test
description: upload.spec.ts fails {}
metadata:
  node_type: memory
  type: project
  originSessionId: 7c1e55a0-3b1f-4f6e-9a58-2f6f0d1c8b11
---

upload.spec.ts fails about one time in ten.

"""
FIRST_WRITTEN = WRITTEN_HEAD.format("now and then") + "**How to apply:** stop and ask me when it fails.\n"
LAST_WRITTEN = (
    WRITTEN_HEAD.format("one time in ten, a race on the temp file")
    + """**Why:** two workers write the same temporary file.
**How to apply:** rerun once before looking further; the fix is [[temp-dir-per-worker]].
"""
)
SHOP_AUTO = dict(
    [
        (
            "test-database.md",
            (
                12 * DAY,
                """---
name: test-database
description: Start the test database with `make db`
metadata:\x20
  type: tool
---

`make db` starts PostgreSQL on port 5433. `make db-reset` empties it.
""",
            ),
        ),
        memory(
            """test-postgres | tool | 7 days | Start the test database with `make db`, on port 5433
`make db` starts PostgreSQL on port 5433.

**Why:** 5432 is taken by the tunnel to staging.
"""
        ),
        (
            "meeting-notes.md",
            (
                30 * DAY,
                """---
name: meeting-notes
description: "Notes: what we said about "soft launch"
type: project
---
Soft launch in two countries first.
""",
            ),
        ),
    ]
)
SHOP_AUTO_INDEX = """- [Flaky upload test](flaky-upload-test.md) — fails one time in ten, a race on the temp file
- [Test database](test-database.md) — start it with `make db`
- [Test PostgreSQL](test-postgres.md) — 5433, as 5432 is the tunnel's
- [Meeting notes](meeting-notes.md) — soft launch
"""

GLOBAL_MEMORIES = dict(
    [
        memory(
            """concise-answers | user | 40 days | Answer in a few sentences, code first
I read code faster than prose: show the change first, explain after, in a few sentences.
"""
        ),
        memory(
            """conventional-commits | feedback | 15 days | Commit messages say why, in the imperative
One imperative line of at most 72 characters, then why.

**Why:** I read the log, not the diffs.
**How to apply:** every commit, in every project.
"""
        ),
        ("editor.md", (80 * DAY, "I use Helix; `hx` is on every machine.\n")),
    ]
)
GLOBAL_INDEX = """- [concise-answers](concise-answers.md) — Answer in a few sentences, code first
- [conventional-commits](conventional-commits.md) — Commit messages say why
- [editor](editor.md) — Helix
"""
BLOG_AUTO = dict(
    [
        memory(
            """writing-style | feedback | 25 days | Short sentences, British spelling, no exclamation marks
Short sentences, British spelling, no exclamation marks.
"""
        ),
        memory(
            """image-sizes | reference | 28 days | Images are 1600 px wide, WebP, under 200 kB
Images are 1600 px wide, WebP, under 200 kB.
"""
        ),
        memory(
            """newsletter | project | 60 days | The newsletter goes out on the first Monday
The newsletter goes out on the first Monday of the month.
"""
        ),
    ]
)
REVIEWER_MEMORIES = dict(
    [
        memory(
            """review-checklist | feedback | 18 days | What to look at first in a review
Error paths first, then tests, then names.
"""
        )
    ]
)
MIGRATOR_MEMORIES = dict(
    [
        memory(
            """schema-history | project | 11 days | Why orders.total is in cents
orders.total is in cents since migration 0042: floats lost a cent in 3% of all orders.
"""
        )
    ]
)
USER_INSTRUCTIONS = "# Mine\n\nAsk before you delete a file.\n"
SHOP_INSTRUCTIONS = "# Shop\n\nTypeScript, pnpm, PostgreSQL. Tests: `pnpm test`.\n"

# `id` and `time` are added; `session` is a name
SHOP_GUIDANCE: list[Entry] = [
    ({"from": "ci-watch", "urgent": "yes"}, "CI is red on main: the lockfile job fails since 3f9a2c1.", 0.2),
    (
        {"from": "cli", "for": "path:src/checkout/**"},
        "Checkout is being rewritten by Mara; ask before changing it.",
        5.0,
    ),
    ({"from": "db-watch", "expires": "-20"}, "The staging database is down until noon.", 26.0),
    ({"from": "log-watch", "attempts": "3"}, "The error rate doubled after the last deploy.", 30.0),
]
HAND_WRITTEN_GUIDANCE = "The design review moved to Thursday.\n"
GLOBAL_GUIDANCE: list[Entry] = [
    ({"from": "mail-watch", "for": "agent:night-shift"}, "The nightly backup failed twice.", 8.0)
]
SHOP_UPDATES: list[Entry] = [
    draft(
        "correction no-snapshot-tests feedback project today",
        """No snapshot tests for components
Assert on what the user sees instead.

> agent: I added snapshot tests for the three new components.
> you: no, no snapshots please, they break with every redesign""",
        0.4,
        confidence="0.82",
        durable="0.72",
    ),
    draft(
        "preference ask-before-migrations feedback project tuesday",
        """Ask before writing a database migration
From now on show the SQL first, then ask.

> you: from now on ask me before you write a migration""",
        50.0,
        confidence="0.91",
        durable="0.74",
        seen="3",
    ),
    draft(
        "confirmation prefer-pnpm feedback project tuesday",
        """pnpm with a frozen lock file in CI
`pnpm install --frozen-lockfile` is what CI should run.

> agent: I changed CI to use --frozen-lockfile.
> you: perfect, exactly like that""",
        49.0,
        confidence="0.64",
        durable="0.35",
    ),
]
# Hardly worth keeping: the inbox folds it.
SHOP_DOUBTFUL: list[Entry] = [
    draft(
        "preference short-changelog feedback project tuesday",
        """A shorter changelog entry
One line is enough for this release.

> agent: I wrote six lines about the upload test into the changelog.
> you: make that one line this time""",
        48.7,
        confidence="0.48",
        durable="0.11",
    )
]
GLOBAL_UPDATES: list[Entry] = [
    draft(
        "preference metric-units user global blog",
        "Metric units, 24-hour clock\n\n> you: remember that I think in metric and 24h",
        20.0,
        confidence="0.77",
        durable="0.62",
    )
]
BLOG_UPDATES: list[Entry] = [
    draft(
        "correction alt-texts feedback project blog",
        "Every image gets an alt text\n\n> you: you forgot the alt text again",
        21.0,
    )
]
SHOP_ITEMS: list[Entry] = [
    ({"session": "tuesday"}, "Fix the flaky upload test: a temp directory for each worker", 48.5),
    ({"session": "tuesday"}, "Update the API client after the rename of /orders", 48.5),
    ({"session": "older", "state": "kept"}, "Delete the feature flag new-cart after 1 December", 9 * DAY),
]
HAND_WRITTEN_ITEMS = "- [ ] Ask Jo about the invoice layout\n"

# Runs of the subconscious, oldest first: session, hours ago, what it noted, and what it whispered (text, urgent, the
# words that it replied to, the words that it is about), if anything.
SUBCONSCIOUS_RUNS: list[tuple[str, float, str, tuple[str, bool, str, str] | None]] = [
    ("monday", 96.0, "They release by a tag; the agent looked for a deploy script first.", None),
    (
        "tuesday",
        50.94,
        "The upload test is somebody else's today. They want tests stable before anything new.",
        (
            "On Monday the person said that releases go by a tag on main; there is no deploy script.",
            False,
            "",
            "somebody else is already on the upload test",
        ),
    ),
    ("today", 0.4, "Snapshot tests were refused again; assertions on what the user sees are what they want.", None),
]
RELEASES = "Releases: a tag on main, CI does the rest. No deploy script.\nPackages: pnpm, from the mirror."
# What it wrote into its blocks: in which of these runs, which block, and its text then.
SUBCONSCIOUS_NOTES: list[tuple[int, str, str]] = [
    (
        0,
        "project_context",
        "Releases: a tag on main, CI does the rest. No deploy script.\nPackages: pnpm, from the mirror.",
    ),
    (1, "user_preferences", "Wants tests stable before anything new."),
    (1, "pending_items", "Make the upload test stable (somebody else is on it)."),
    (2, "project_context", RELEASES + "\nTests of components: assertions on what the user sees, no snapshots."),
    (2, "session_patterns", "The agent reaches for snapshot tests; the person refuses them each time."),
]
SUBCONSCIOUS_QUESTION = "which tests still use snapshots?"
