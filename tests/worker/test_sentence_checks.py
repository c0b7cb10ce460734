"""What is said of the process that compares prompts by sentences, by the files that it leaves."""

import json
import os

import pytest

from memtui.recall import sentences
from memtui.worker import sentence_vectors
from tables import rows


@pytest.mark.parametrize(
    ("on", "files", "installed", "expected"), rows(__file__, "the files of the process say what it does")
)
def test_the_files_of_the_process_say_what_it_does(tmp_path, monkeypatch, on, files, installed, expected):
    root = str(tmp_path)
    (tmp_path / "config.toml").write_text(f"semantic = {json.dumps(on)}\n")
    (tmp_path / "semantic" / "models").mkdir(parents=True)
    (tmp_path / "semantic" / "models" / "a").write_bytes(b"12345")
    for name in files:
        (tmp_path / "semantic" / name).write_text('{"why": "no disk."}')
    monkeypatch.setattr(sentences, "installed", lambda: installed)
    told = [
        [one.code, sentence_vectors.doing(root, {}), *filter(None, [one.data.get("why")])]
        for one in sentence_vectors.check(root)
    ]
    assert (told, sentence_vectors.downloaded(root), sentence_vectors.is_on(root)) == ([expected] if on else [], 5, on)
    failed = os.stat(root + "/semantic/failed").st_mtime if "failed" in files else 9e9
    os.utime(root + "/config.toml", (failed - 9, failed - 9))
    late = [sentence_vectors.failed_lately(root, failed + seconds) for seconds in (0, 3599, 3600)]
    assert late == ([True, True, False] if "failed" in files else [False] * 3)
    os.utime(root + "/config.toml", (failed + 9, failed + 9))
    assert not sentence_vectors.failed_lately(root, failed + 10)
    assert (sentence_vectors.covered(root, []), sentence_vectors.stop(root)) == ((0, 0), False)
