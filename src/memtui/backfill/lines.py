"""Which lines of a transcript can hold a person's words, by their bytes: nine tenths of a long one are the output of
tools and what the client notes for itself, and parsing these takes most of the time."""

# Where the client writes a record's own fields, before the message.
HEAD = 400
_NOTED = (b'"type":"progress"', b'"type":"file-history-snapshot"')
_THOUGHT = b'"type":"thinking"'
_RESULT = b'"type":"tool_result"'
# In a record with the result of a tool: a refusal; what a person adds beside an approved call; the words by which the
# client tells of answers to questions.
_MATTERS = (b'"is_error":true', b'"type":"text"', b"answered", b"user responded: ")


def may_count(line: bytes) -> bool:
    """Tell whether a line may say anything to a `Conversation` that makes its drafts.

    A quote inside a JSON string has a backslash before it, so `"name":` can only be a field. A line of several records,
    as a killed client leaves it, is kept; so is one with blanks between names and values, which no client writes.
    """
    kind = max(0, line.find(b'"type":"', 0, HEAD))
    if line.startswith(_NOTED, kind) or line.find(b'"isSidechain":true', 0, HEAD) >= 0:
        return _several(line)
    # What the client notes of a result stands behind the message, and says the same again in other words.
    end = line.find(b'"toolUseResult":')
    if end < 0:
        thought = _THOUGHT in line and b'"type":"text"' not in line and b'"type":"tool_use"' not in line
        return not thought or _several(line)
    if line.find(_RESULT, 0, end) < 0:
        return True
    for each in _MATTERS:
        if line.find(each, 0, end) >= 0:
            return True
    return _several(line)


def of_hook(line: bytes) -> bool:
    """Tell whether a line may be what a hook gave the model."""
    return b'"hook_' in line and b'"attachment"' in line


def _several(line: bytes) -> bool:
    return line.count(b'"parentUuid":') > 1
