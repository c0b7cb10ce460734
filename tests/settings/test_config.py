"""Settings: read once after an edit, the last good ones kept, one table a project."""

import os

import pytest

from memtui.base import fastjson_hot, fs_hot
from memtui.settings import config_hot
from tables import rows


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def write(root, text):
    fs_hot.write_atomic(root + "/config.toml", text.encode() if isinstance(text, str) else text)


def mode(root, project=None):
    return config_hot.value(config_hot.load(root), project, "mode")


def test_defaults_hold_an_edit_counts_at_once_and_a_project_has_its_own(root):
    assert config_hot.load(root) == {}
    assert {key: config_hot.value({}, None, key) for key in config_hot.DEFAULTS} == config_hot.DEFAULTS
    assert not os.path.exists(root)
    write(root, 'mode = "off"\n')
    assert mode(root) == "off"
    write(root, 'mode = "notes"\n')
    assert mode(root) == "notes"
    os.unlink(root + "/config.toml")
    assert mode(root) == "full"
    assert config_hot.BUDGET_RANGE[1] < 10_000
    assert config_hot.problem("budget", config_hot.BUDGET_RANGE[1]) is None
    assert config_hot.number({"budget": 9800}, "budget") == 9800
    shop = '[projects."/w/shop"]\nmode = "off"\nextract = false\nbudget = 600\n'
    write(root, f'mode = "notes"\nbudget = 5000\n{shop}[projects."/w/blog/"]\nmode = "full"\n')
    settings = config_hot.load(root)
    assert config_hot.value(settings, "/w/shop", "mode") == "off"
    assert config_hot.value(settings, "/w/shop", "extract") is False
    assert config_hot.value(settings, "/w/shop", "banner") is True
    assert config_hot.value(settings, "/w/shop", "budget") == 5000
    assert config_hot.value(settings, "/w/blog", "mode") == "full"
    assert config_hot.value(settings, "/w/shop/sub", "mode") == "notes"
    assert config_hot.value(settings, None, "mode") == "notes"
    assert config_hot.project_table({"projects": ["/w"]}, "/w") == {}
    assert config_hot.project_table({"projects": {"/w": "off"}}, "/w") == {}


@pytest.mark.parametrize(
    "broken", ["mode = \n", "mode", b"\xff\xfe\x00", "a = " + "[" * 100_000, 'mode = "x" "y"', "\x00"]
)
def test_a_broken_file_keeps_the_last_good_settings(root, broken):
    write(root, 'mode = "off"\n')
    assert mode(root) == "off"
    write(root, broken)
    for _ in range(2):
        settings = config_hot.load(root)
        assert settings["mode"] == "off"
        assert settings["error"]
    write(root, 'mode = "notes"\n')
    assert config_hot.load(root) == {"mode": "notes"}


def test_a_file_that_became_readable_is_read_though_its_time_is_the_same(root):
    write(root, 'mode = "off"\n')
    path = root + "/config.toml"
    stat = os.stat(path)
    stamp = [stat.st_ctime_ns, stat.st_size, stat.st_ino, config_hot.VERSION]
    cache = {"stamp": stamp, "settings": {"error": "Permission denied"}}
    fs_hot.write_atomic(root + "/run/config.json", fastjson_hot.dumps(cache).encode())
    assert "error" in config_hot.load(root)
    os.chmod(path, 0o640)
    assert config_hot.load(root) == {"mode": "off"}


@pytest.mark.parametrize("cache", [b"", b"{", b"\xff\x00", b"[]", b'{"stamp": 1, "settings": []}', None])
def test_a_broken_cache_is_passed_over(root, cache):
    write(root, 'mode = "off"\n')
    if cache is None:
        os.makedirs(root + "/run/config.json")
    else:
        fs_hot.write_atomic(root + "/run/config.json", cache)
    assert (mode(root), mode(root)) == ("off", "off")


def test_odd_bytes_dates_and_keys_are_read_and_cached(root, monkeypatch):
    write(root, b'\xef\xbb\xbfmode = "off"\r\nerror = "x"\r\n')
    assert mode(root) == "off"
    assert "error" not in config_hot.load(root)
    write(root, 'mode = "off"\nsince = 2026-11-21\nlists = [1979-05-27T07:32:00Z]\nx = nan\n[table]\nat = 07:32:00\n')
    assert mode(root) == "off"
    monkeypatch.setattr(config_hot, "_parse", lambda *_: pytest.fail("parsed again"))
    assert config_hot.load(root)["table"] == {"at": "07:32:00"}


@pytest.mark.parametrize(
    ("key", "bad"), rows(__file__, "a value that makes no sense counts as absent and is explained")
)
def test_a_value_that_makes_no_sense_counts_as_absent_and_is_explained(key, bad):
    bad = float(bad) if bad == "nan" else bad
    assert config_hot.problem(key, bad).startswith("must be")
    assert config_hot.value({key: bad}, None, key) == config_hot.DEFAULTS[key]
