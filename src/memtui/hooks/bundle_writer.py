"""Write the bundles of compiled modules that hooks load at once (hooks/bundle.py)."""

import ast
import marshal

from memtui.base import fs_hot
from memtui.client.agents import agents_hot
from memtui.hooks import bundle, runner_hot

PROMPT = "UserPromptSubmit"
# By what begins: the modules that are then loaded at once, with all that these import, and what is loaded before.
ROOTS = {
    "SessionStart": ("hooks.runner_hot hooks.session_start_hot store.trust_hot client.agents.agent_hot", ""),
    PROMPT: ("hooks.runner_hot hooks.user_prompt_submit_hot", ""),
    "tools": ("hooks.runner_hot hooks.tools_hot", ""),
    "rules": ("hooks.refusals_hot", "tools"),
    "matching": ("rules.match_hot rules.rule_hot", "tools rules"),
    "worker": ("hooks.runner_hot hooks.worker_start_hot", ""),
    "recall": ("hooks.recall_block_hot recall.places_hot recall.query_hot recall.nearest_passages_hot", PROMPT),
    "sentences": ("recall.semantic_hot", f"{PROMPT} recall"),
    "settling": (
        "base.reverse_lines_hot client.agents.agent_hot deliver.error_log_hot inbox.reconciliation_hot",
        PROMPT,
    ),
    "delivery": ("hooks.deliver_hot settings.defaults_hot client.agents.agent_hot", PROMPT),
    "memories": ("recall.memory_block_hot", f"{PROMPT} recall delivery"),
}
OF_NOTES = "hooks.prompt_hot client.agents.agent_hot settings.defaults_hot hooks.environment_hot"
ROOTS["notes"] = (f"{OF_NOTES} inbox.claims_hot inbox.note_block_hot", PROMPT)
for agent in agents_hot.NAMES[1:]:
    late_start = f" hooks.{runner_hot.LATE_START}" if "SessionStart" in agents_hot.load(agent).silent else ""
    ROOTS[agent] = f"client.agents.{agent}_hot{late_start}", PROMPT


def write() -> list[str]:
    """Write the bundles that are missing or not current; return their groups. Where that can't be, there are none."""
    return [group for group in ROOTS if _write(group)]


def _write(group: str) -> bool:
    try:
        path = bundle.path(group)
        if _is_current(fs_hot.read_or_empty(path)):
            return False
        names = tuple(modules_of(group))
        sources = bundle.sources_of(names)
        head = marshal.dumps((names, bundle.stamps_of(sources)))
        data = bundle.magic() + len(head).to_bytes(4, "little") + head
        fs_hot.write_atomic(path, data + marshal.dumps(list(map(_compiled, sources))), durable=False)
    except (OSError, ImportError, SyntaxError):
        return False
    return True


def modules_of(group: str) -> list[str]:
    """List the modules of a group, each behind those that it imports, without those of the groups before."""
    roots, before = ROOTS[group]
    loaded = {name for other in before.split() for name in modules_of(other)}
    names: list[str] = []

    def add(name: str) -> None:
        if name not in names and name not in loaded and name != "hooks.bundle":
            for other in _imported(name):
                add(other)
            names.append(name)

    for root in roots.split():
        add(root)
    return names


def _imported(name: str) -> list[str]:
    (source,) = bundle.sources_of((name,))
    modules = []
    for node in ast.parse(fs_hot.read_or_empty(source)).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("memtui."):
            above = node.module.removeprefix("memtui.")
            places = [f"{above}.{alias.name}" for alias in node.names]
            modules += [place if fs_hot.stamp(bundle.sources_of((place,))[0]) else above for place in places]
    return modules


def _is_current(data: bytes) -> bool:
    """Tell whether a bundle can be read, and no source of it changed. The same code has not always the same bytes."""
    try:
        names, _, start = bundle.head_of(data)
        return bool(names) and bool(marshal.loads(data[start:]))  # noqa: S302
    except (OSError, ValueError, EOFError, TypeError):
        return False


def _compiled(source: str) -> object:
    """Return a module's code without docstrings, annotations and columns, which hooks would read for nothing."""
    tree = _Bare().visit(ast.parse(fs_hot.read_or_empty(source), source))
    return compile(tree, source, "exec", dont_inherit=True, optimize=2)


class _Bare(ast.NodeTransformer):
    """Takes annotations and columns out of a module."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node = ast.copy_location(ast.Assign([node.target], node.value) if node.value else ast.Pass(), node)
        if isinstance(node, (ast.stmt, ast.expr, ast.excepthandler, ast.arg, ast.keyword, ast.alias)):
            node.end_lineno = node.lineno
            node.col_offset = node.end_col_offset = -1
        return super().generic_visit(node)
