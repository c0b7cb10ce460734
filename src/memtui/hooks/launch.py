"""The script that hooks in a settings file start, compiled at every start: so it stays this small. Fails open."""

import posix
import sys

try:
    sys.path.insert(0, __file__[: -len("/memtui/hooks/launch.py")])
    from memtui.hooks.runner import main

    main(sys.argv[1:])
except BaseException:  # whatever it was, the prompt goes on
    pass
# Nothing is buffered, and to take the interpreter down in order costs as much as all of the above.
posix._exit(0)  # noqa: SLF001
