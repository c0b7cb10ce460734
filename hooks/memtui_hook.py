"""What the plugin's hooks start. Compiled each time, so it is small. Fails open; any Python 3 reads it."""

import sys

try:
    if sys.version_info >= (3, 11):  # noqa: UP036  python3 is whatever the machine has
        import posix

        # The checkout around the plugin, or that beside its copy: plugins/cache/MARKETPLACE/PLUGIN/VERSION.
        names = __file__.split("/")[:-1]
        for at in (names[:-1], names[:-4] + ["marketplaces"] + names[-3:-2]):  # noqa: RUF005
            lib = "/".join(at) + "/src"
            try:
                posix.stat(lib + "/memtui/hooks/bundle.py")
                break
            except OSError:
                pass
        else:
            sys.path.insert(0, "/".join(names))
            from memtui_installed import lib
        sys.path.insert(0, lib)
        try:  # as launch.py does
            load = sys.modules["_frozen_importlib"]._load  # noqa: SLF001
            spec = sys.modules["_frozen_importlib_external"].spec_from_file_location
            load(spec("memtui.hooks.bundle", lib + "/memtui/hooks/bundle.py"))
        except (KeyError, AttributeError):
            pass
        from memtui.hooks.bundle import main

        main(sys.argv[1:3])
        # Nothing is buffered, and an orderly shutdown costs as much as the hook itself.
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
