"""How sessions are said."""

from memtui.deliver.sessions import Session
from memtui.views import deliveries


def row(**more):
    return Session(**({"id": "1f0c", "project": "/srv/shop", "slug": "-srv-shop", "cwd": "/srv/shop"} | more))


def test_an_id_from_a_file_is_no_command_of_the_shell():
    found = row(id="1f0c; rm -rf ~", cwd="/srv/my shop", project="")
    assert deliveries.resume(found, "/") == "cd '/srv/my shop' && claude --resume '1f0c; rm -rf ~'"


def test_a_session_is_resumed_where_it_ran_while_its_transcript_is_there():
    assert deliveries.resume(row(), "/srv/shop") == "claude --resume 1f0c"
    assert deliveries.resume(row(cwd=""), "/") == "cd /srv/shop && claude --resume 1f0c"
    assert deliveries.resume(row(looked_up=True, transcript="/t.jsonl"), "/srv/shop") == "claude --resume 1f0c"
    assert deliveries.resume(row(looked_up=True, live=True), "/srv/shop") == "claude --resume 1f0c"
    assert deliveries.resume(row(looked_up=True), "/srv/shop") == ""


def test_a_session_is_never_without_words():
    assert deliveries.session_title(row(title="fix it")) == "fix it"
    assert deliveries.session_title(row()) == "", "not looked up yet"
    assert deliveries.session_title(row(looked_up=True)) == "its transcript is gone"
    assert deliveries.session_title(row(looked_up=True, live=True)) == "no prompt yet"
    assert deliveries.session_sums(row())[0][0] == "got nothing yet"
    assert "8 of 10" in deliveries.arrived(row(outcomes={"arrived": 8, "failed": 2, "waiting": 3}))
