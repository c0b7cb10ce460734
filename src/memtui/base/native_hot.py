"""Load an extension module of the standard library from the directory in which it lies.

The import system first lists the directories before that one, which takes longer. Hot path: no import of ours."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load(name: str) -> "Any":
    """Return an extension module. Raises ImportError where the interpreter has none of this name."""
    module = sys.modules.get(name)
    if module is not None:
        return module
    if name not in sys.builtin_module_names:
        try:
            bootstrap, external = sys.modules["_frozen_importlib"], sys.modules["_frozen_importlib_external"]
            for directory in sys.path:
                if directory.endswith("/lib-dynload"):
                    path = f"{directory}/{name}{sys.modules['_imp'].extension_suffixes()[0]}"
                    loader = external.ExtensionFileLoader(name, path)
                    return bootstrap._load(bootstrap.ModuleSpec(name, loader, origin=path))  # noqa: SLF001
        except Exception:
            pass  # it is imported as always
    __import__(name)
    return sys.modules[name]
