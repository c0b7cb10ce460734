"""A change of config.toml keeps the rest of the file, in any form that a person writes."""

import recorded
from memtui.settings import setting


def test_files_change_and_keys_are_judged_as_ever():
    recorded.check(__file__, "changes", setting.change)
    read = lambda keys: setting.split_keys(keys) if isinstance(keys, str) else keys
    recorded.check(__file__, "keys", setting.keys_problem, read, lambda keys: setting.value_of("keys.app.quit", keys))
