"""The words for memories."""

from memtui.present.memories import loader


def test_who_loads_one_memory_and_who_loads_several():
    assert loader("project") == "memtui delivers it to sessions of this project"
    assert loader("project", 2) == "memtui delivers them to sessions of this project"
    assert loader("agent:reviewer", 2) == ""
