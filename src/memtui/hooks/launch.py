"""The script that the hooks in a settings file start. Python compiles it at every start, so it is small. Fails open."""

import posix
import sys

try:
    top = __file__[: -len("/hooks/launch.py")]
    sys.path.insert(0, top[: -len("/memtui")])
    # A package without code of its own is made; hooks/bundle.py makes the others.
    hooks = sys.modules["memtui.hooks"] = type(sys)("memtui.hooks")
    hooks.__path__ = [top + "/hooks"]
    try:  # to load what is needed first from where it is: to list directories for it takes longer
        load = sys.modules["_frozen_importlib"]._load  # noqa: SLF001
        spec = sys.modules["_frozen_importlib_external"].spec_from_file_location
        load(spec("memtui", top + "/__init__.py", submodule_search_locations=[top]))
        load(spec("memtui.hooks.bundle", top + "/hooks/bundle.py"))
    except (KeyError, AttributeError):
        pass
    from memtui.hooks.bundle import main

    main(sys.argv[1:])
except BaseException:  # whatever happened, the prompt goes on
    pass
# Nothing is buffered, and an orderly shutdown of the interpreter costs as much as all of the above.
posix._exit(0)  # noqa: SLF001
