"""What concerns all tests."""


def pytest_collection_modifyitems(items):
    """Kill tests fork at every step, and a fork costs the more, the more the process has in memory: they go first."""
    items.sort(key=lambda item: item.get_closest_marker("kill") is None)
