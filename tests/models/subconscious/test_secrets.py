"""No secret of any kind that came up in a session reaches the model, or stands in a file of the subconscious."""

import os

import pytest

from redact.secretkinds import NAMES, PLACED_KINDS, SHAPED_KINDS, left_of, planted

pytestmark = pytest.mark.slow
KINDS = [*SHAPED_KINDS, *PLACED_KINDS, *((name, f"{name} <<{{P12}}>>") for name in NAMES)][::4]
AT_ONCE = 12


def found_in(root):
    texts = []
    for top, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(top, name), "rb") as file:
                texts.append(file.read().decode("utf-8", "replace"))
    return texts


def test_no_kind_of_secret_is_sent_or_kept(read, api):
    assert len(KINDS) >= 30
    secrets = []
    for start in range(0, len(KINDS), AT_ONCE):
        made = [(name, *planted(template, str(start))) for name, template in KINDS[start : start + AT_ONCE]]
        secrets += [(name, secret) for name, _, secret in made]
        lines = [text for _, text, _ in made]
        read.says("\n\n".join(["I said this once more.", *lines]), "\n\n".join(["The agent repeats it.", *lines]))
        said = {"quote": "I said this once more."}
        edits = [{"block": "project_context", "old": "", "new": line[:300], **said} for line in lines[:4]]
        whispers = [{"text": "\n\n".join(lines)[:1100], **said}]
        read.answered(note="\n".join(lines)[:1900], edits=edits, whispers=whispers)
        read.block("project_context", "")
    texts = [*found_in(read.root), *(request.text() for request in api.requests)]
    leaked = []
    for name, secret in secrets:
        for text in texts:
            for seen in (text, text.replace("\\\\", "\\").replace('\\"', '"')):
                piece = left_of(secret, seen, 24 if " " in secret else 8)
                leaked += [(name, piece, text[max(0, text.find(piece) - 60) : text.find(piece) + 20])] if piece else []
    assert leaked == []
