"""JSON for the hook path: the interpreter's own C scanner and encoder without the cost of importing `json`.

`import json` more than doubles the start of a bare interpreter (it pulls in `re`). The C accelerators behind it are
importable alone; where they are missing or reject the input, the `json` module decides, so that the answer is always
the one `json` would give. A property test holds both to that."""

from memtui.base import native_hot

WHITESPACE = " \t\n\r"


class _Context:
    """The attributes that the C scanner reads from a decoder; of Python 3.15 on also `array_hook`."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


try:
    _json = native_hot.load("_json")
    encode_basestring_ascii, make_encoder = _json.encode_basestring_ascii, _json.make_encoder
    _scan = _json.make_scanner(_Context)
    ACCELERATED = True
except (ImportError, AttributeError):  # an interpreter without the accelerator, or whose scanner asks for more
    ACCELERATED = False
    _scan = lambda _text, _at: (None, -1)


def loads(data: "bytes | str") -> "object":
    """Parse one JSON document, UTF-8 or UTF-16 behind its mark, as the client does. Raises ValueError."""
    if isinstance(data, bytes):
        codec = "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8"
        text = data.decode(codec, "replace")
    else:
        text = data
    stripped = text.removeprefix("\ufeff").strip(WHITESPACE)
    try:
        value, end = _scan(stripped, 0)
        if end == len(stripped):
            return value
    except (StopIteration, SystemError, ImportError, ValueError):
        pass  # The scanner raises StopIteration, or fails to import its own error class: let json word the error.
    import json

    return json.loads(stripped)


def loads_dict(data: "bytes | str") -> "dict[str, object]":
    """Parse as `loads` does, but return an empty dict for anything that is not an object, or not JSON at all."""
    try:
        value = loads(data) if data else None  # json would word the error, which takes longer than a hook
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _default(value: "object") -> "object":
    raise TypeError(f"not JSON: {type(value).__name__}")


def dumps(value: "object") -> str:
    """Serialize on one line, ASCII only, `", "` and `": "` separators: the same text as `json.dumps(value)`."""
    if not ACCELERATED:
        import json

        return json.dumps(value)
    if isinstance(value, str):
        return str(encode_basestring_ascii(value))
    encoder = make_encoder({}, _default, encode_basestring_ascii, None, ": ", ", ", False, False, True)
    return "".join(encoder(value, 0))


def number(values: "dict[str, object]", key: str) -> int:
    """Return the whole number under a key of an object; 0 if there is none."""
    value = values.get(key)
    return value if isinstance(value, int) else 0


def text(values: "dict[str, object]", key: str) -> str:
    """Return the text under a key of an object; empty if there is none."""
    value = values.get(key)
    return value if isinstance(value, str) else ""


def rows(values: "dict[str, object]", key: str) -> "list[object]":
    """Return the list under a key of an object; an empty one if there is none."""
    value = values.get(key)
    return value if isinstance(value, list) else []


def table(values: "dict[str, object]", key: str) -> "dict[str, object]":
    """Return the object under a key of another; `{}` if there is none."""
    value = values.get(key)
    return value if isinstance(value, dict) else {}
