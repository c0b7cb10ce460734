"""Write the bundles of compiled modules that hooks load at once (hooks/bundle.py)."""

import ast
import marshal

from memtui.base import fs
from memtui.hooks import bundle


def write() -> list[str]:
    """Write the bundles that are missing or not current; return their groups. Where that can't be, there are none."""
    return [group for group in bundle.GROUPS if _write(group)]


def _write(group: str) -> bool:
    try:
        sources = [f"{bundle.top()}/{name.replace('.', '/')}.py" for name in bundle.GROUPS[group]]
        stamps = marshal.dumps(tuple(map(bundle.stamp, sources)))
        head = bundle.magic() + len(stamps).to_bytes(4, "little") + stamps
        path = bundle.path(group)
        if _is_whole(fs.read_or_empty(path), head):
            return False
        fs.write_atomic(path, head + marshal.dumps(list(map(_compiled, sources))), durable=False)
    except (OSError, ImportError, SyntaxError):
        return False
    return True


def _is_whole(data: bytes, head: bytes) -> bool:
    """Tell whether a bundle begins like this and can be read. The same code has not always the same bytes."""
    try:
        return data.startswith(head) and bool(marshal.loads(data[len(head) :]))  # noqa: S302
    except (ValueError, EOFError, TypeError):
        return False


def _compiled(source: str) -> object:
    """Return the code of a module without what every hook would read for nothing: docstrings, annotations, and where in
    its line something stands."""
    tree = _Bare().visit(ast.parse(fs.read_or_empty(source), source))
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
