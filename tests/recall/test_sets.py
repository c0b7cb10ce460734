"""The sets that recall is measured with: what ours promises of itself, and how other shapes are read."""

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from memtui.recall import words

TESTS = Path(__file__).resolve().parents[1]
_paths = list(sys.path)
sys.path.insert(0, str(TESTS / "benchmarks"))

import recall_sets  # noqa: E402
from recall_sets import Query, RecallSet  # noqa: E402

# By path, for this directory is a package of the same name.
_spec = importlib.util.spec_from_file_location("recall_benchmark", TESTS / "benchmarks" / "recall.py")
benchmark = importlib.util.module_from_spec(_spec)
sys.modules["recall_benchmark"] = benchmark
_spec.loader.exec_module(benchmark)
# Its other modules have names that packages of the tests have, too.
sys.path[:] = _paths

OWN = TESTS / "data" / "recall"
# Words that say nothing about the subject, in the four languages that have paraphrases.
EMPTY = {
    term
    for word in """
    a about after again all an another each and any are as at be because been before but by can could do does else for from get
    gets give go got had have here how i if im in into is isnt it its just like make me more my no not of off ok on one
    or other out over people please pls raise should so some something sometimes still than that the their them then
    there they this those to too two u up us was we were what when where which who whole why will with would you your
    aber als am an auf aus bau bis bitte das dass dem der die drei ein eine einfach etwas gar für ich ihr im in ins ist kann
    können man mit mehr mal nach nicht nichts noch nur sie und uns vom von wann was wie wir zu zum zur
    al ayer como con cuando de del el en es la las lo los le no para por que sale se su sus tu un una y si sigue va
    こと これ だと して した する です ます ない なる ように いる から まで もの という 言わ われ れた った てき
    の它 一个 我们 什么 怎么 一下 的时 都是 那边 不了 到的
    """.split()
    for term in words.terms(word)
}


def own() -> RecallSet:
    return recall_sets.read(str(OWN))


def test_our_set_is_as_large_and_as_mixed_as_it_says():
    chosen = own()
    kinds = Counter(query.kind for query in chosen.queries)
    number = len(chosen.queries)
    assert sum(map(len, chosen.stores.values())) >= 120
    assert number >= 150
    assert kinds["paraphrase"] / number >= 0.4
    assert kinds["none"] / number >= 0.25
    assert set(kinds) == {"exact", "paraphrase", "identifier", "error", "cross-lingual", "none"}


def test_gold_and_triggers_name_memories_that_exist():
    chosen = own()
    for query in chosen.queries:
        assert query.gold.keys() <= chosen.stores[query.store].keys()
        assert bool(query.gold) == (query.kind != "none")
    everything = {(store, path) for store, files in chosen.stores.items() for path in files}
    assert chosen.triggers.keys() == everything
    assert all(4 <= len(lines) <= 5 for lines in chosen.triggers.values())


def test_paraphrases_share_no_content_word_with_the_memory_that_helps():
    chosen = own()
    shared = {}
    for query in chosen.queries:
        if query.kind == "paraphrase":
            path = next(iter(query.gold))
            memory = chosen.stores[query.store][path].decode()
            both = set(words.terms(query.text)) & set(words.terms(f"{path} {memory}")) - EMPTY
            shared[query.text] = {term for term in both if len(term) > 1}
    assert not {text: terms for text, terms in shared.items() if terms}


def test_a_folder_for_each_store_reads_as_one_text_does(tmp_path):
    chosen = own()
    chosen.triggers.clear()
    for store, files in chosen.stores.items():
        for path, data in files.items():
            file = tmp_path / "memories" / store / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    (tmp_path / "set.json").write_bytes((OWN / "set.json").read_bytes())
    assert recall_sets.read(str(tmp_path)).digest() == chosen.digest()


def test_a_devbench_has_prompts_without_an_answer(tmp_path):
    rows = [{"id": "x:1", "content": "We chose pears.", "tags": ["x", "x:1"]}]
    asked = [("why pears?", "exact", ["x:1"]), ("who sings?", "negative", [])]
    queries = [{"question": text, "category": kind, "expected_tags": tags} for text, kind, tags in asked]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({"memories": rows, "queries": queries}))
    chosen = recall_sets.read(str(path))
    assert [(query.kind, query.gold) for query in chosen.queries] == [("exact", {"x-1.md": 1}), ("none", {})]


def test_a_file_of_no_known_shape_is_refused(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match="none of the shapes"):
        recall_sets.read(str(path))


@pytest.mark.parametrize("data", [b"plain text\n", b"---\nname: a\n---\n\nbody\n"])
def test_triggers_go_into_the_frontmatter(data):
    from memtui.recall import fields

    found = fields.read(recall_sets.with_lines(data, ['when "it" breaks: look here', "夜中の通知"]), "a.md")
    assert found.texts["triggers"].split("\n") == ['when "it" breaks: look here', "夜中の通知"]
    assert found.texts["body"].strip() in data.decode()


def test_the_benchmark_ranks_and_counts(tmp_path, capsys):
    files = {"pears.md": b"We chose pears for the pie.\n", "plums.md": b"Plums are sour.\n"}
    (tmp_path / "s").mkdir()
    for name, data in files.items():
        (tmp_path / "s" / name).write_bytes(data)
    rows = [
        {"store": "s", "text": "which fruit for the pie", "kind": "exact", "gold": [{"path": "pears.md", "grade": 2}]},
        {"store": "s", "text": "sour taste", "kind": "exact", "gold": [{"path": "pears.md", "grade": 1}]},
        {"store": "s", "text": "bicycles", "kind": "none", "gold": []},
    ]
    (tmp_path / "set.json").write_text(json.dumps({"queries": rows}))
    output = tmp_path / "ranking.jsonl"
    assert benchmark.main([str(tmp_path), "--output", str(output), "--no-injection"]) == 0
    assert "hit@1 0.500  hit@5 1.000  MRR 0.750  (2)" in capsys.readouterr().out
    ranked = [json.loads(line) for line in output.read_text().splitlines()]
    assert [[each["path"] for each in row["ranking"]][:1] for row in ranked[:2]] == [["pears.md"], ["plums.md"]]


def test_an_injection_is_counted_by_what_helps():
    def answer(gold: dict[str, int], sent: list[str]) -> benchmark.Answer:
        return benchmark.Answer(Query("s", "text", "kind", gold), [], sent)

    found = benchmark.injection([answer({"a": 1}, ["a", "b"]), answer({"a": 1}, []), answer({}, []), answer({}, ["b"])])
    assert (found.sent, found.right, found.answered, found.silent) == (3, 1, 1, 1)
    assert str(found) == "precision 0.333  answered 0.500  silent 0.500  memories a prompt 0.75"
