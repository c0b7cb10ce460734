"""The script that the hooks in a settings file start. Python compiles it at every start, so it is small. Fails open."""

import posix
import sys

try:
    sys.path.insert(0, __file__[: -len("/memtui/hooks/launch.py")])
    from memtui.hooks.runner import main

    main(sys.argv[1:])
except BaseException:  # whatever happened, the prompt goes on
    pass
# Nothing is buffered, and an orderly shutdown of the interpreter costs as much as all of the above.
posix._exit(0)  # noqa: SLF001
