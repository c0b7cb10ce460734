"""What a session is about: its title, or the first words of the person; and its branch."""

import json

from memtui.client.transcripts import prompts


def write(tmp_path, *records):
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def said(text, branch="main"):
    return {"type": "user", "gitBranch": branch, "message": {"role": "user", "content": text}}


def test_the_person_s_title_is_better_than_the_client_s_and_that_than_the_first_words(tmp_path):
    records = [said("fix the flaky test")]
    assert prompts.about(write(tmp_path, *records)).title == "fix the flaky test"
    records += [{"type": "ai-title", "aiTitle": "Flaky test"}]
    assert prompts.about(write(tmp_path, *records)).title == "Flaky test"
    records += [{"type": "custom-title", "customTitle": "the upload test"}, {"type": "ai-title", "aiTitle": "Upload"}]
    assert prompts.about(write(tmp_path, *records)).title == "the upload test"
    records += [{"type": "custom-title", "customTitle": "renamed"}]
    assert prompts.about(write(tmp_path, *records)).title == "renamed"


def test_the_newest_branch_counts_also_at_the_end_of_a_long_transcript(tmp_path):
    filler = {"type": "assistant", "message": {"content": "x" * (prompts.HEAD_BYTES + prompts.TITLE_TAIL)}}
    last = [said("now on another branch", "wip"), {"type": "custom-title", "customTitle": "at the end"}]
    assert prompts.about(write(tmp_path, said("begin"), filler, *last)) == ("at the end", "wip")


def test_what_others_wrote_of_titles_is_no_title(tmp_path):
    quoted = said('look: {"type":"custom-title","customTitle":"mine"}')
    odd = [{"type": "custom-title", "customTitle": 7}, {"type": "ai-title"}]
    assert prompts.about(write(tmp_path, quoted, *odd)).title.startswith("look: ")
    assert prompts.about(str(tmp_path / "none.jsonl")) == ("", "")
    assert prompts.about(None) == ("", "")
