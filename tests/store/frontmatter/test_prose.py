"""The first sentence of Markdown texts of every kind."""

import pytest

from memtui.store.frontmatter.prose_hot import first_sentence, sentences


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("---\na: b\n---\n\n---\nname: x\ndescription: The export\nmetadata:\n  type: user\n---\n\nText.\n", "Text."),
        *(("---\nA rule above.\n", "A rule above."), ("```bash\nls\n```\n", "")),
        ("- ```bash\n  ls\n  ```\n\nRun it.\n", "Run it."),
        *(("~~~\n```\n~~~\nRuns it.\n", "Runs it."), ("$$\nx=1\n$$\n", "")),
        ("<details>\n<summary>More</summary>\n\nThe port is 5.\n</details>", "The port is 5."),
        ("<table>\n<tr><td>a</td></tr>\n</table>\n\nAfter.", "After."),
        ("[[_TOC_]]\n\nAfter.", "After."),
        ("| host | role |\n|---|---|\n| a | b |\n", ""),
        ("a | b\n--|--\n1 | 2\n\nEnd.", "End."),
        ("![build](https://x.test/b.svg)\n\nHi there.", "Hi there."),
        ("[![b](https://x.test/b.svg)](https://x.test)\n", ""),
        *(("key:: value\nText", "Text"), ("- [ ] first\n- [x] second", "first")),
        ("1. Tag it.\n2. Push", "Tag it."),
        ("> [!warning] Careful\n> Do not push.", "Do not push."),
        ("> [!warning] Careful", "Careful"),
        ("<!-- a\nb -->\n# T\n\nThe long\nline is wrapped. Next.", "The long line is wrapped."),
        ("# T\r\rFirst line.\rSecond.\r", "First line."),
        ("Title\n=====\n\nText is here. x", "Text is here. x"),
        *(("Title\n=====\n", "Title"), ("    code\n\nText.", "Text.")),
        ("See [docs](https://x.test/z_(a)) and [[rel|the rel]]. B", "See docs and the rel."),
        ("Don't use src/**/x.py or **`src/**/a`**. X", "Don't use src/**/x.py or src/**/a."),
        ("See <https://x.test>. Z", "See <https://x.test>."),
        ("", ""),
    ],
)
def test_the_first_sentence_is_prose_without_marks(text, sentence):
    assert first_sentence(text) == sentence


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("Use e.g. port 8081 for the proxy. More.", ["Use e.g. port 8081 for the proxy.", "More."]),
        ("Der Proxy, z. B. Port 8081, läuft. Mehr.", ["Der Proxy, z. B. Port 8081, läuft.", "Mehr."]),
        ("The answer is no. See no. 5.", ["The answer is no.", "See no. 5."]),
        ("必ず pytest で実行する。unittest は使わない。", ["必ず pytest で実行する。", "unittest は使わない。"]),
        ("Version 1.2 is out! “Really?” Yes.", ["Version 1.2 is out!", "“Really?”", "Yes."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, split):
    assert sentences(text) == split
