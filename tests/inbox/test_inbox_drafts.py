"""Drafts: a text and its evidence stay apart, whatever either of them looks like."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.inbox import drafts as inbox_drafts

LINES = st.sampled_from(["Use pnpm", "", "> you: quoted", "> quoted", "\\> quoted", "\\\\> twice", ">", "> agent: x"])
TEXTS = st.lists(LINES | st.text("ab>\\ :", max_size=8), max_size=6).map(lambda lines: "\n".join(lines).strip())
EVIDENCE = st.lists(st.sampled_from(["> agent: I used npm", "> you: no, pnpm"]), max_size=2)


@given(TEXTS, EVIDENCE)
def test_what_is_joined_is_split_again(text, evidence):
    assert inbox_drafts.split_evidence(inbox_drafts.join_evidence(text, evidence)) == (text, evidence)
