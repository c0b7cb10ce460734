"""What the bars show, read while screens count."""

from memtui.tui.model.data import Data


def test_what_a_screen_counts_while_the_bars_are_read_is_not_lost(tmp_path, monkeypatch):
    data = Data({"HOME": str(tmp_path), "PATH": ""}, str(tmp_path))
    shown = data.facts

    def counted():
        shown.waiting["consolidate"] = 2  # as the screen does, which has the facts of before
        return 0

    monkeypatch.setattr(data, "count_live", counted)
    data.refresh()
    assert data.facts is not shown
    assert data.facts.waiting["consolidate"] == 2
