"""Two machines sync through an ssh server."""

import time

import pytest
from daemon import Daemon
from test_sync import Machine

from memtui.base.errors import MemtuiError
from memtui.sync import quick, state

pytestmark = pytest.mark.slow


def test_memories_travel_over_ssh_and_a_refused_key_is_said(tmp_path, remote, monkeypatch):
    with Daemon(tmp_path / "ssh") as daemon:
        for name, words in daemon.env.items():
            monkeypatch.setenv(name, words)
        laptop, desktop = (Machine(tmp_path, name, daemon.url(remote)) for name in ("laptop", "desktop"))
        laptop.write("ship", "Ship on Tuesdays.")
        for machine in (laptop, desktop, laptop):
            machine.sync()
        assert desktop.text("ship") == laptop.text("ship")
        time.sleep(quick.TICK)
        laptop.sync()
        assert quick.is_done(laptop.env | daemon.env, 2.0)
        desktop.write("ship", "Ship on Mondays.")
        daemon.authorized.write_text("")
        with pytest.raises(MemtuiError, match="git could not") as refused:
            desktop.sync()
        assert "key" in refused.value.hint
        assert "Mondays" in desktop.text("ship")
        with pytest.raises(MemtuiError, match="git could not"):
            quick.is_done(laptop.env | daemon.env, 3.0)
        assert "git could not" in state.load(laptop.root).error
    with pytest.raises(MemtuiError, match="git could not") as gone:
        desktop.sync()
    assert gone.value.hint
