"""What a memory says of days is found with the day that it meant."""

from types import SimpleNamespace

from memtui.base import clock_hot
from memtui.store import memory
from memtui.tidy.checks import stale


def test_without_a_date_or_repository_the_file_tells_the_day():
    at = clock_hot.parse("2026-11-20T12:00:00Z")
    mem = memory.from_bytes("/m/a.md", "global", b"---\nname: a\n---\n\nThe deploy failed yesterday.\n", mtime=at)
    checked = SimpleNamespace(
        memories=[mem], repository=None, scope=SimpleNamespace(label="global", directory="/m", shown="global")
    )
    (finding,) = stale.dates(checked)
    assert (finding.data["proposed"], finding.data["written"]) == ("2026-11-19", "2026-11-20")
