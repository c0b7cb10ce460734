"""Each kind of source is told by its content, and gives what it holds as drafts."""

import contextlib
import sqlite3

import pytest

from memtui.base.errors import MemtuiError
from memtui.review import approvals
from memtui.store import triggers
from memtui.transfer.markdown import MAX_TEXT


def write(path, text):
    path.write_text(text)
    return path


def approved(desk, name):
    """The bytes of the memory that a draft becomes."""
    store = desk.store
    outcome = approvals.approve_all(store.journal, [approvals.propose(store, desk.drafts()[name])])[0]
    assert outcome.error is None
    return outcome.memory.raw.decode()


# claude-mem

NEWEST = """
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT);
CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
  title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
  prompt_number INTEGER, discovery_tokens INTEGER, created_at TEXT, created_at_epoch INTEGER, of_a_newer_version BLOB);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
  investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
  prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
INSERT INTO sdk_sessions VALUES (1, 'client-1', 'mem-1', 'shop');
INSERT INTO observations VALUES (1, 'mem-1', 'shop', NULL, 'decision', 'Queue in Postgres', 'Jobs need no Redis',
  '["SKIP LOCKED is used, for speed", "One table"]', 'The queue is a table.', '["how-it-works"]', '[]', '["src/q.py"]',
  1, 10, '2026-01-02T03:04:05.000Z', 1767323045000, x'00ff');
INSERT INTO observations VALUES (2, 'mem-1', 'blog', NULL, 'change', 'Other project', '', '[]', 'Not here.', '[]', '[]',
  '[]', 1, 10, '2026-01-02T03:04:06.000Z', 1767323046000, NULL);
INSERT INTO session_summaries VALUES (1, 'mem-1', 'shop', 'Speed the upload up', NULL, 'Chunks of 8 MB are best.', 'Done.',
  NULL, '[]', '[]', NULL, 1, '2026-01-02T04:04:05.000Z', 1767326645000);
"""
OLDEST = """
CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, text TEXT, type TEXT, created_at TEXT);
INSERT INTO observations VALUES (1, 's', 'shop', 'Tests run with make test.', 'discovery', '2025-10-01T00:00:00Z');
"""


def database(path, script):
    made = sqlite3.connect(path)
    made.executescript(script)
    made.commit()
    made.close()
    return path


def test_claude_mem_gives_what_is_of_this_project_whatever_its_state(desk):
    path = database(desk.tmp / "claude-mem.db", NEWEST)
    before = path.read_bytes()
    drafts = desk.take(path)
    assert (set(drafts), path.read_bytes()) == ({"queue-in-postgres", "speed-the-upload-up"}, before)
    assert [each.name for each in desk.tmp.glob("claude-mem.db*")] == ["claude-mem.db"]
    fields = drafts["queue-in-postgres"].entry.fields
    assert (fields["tags"], fields["created"]) == ("decision, how-it-works", "2026-01-02T03:04:05Z")
    assert "Left out, of other projects: blog (1)" in desk.read(path).notes[0]
    made = approved(desk, "queue-in-postgres")
    assert 'description: "Queue in Postgres: Jobs need no Redis"' in made.replace("'", '"')
    assert "- SKIP LOCKED is used, for speed\n- One table" in made
    assert "tags:" in made
    assert "**Learned:** Chunks of 8 MB are best." in approved(desk, "speed-the-upload-up")
    (desk.tmp / "home/.claude-mem").mkdir()
    database(desk.tmp / "home/.claude-mem/claude-mem.db", OLDEST)
    assert [each.text for each in desk.take(desk.tmp / "home/.claude-mem").values()] == ["Tests run with make test."]


def test_a_database_that_is_written_to_is_read_with_its_newest_rows(desk):
    path = database(desk.tmp / "claude-mem.db", NEWEST)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE observations SET title = 'In the log' WHERE id = 1")
    writer.execute("BEGIN IMMEDIATE")
    try:
        assert "in-the-log" in desk.take(path)
    finally:
        writer.close()


BESIDE = {"-journal": b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504), "-wal": b"\x37\x7f\x06\x82" + b"no pages" * 8}


@pytest.mark.parametrize(
    ("name", "content", "reads"),
    [
        ("-journal", BESIDE["-journal"], False),
        ("-journal", bytes(512), True),  # over: SQLite in its mode PERSIST keeps the file, with zeros at its beginning
        ("-wal", BESIDE["-wal"], True),
        ("-wal", b"words", True),
        ("-wal", None, True),
        ("-journal", None, True),
    ],
)
def test_what_stands_beside_a_database_changes_no_file(desk, name, content, reads):
    path = database(desk.tmp / "claude-mem.db", NEWEST)
    (desk.tmp / "precious").write_text("words")
    beside = desk.tmp / f"claude-mem.db{name}"
    if content is None:
        beside.symlink_to(desk.tmp / "precious")
    else:
        beside.write_bytes(content)
    before = {file.name: file.read_bytes() for file in desk.tmp.iterdir() if file.is_file()}
    if reads:
        assert "queue-in-postgres" in desk.take(path)
    else:
        with pytest.raises(MemtuiError):
            desk.read(path)
    assert {file.name: file.read_bytes() for file in desk.tmp.iterdir() if file.is_file()} == before


ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM t) SELECT n id FROM t"


def test_other_databases_and_damaged_ones_are_refused(desk):
    for name, script in (("other", "CREATE TABLE other (a);"), ("view", f"CREATE VIEW observations AS {ENDLESS};")):
        with pytest.raises(MemtuiError, match="not of claude-mem"):
            desk.read(database(desk.tmp / f"{name}.db", script))
    path = database(desk.tmp / "a.db", NEWEST)
    data = bytearray(path.read_bytes())
    data[100:4000] = b"\xff" * 3900
    path.write_bytes(bytes(data))
    with pytest.raises(MemtuiError, match="damaged"):
        desk.read(path)
    path.write_bytes(b"SQLite format 3\0 and no more")
    with pytest.raises(MemtuiError, match="damaged"):
        desk.read(path)


def test_observations_of_a_worktree_of_this_project_only_are_taken_in(desk):
    columns = "id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, text TEXT, merged_into_project TEXT"
    rows = [
        ("shop/feature-x", "The feature is behind a flag.", None),
        ("feature-y", "The worktree became part of the shop.", "shop"),
        ("shop", "Tests run with make test.", None),
        ("/home/u/shop", "The path of an older version is known.", None),
        ("blog/shop", "A worktree of the blog is called like the shop.", None),
        ("shop", "It was moved to the blog.", "blog"),
        ("shopping/shop", "Another project begins with the same letters.", None),
    ]
    script = f"CREATE TABLE observations ({columns});"
    path = database(desk.tmp / "worktrees.db", script)
    with contextlib.closing(sqlite3.connect(path)) as made, made:
        query = "INSERT INTO observations (project, text, merged_into_project) VALUES (?, ?, ?)"
        made.executemany(query, rows)
    found = desk.read(path)
    assert sorted(each.body for each in found.memories) == sorted(row[1] for row in rows[:4])
    others = "Left out, of other projects: blog (2), shopping (1). Import them there, or all with --scope global."
    assert found.notes == [others]


# CLAUDE.md

RULES = """Always answer in English.

@docs/style.md

# Shop

## Testing

- Use pytest.
- No mocks.

```
# no heading
```

<!-- ## Not seen -->
## Empty

## Testing
Run `make test` before a commit.
"""


CODE = """# T

```python
@pytest.fixture
def shop():
    return 1
# @docs/in-code.md
<!-- stays -->
```

- @alice

    @Override

Read @docs/a.md first, then `@docs/b.md` and (@docs/c.md) and "@~/d".
Use @anthropic-ai/sdk, @types/node; see @./e#part, or ask a@x.md.
<!-- @docs/f.md -->

- @~/.claude/g.md
@docs/h\\ i.md
"""


def test_what_a_claude_md_imports_is_named_and_no_line_of_code_is_left_out(desk):
    path = write(desk.repo / "CLAUDE.md", CODE)
    named = [each.where.removeprefix("CLAUDE.md: @") for each in desk.read(path).skipped]
    assert named == ["~/.claude/g.md", "docs/h\\ i.md"]
    (draft,) = desk.take(path).values()
    start, end = CODE.index("```python"), CODE.index("<!-- @docs/f.md")
    assert CODE[start:end].rstrip() in draft.text
    assert "g.md" not in draft.text


def test_sections_of_claude_md_become_drafts_and_imports_are_not_followed(desk):
    path = write(desk.repo / "CLAUDE.md", RULES)
    (desk.repo / "docs").mkdir()
    write(desk.repo / "docs/style.md", "NEVER READ")
    found = desk.read(path)
    assert found.kind == "claude-md"
    assert [each.where for each in found.skipped] == ["CLAUDE.md: @docs/style.md"]
    drafts = desk.take(path)
    sentences = ["Always answer in English.", "Testing: Use pytest.", "Testing: Run make test before a commit."]
    assert [draft.text.partition("\n")[0] for draft in drafts.values()] == sentences
    assert list(drafts) == ["always-answer-in-english", "Testing", "Testing-2"]
    assert "# no heading" in drafts["Testing"].text
    assert "NEVER READ" not in str(drafts)


def test_own_rules_are_global_and_odd_times_and_secrets_go(desk):
    path = write(desk.config / "CLAUDE.md", "# Words\n\nBritish spelling.\n")
    assert [each.scope for each in desk.take(path).values()] == ["global"]
    key = "sk-ant-api03-" + "aB3" * 30
    head = f"created: soon, with {key}\ndate: 2026-01-02\ntype: {key}\noriginSessionId: {key}"
    note = write(desk.tmp / "note.md", f"---\n{head}\n---\n\nThe queue is a table.\n")
    fields = desk.take(note)["note"].entry.fields
    assert fields["created"] == "2026-01-02"
    assert key not in str(fields)


# Markdown


def test_a_folder_of_notes_keeps_what_frontmatter_gives_but_odd_files(desk):
    notes = desk.tmp / "vault"
    (notes / "deep/er").mkdir(parents=True)
    (notes / ".obsidian").mkdir()
    write(notes / ".obsidian/hidden.md", "Hidden.")
    write(
        notes / "deep/er/Ünïcode plan.md",
        "---\nname: plan\ndescription: The plan\ntype: project\ntags: a, b\naliases: [roadmap]\ntriggers: [what is next?]\n"
        "created: 2026-01-02\nupdated: 2026-02-03T04:05:06Z\n---\n\nFirst the shop. See [[Free text|that]].\n",
    )
    write(notes / "Free text.md", "# Free text\n\nNo frontmatter here.\n")
    write(notes / "broken.md", "---\nname: [\n---\n\nA broken head, and a body.\n")
    drafts = desk.take(notes)
    assert set(drafts) == {"plan", "free-text", "broken"}
    fields = drafts["plan"].entry.fields
    expected = {"type": "project", "created": "2026-01-02", "modified": "2026-02-03T04:05:06Z", "tags": "a, b"}
    assert {key: fields[key] for key in expected} == expected
    assert drafts["free-text"].text.startswith("Free text: No frontmatter here.\n")
    assert "description: The plan" in approved(desk, "plan")
    place = desk.store.scope("auto").directory
    lines = triggers.lines_of(desk.env["MEMTUI_HOME"], place)["plan.md"]
    assert [each.text for each in lines] == ["what is next?", "roadmap"]
    write(desk.tmp / "secret.md", "Outside.")
    (notes / "out.md").symlink_to(desk.tmp / "secret.md")
    (notes / "image.md").write_bytes(b"\x89PNG\r\n\0\0" * 10)
    write(notes / "long.md", "word " * MAX_TEXT)
    write(notes / "blank.md", "\n\n")
    write(notes / "good.md", "A good note.")
    write(notes / "headed.md", "---\ndescription: A note without a text\n---\n")
    plan = desk.plan(notes)
    assert [each.name for each in plan.drafts] == ["good", "headed"]
    whys = {each.where: each.why for each in plan.found.skipped}
    assert set(whys) == {"out.md", "image.md", "long.md", "blank.md"}
    assert whys["out.md"] == "is a link that leads out of the folder"


def test_what_is_no_source_is_refused_and_called_what_it_is(desk):
    (desk.tmp / "empty").mkdir()
    (desk.tmp / "a.bin").write_bytes(b"\0\1\2\xff")
    for path in (desk.tmp / "empty", desk.tmp / "a.bin", desk.tmp / "gone"):
        with pytest.raises(MemtuiError) as error:
            desk.read(path)
        assert "CLAUDE.md" in error.value.hint
    with open(desk.tmp / "huge.md", "wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(MemtuiError, match="larger than"):
        desk.read(desk.tmp / "huge.md")
    for name, data, why in (
        ("a.tar", b"a.md".ljust(257, b"\0") + b"ustar\x0000".ljust(255, b"\0"), "is a binary file"),
        ("a.zip", b"PK\3\4\0", "is a binary file"),
        ("a.json", b"[]", "is no Markdown"),
        ("a.pdf", b"%PDF-1.4\nplain words\n", "is no Markdown"),
        ("a.csv", b"name,text\na,b\n", "is no Markdown"),
    ):
        (desk.tmp / name).write_bytes(data)
        with pytest.raises(MemtuiError, match=why):
            desk.read(desk.tmp / name)
