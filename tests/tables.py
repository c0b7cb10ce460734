"""Cases of tests that are rows of a table: `NAME.json` beside a module has them by the words of the test's name."""

import json
from pathlib import Path
from typing import Any


def rows(module: str, test: str) -> Any:
    """The cases of a test, as `parametrize` takes them."""
    return json.loads(Path(module).with_suffix(".json").read_text(encoding="utf-8"))[test]
