"""A project is called by its directory, and by more of its path where others are called the same."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.present.projects import names, with_paths


def test_as_much_of_the_path_as_tells_them_apart():
    found = names(["/home/you/jobs/crm", "/home/you/shop", "/home/me/shop", "-home-you-old"])
    assert found == {
        "/home/you/jobs/crm": "crm",
        "/home/you/shop": "you/shop",
        "/home/me/shop": "me/shop",
        "-home-you-old": "-home-you-old",
    }


def test_a_slug_is_called_by_its_path_where_that_is_known():
    found = with_paths(["-home-you-shop", "-gone", "/me/shop"], {"-home-you-shop": "/home/you/shop", "-gone": None})
    assert found == {"-home-you-shop": "you/shop", "-gone": "-gone", "/me/shop": "me/shop"}


@given(st.sets(st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))))
def test_no_two_have_the_same_name_and_each_is_the_end_of_its_path(roots):
    found = names(roots)
    assert set(found) == roots
    assert len(set(found.values())) == len(roots)
    assert all(("/" + root).endswith("/" + name) for root, name in found.items())
