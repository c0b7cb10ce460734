"""Run hooks in forks: a request a line of standard input, answered with the exit code. What the hooks leave behind becomes a
child of this process; an empty request waits for that."""

import ctypes
import gc
import json
import os
import pkgutil
import posix
import resource
import sys

sys.path.insert(0, sys.argv[1])
import memtui

ROOMS = ("hooks", "base", "client", "deliver", "inbox", "store", "settings", "recall", "worker")
PR_SET_CHILD_SUBREAPER = 36


def load():
    """Import all that a hook or its worker may need, and work out what each of them would."""
    for room in ROOMS:
        for module in pkgutil.walk_packages([f"{memtui.__path__[0]}/{room}"], f"memtui.{room}."):
            if not module.name.endswith(".launch"):
                __import__(module.name)
    from memtui.recall import everyday, vectors_hot

    everyday.word_weights()
    everyday.direction(vectors_hot.Table())


def reap(how):
    """Take note of the children that have ended."""
    try:
        while os.waitpid(-1, how)[0]:
            pass
    except ChildProcessError:
        pass


def run(request):
    """Be the hook that was asked for."""
    from memtui.hooks import bundle

    try:
        for number, path in enumerate(request["streams"]):
            os.dup2(os.open(path, os.O_RDWR | os.O_APPEND), number)
        os.chdir(request["directory"])
        os.environ.clear()
        os.environ.update(request["env"])
        posix.environ.clear()
        posix.environ.update({os.fsencode(key): os.fsencode(value) for key, value in request["env"].items()})
        if request["space"]:
            resource.setrlimit(resource.RLIMIT_AS, (request["space"] << 10,) * 2)
        bundle.load = lambda _: None  # its modules are loaded
        bundle.main(request["argv"])
        os._exit(0)
    except BaseException as error:
        os.write(2, repr(error).encode())
        os._exit(1)


load()
gc.freeze()  # a fork then copies less
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
for line in sys.stdin:
    request = json.loads(line)
    reap(os.WNOHANG if request else 0)
    child = os.fork() if request else None
    if child == 0:
        run(request)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else 0, flush=True)
