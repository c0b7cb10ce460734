"""Which lines of a transcript can hold a person's words, by their bytes: nine tenths of a long one are the output of
tools and what the client notes for itself, and parsing these takes most of the time."""

# Where the client writes a record's own fields, before the message.
HEAD = 400


def may_count(line: bytes) -> bool:
    """Tell whether a line may say anything to a `Conversation` that makes its drafts.

    A quote inside a JSON string has a backslash before it, so `"name":` can only be a field. A line of several records,
    as a killed client leaves it, is kept.
    """
    head = line[:HEAD]
    if b'"isSidechain":true' in head or b'"type":"progress"' in head or b'"type":"file-history-snapshot"' in head:
        return _several(line)
    if b'"toolUseResult":' not in line or b'"tool_result"' not in line:
        return True
    if b'"is_error":true' in line or b'"is_error": true' in line:
        return True
    # What a person adds when they approve a tool is a block beside its result.
    if b'"type":"text"' in line or b'"type": "text"' in line:
        return True
    # The answers to questions are a tool's output as well; its text begins with one of these.
    if b'"answers":' in line or b"answered" in line or b"user responded: " in line:
        return True
    return _several(line)


def of_hook(line: bytes) -> bool:
    """Tell whether a line may be what a hook gave the model."""
    return b'"hook_' in line and b'"attachment"' in line


def _several(line: bytes) -> bool:
    return line.count(b'"parentUuid":') > 1
