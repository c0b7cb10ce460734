"""Links between memories are found exactly where they are written, and follow a rename in their form."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recorded
from memtui.store import links
from memtui.store.memory import LinkTargets
from tables import rows


@pytest.mark.parametrize("text", rows(__file__, "a link is found in each form and a rename changes its name alone"))
def test_a_link_is_found_in_each_form_and_a_rename_changes_its_name_alone(text):
    (link,) = links.find(text)
    assert (link.target.removesuffix(".md"), text[link.name_start : link.name_end]) == ("target", "target")
    renamed = links.renamed(text, lambda link: links.leads_to(link.target, "", "", ["target"]), "other")
    assert renamed == text.replace("target", "other")


@pytest.mark.parametrize("text", rows(__file__, "code and what only looks like a link is none"))
def test_code_and_what_only_looks_like_a_link_is_none(text):
    assert [link for link in links.find(text) if link.target != "MEMORY"] == []


def test_links_become_words_and_lead_to_a_path_before_a_name():
    text = "[[t]], [[t|the label]], ![[t]], [[./t.md#h]], [words](t.md), [[other]]\n\n[d]: t.md\n"
    made = links.renamed(text, lambda link: link.target.removesuffix(".md") == "t", None)
    assert made == "t, the label, t, t, words, [[other]]\n\n[d]: t.md\n"
    top, deep, titled = _Memory("/m/a.md"), _Memory("/m/sub/b.md"), _Memory("/m/c.md", "CI/CD rules")
    known = LinkTargets([_Memory("/m/d.md", "a"), top, deep, titled])
    assert known.of("a", top.path) is known.of("a.md", deep.path) is known.of("../a.md", deep.path) is top
    assert known.of("sub/b.md", top.path) is known.of("sub/b", titled.path) is known.of("b", top.path) is deep
    assert known.of("CI/CD rules", top.path) is titled
    assert known.of("docs/a.md", top.path) is known.of("A", top.path) is known.of("../a.md", top.path) is None


class _Memory:
    def __init__(self, path, name=""):
        self.path, self.stem = path, path.rpartition("/")[2].removesuffix(".md")
        self.name = name or self.stem


NAMES = st.sampled_from(["target", "ziel-ä", "two words", "2024-10-11", "v1.2"])
WIKI, MARKDOWN = (
    ("[[{n}]]", "[[ {n} ]]", "[[{n}.md]]", "[[./{n}|text]]", "![[{n}#h]]"),
    ("[a](<{n}.md>)", "[a](./{e}.md#h 't')"),
)
FORMS = st.sampled_from([*WIKI, *MARKDOWN])
MARKS = [
    *("\n\n", "\n", " ", "`", "``", "```\n", "~~~\n", "    ", "\t", "- ", "> ", "| ", "word ", "[", "](", "]]"),
    *("\\", "é"),
]
BETWEEN = st.lists(st.sampled_from(MARKS), max_size=6).map("".join)
TEXTS = st.lists(st.tuples(BETWEEN, FORMS), max_size=5)


@settings(deadline=None)
@given(TEXTS, NAMES)
def test_renamed_and_renamed_back_a_text_has_the_same_bytes(parts, name):
    text = "".join(before + form.format(n=name, e=links.encoded(name)) for before, form in parts)

    def leads(to):
        return lambda link: link.target.removesuffix(".md") == to

    assert links.renamed(links.renamed(text, leads(name), "moved"), leads("moved"), name) == text
    for each in links.find(text):
        assert links.file_target(text[each.name_start : each.name_end] + ".md")[:-3] in {name, each.target}


@settings(deadline=None)
@given(st.text(alphabet="[]()|#\\`~ \n\tab.md:<>-!\"'", max_size=60))
def test_any_text_is_read_with_spans_inside_of_it(text):
    at = 0
    for each in links.spans(text):
        assert at <= each.start < each.end <= len(text)
        at = each.end
    assert len(links.masked(text)) == len(text)
    for each in links.find(text):
        assert each.start <= each.name_start <= each.name_end <= each.end
    assert links.renamed(text, lambda _: False, "x") == links.renamed(text, lambda _: False, None) == text


def test_links_read_as_ever():
    renamed = lambda text: links.renamed(text, lambda link: "target" in link.target, "new name")
    unlinked = lambda text: links.renamed(text, lambda link: "target" in link.target, None)
    recorded.check(__file__, "links", links.find, links.spans, links.masked, renamed, unlinked, links.targets)
