"""The script that the hooks in a settings file start. Python compiles it at every start, so it is small. Fails open."""

import posix
import sys

try:
    sys.path.insert(0, __file__[: -len("/memtui/hooks/launch.py")])
    # A package without code of its own is made, not looked for; hooks/bundle.py makes the others.
    hooks = sys.modules["memtui.hooks"] = type(sys)("memtui.hooks")
    hooks.__path__ = [__file__[: -len("/launch.py")]]
    from memtui.hooks.bundle import main

    main(sys.argv[1:])
except BaseException:  # whatever happened, the prompt goes on
    pass
# Nothing is buffered, and an orderly shutdown of the interpreter costs as much as all of the above.
posix._exit(0)  # noqa: SLF001
