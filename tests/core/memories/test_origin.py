"""Where a memory was born: found in the transcript that it names."""

import json

from memtui.core.memories import origin
from memtui.core.memories.memory import read_memory

SESSION = "11111111-2222-4333-8444-555555555555"


def _world(tmp_path, records, session=SESSION):
    home = tmp_path / "claude"
    project = home / "projects" / "-work"
    (project / "memory").mkdir(parents=True)
    (project / f"{SESSION}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    path = project / "memory" / "prefer-pnpm.md"
    path.write_text(f"---\nname: prefer-pnpm\nmetadata:\n  originSessionId: {session}\n---\nUse pnpm, never npm.\n")
    return {"CLAUDE_CONFIG_DIR": str(home), "HOME": str(tmp_path)}, read_memory(str(path), "auto")


def _said(text):
    return {"type": "user", "uuid": text[:4], "timestamp": "2026-11-20T10:00:00Z", "gitBranch": "main",
            "message": {"role": "user", "content": text}}  # fmt: skip


def _answered(text, file=""):
    content = [{"type": "text", "text": text}]
    if file:
        content.append({"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": file}})
    return {"type": "assistant", "message": {"role": "assistant", "id": text, "content": content}}


def test_the_passage_before_the_file_was_written(tmp_path):
    env, memory = _world(
        tmp_path,
        [
            _said("fix the lockfile"),
            _answered("I'll run npm install."),
            _said("no, pnpm as always"),
            _answered("Noted.", "/x/projects/-work/memory/prefer-pnpm.md"),
            _said("and now use pnpm never npm to release"),
        ],
    )
    found = origin.of(env, memory)
    assert (found.said, found.agent, found.written) == ("no, pnpm as always", "I'll run npm install.", True)
    assert (found.title, found.branch) == ("fix the lockfile", "main")


def test_the_passage_most_alike_if_nothing_was_written_there(tmp_path):
    env, memory = _world(tmp_path, [_said("hello there"), _said("please never npm, take pnpm"), _said("thanks")])
    found = origin.of(env, memory)
    assert (found.said, found.written) == ("please never npm, take pnpm", False)


def test_no_session_no_transcript_or_no_patience(tmp_path):
    env, memory = _world(tmp_path, [_said("use pnpm")], session="../../etc/passwd")
    assert origin.of(env, memory) is None
    env, memory = _world(tmp_path / "b", [_said("use pnpm")], session=SESSION.replace("1", "9"))
    assert origin.of(env, memory) is None
    env, memory = _world(tmp_path / "c", [_said("use pnpm")])
    assert origin.of(env, memory, lambda _: False) is None
