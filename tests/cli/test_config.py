"""Settings are changed without touching what a person wrote around them."""

import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memtui.base.errors import MemtuiError
from memtui.settings import config_hot, setting


def file(shell):
    return Path(shell.env["HOME"], ".claude/memtui/config.toml")


def test_settings_and_keys_are_changed_in_place(bare):
    file(bare).parent.mkdir(parents=True)
    file(bare).write_text('# all\nnote_to = "people"  # mine\n')
    bare("config", "set", "note_to", "anyone")
    assert 'note_to = "anyone"  # mine\n' in file(bare).read_text()
    bare("config", "unset", "note_to")
    assert "_to" not in file(bare).read_text()
    file(bare).write_text("# mine\n[keys]   # as in vi\n# the rest\n")
    bare("config", "set", "keys.app.quit", "ctrl+x")
    bare("config", "set", "keys.memories.edit", "i")
    kept = '# mine\n[keys]   # as in vi\n# the rest\n"app.quit" = "ctrl+x"\n"memories.edit" = "i"\n'
    assert file(bare).read_text() == kept
    assert bare("config", "get", "keys.app.quit").out == "ctrl+x\n"
    assert [row["key"] for row in bare.json("config")["keys"]] == ["keys.app.quit", "keys.memories.edit"]
    assert len(bare.json("config", "list", "--keys")["keys"]) > 50
    assert bare.json("config")["problems"] == []
    bare("config", "unset", "keys.memories.edit")
    assert bare("config", "get", "keys.memories.edit").out == "e\n"
    bare("undo")
    assert file(bare).read_text() == kept


def test_a_project_has_its_own_mode(bare):
    bare("config", "set", "mode", "off", "--project", ".")
    assert tomllib.loads(file(bare).read_text()) == {"projects": {bare.cwd: {"mode": "off"}}}
    assert (bare("config", "get", "mode").out, file(bare).stat().st_mode & 0o777) == ("off\n", 0o600)
    bare("config", "set", "mode", "notes")
    assert bare("config", "get", "mode").out == "off\n"
    bare("config", "unset", "mode", "--project", ".")
    assert bare("config", "get", "mode").out == "notes\n"
    assert bare("config", "set", "budget", "700", "--project", ".", check=False).code == 2


def test_what_makes_no_sense_is_refused_and_each_value_is_explained(bare):
    for key, value in (
        ("mode", "loud"),
        ("budget", "12"),
        ("budget", "99999"),
        ("banner", "maybe"),
        ("extract_confidence", "2"),
        ("todos_max", "x"),
        *(("keys.app.quit", keys) for keys in ("", "x y", "strg+x", "nonsense", "x,,y")),
    ):
        assert bare("config", "set", key, value, check=False).code == 2
    done = bare("config", "set", "keys.memories.edti", "x", check=False)
    assert (done.code, "keys.memories.edit" in done.err) == (2, True)
    assert len(done.err) < 300
    assert not file(bare).exists()
    for key in ("gate", "llm_backend"):
        done = bare("config", "set", key, "ask first", check=False)
        assert done.code == 2
        for value in config_hot.CHOICES[key]:
            assert setting.VALUES[key][value] in " ".join(done.err.split())


VALUES = {
    "mode": st.sampled_from(config_hot.MODES),
    "budget": st.integers(500, 9800),
    "banner": st.booleans(),
    "extract_confidence": st.sampled_from([0.25, 0.5, 1.0]),
}
LINES = st.lists(
    st.sampled_from(
        [
            "# a comment",
            "",
            "  # indented",
            'todos_max = 3 # "three"',
            "since = 2026-01-01",
            "[projects.'/a b']",
            '[projects."/c#"]\nextract = true',
        ]
    ),
    max_size=6,
    unique=True,
)


@given(
    LINES, st.sampled_from(sorted(VALUES)), st.data(), st.sampled_from([None, "/a b", "/c#", '/q"\\ü']), st.booleans()
)
def test_a_change_says_what_was_asked_and_keeps_every_other_line(lines, key, data, project, crlf):
    newline = "\r\n" if crlf else "\n"
    text = "".join(line.replace("\n", newline) + newline for line in lines)
    try:
        before = setting.parse(text)
    except MemtuiError:
        return
    value = data.draw(VALUES[key])
    place = ("projects", project) if project else ()
    made = setting.change(text, key, value, place)
    table = tomllib.loads(made)
    table = table["projects"][project] if project else table
    assert table[key] == value
    kept = iter(made.splitlines())
    assert all(any(line == other for other in kept) for line in text.rstrip().splitlines())
    gone = tomllib.loads(setting.change(made, key, None, place))
    before.setdefault("projects", {}).setdefault(project, {}) if project else None
    assert gone == before


def test_every_setting_is_explained_in_eighty_columns(memtui):
    from memtui.settings.config_hot import DEFAULTS
    from memtui.settings.setting import MEANINGS

    assert set(MEANINGS) == set(DEFAULTS)
    memtui("config", "set", "mode", "notes")
    out = memtui("config").out
    assert all(about in out for about in MEANINGS.values())
    assert "MEANING\n" in out, "each in the row of its setting, at 80 columns"


WRONG = [
    ("keys = 3\n", "must be a table"),
    ('[keys]\n"app.quti" = "x"\n', "Did you mean app.quit?"),
    ('[keys]\n"app.quit" = ["x"]\n', "must be keys"),
    ('[keys]\n"app.quit" = ""\n', "must be keys"),
    ('theme = ["x"]\n', "must be one of dark"),
    ('glyphs = "utf"\n', "must be one of auto"),
]


def test_wrong_settings_and_keys_are_named_and_what_is_no_toml_is_left(bare):
    file(bare).parent.mkdir(parents=True)
    for text, words in WRONG:
        file(bare).write_text(text)
        messages = [f["message"] for f in bare.json("doctor", check=False)["findings"] if f["area"] == "config"]
        assert any(words in message for message in messages), messages
        assert any(words in problem for problem in bare.json("config")["problems"])
        if text != "keys = 3\n":
            bare("config", "set", "mode", "notes")
        assert bare("config", "set", "keys.app.undo", "U", check=False).code == (text == "keys = 3\n")
    file(bare).write_text('mod = "off"\nbudget = 3\n[projects."relative"]\nbudget = 700\n')
    text = bare("config").out
    assert "Did you mean mode?" in text
    assert "budget must be between" in text
    assert "absolute path" in text
    file(bare).write_text("mode = \n")
    assert bare("config", "set", "mode", "off", check=False).code == 1
    assert file(bare).read_text() == "mode = \n"
