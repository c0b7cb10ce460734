"""The script that the plugin's hooks start. Compiled each time, so it is small. Fails open; any Python 3 reads it."""

import sys

try:
    if sys.version_info >= (3, 11):  # noqa: UP036  python3 is whatever the machine has
        sys.path.insert(0, __file__[: -len("hooks/memtui_hook.py")] + "src")
        from memtui.hooks.bundle import main

        main(sys.argv[1:3])
        import posix

        # Nothing is buffered, and an orderly shutdown of the interpreter costs as much as the hook itself.
        posix._exit(0)  # noqa: SLF001
    elif "retry" not in sys.argv:
        import os

        for name in ("python3.13", "python3.12", "python3.11"):
            try:
                os.execvp(name, [name, "-I", "-S", __file__] + sys.argv[1:3] + ["retry"])  # noqa: RUF005, S606
            except OSError:
                pass
        if "SessionStart" in sys.argv:
            print('{"systemMessage": "memtui is off: it needs Python 3.11 or newer as python3"}')
except BaseException:  # whatever happened, the prompt goes on
    pass
