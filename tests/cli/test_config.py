"""Settings are changed without touching what a person wrote around them."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from memtui.base.errors import MemtuiError
from memtui.settings import config_hot, setting

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
    assert ("\r\n" in made) == (crlf and bool(text))
    kept = iter(made.splitlines())
    assert all(any(line == other for other in kept) for line in text.rstrip().splitlines())
    gone = tomllib.loads(setting.change(made, key, None, place))
    before.setdefault("projects", {}).setdefault(project, {}) if project else None
    assert gone == before
