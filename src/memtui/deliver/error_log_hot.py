"""The error log, `log/errors.jsonl`: what went wrong in hooks, workers, commands and screens, a JSON object a line."""

import posix

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot

VERSION = 1
LIMIT_BYTES = 1 << 20
MESSAGE_LIMIT, TRACE_LIMIT = 500, 16
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def add(root: str, where: str, error: BaseException) -> bool:
    """Log an error with its place, without secrets; False if it can't be logged. Never raises."""
    if paths_hot.strangers(root):
        return False
    path = root + "/log/errors.jsonl"
    trace = error.__traceback__
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename[code.co_filename.rfind('/') + 1 :]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    message = _without_secrets(str(error)[: 8 * MESSAGE_LIMIT])[:MESSAGE_LIMIT]
    record: dict[str, object] = {"v": VERSION, "time": clock_hot.iso(clock_hot.now()), "where": where}
    record |= {"error": type(error).__name__, "message": message, "trace": places[-TRACE_LIMIT:]}
    try:
        try:
            if posix.stat(path).st_size > LIMIT_BYTES:
                posix.rename(path, path + ".1")
        except FileNotFoundError:
            pass
        fs_hot.append(path, fastjson_hot.dumps(record).encode() + b"\n")
    except OSError:
        return False
    return True


def _without_secrets(message: str) -> str:
    if not message:
        return ""
    try:
        from memtui.redact import redact  # a hook without an error does without

        return redact.redact(message)[0]
    except Exception:
        return "[left out]"


def newest_first(root: str) -> "Iterator[dict[str, object]]":
    """Yield the errors logged, newest first; none if the log can't be read."""
    from memtui.base import reverse_lines_hot

    try:
        for _, line in reverse_lines_hot.lines(root + "/log/errors.jsonl"):
            row = fastjson_hot.loads_dict(line)
            if row:
                yield row
    except OSError:
        return
