"""The columns of the list of memories."""

from memtui.tui.screens.memories import rows


def test_the_scope_column_is_as_wide_as_tells_projects_apart():
    words = [f"project-{number:02}" for number in range(60)]
    width = {at: rows.columns("name", False, at, scopes=words, longest_name=30)[rows.SCOPE].width for at in (58, 79)}
    assert width == {58: len(words[0]), 79: len(words[0])}
    few = ["global", "project", "@reviewer", "@migrator"]
    assert rows.columns("name", False, 79, scopes=few, longest_name=30)[rows.SCOPE].width == 7
