"""A session's transcript, written step by step as the client does."""

import json

from memtui.base import clock_hot

START = 1_790_000_000.0


class Talk:
    def __init__(self, session="s1", cwd="/repo", start=START):
        self.session, self.cwd, self.time, self.count = session, cwd, start, 0
        self.records = []

    def add(self, kind, content, **more):
        self.count += 1
        self.time += 1
        row = {"type": kind, "uuid": f"{self.session}-{self.count}", "sessionId": self.session, "cwd": self.cwd}
        row |= {"timestamp": clock_hot.iso(self.time), "message": {"role": kind, "content": content}, **more}
        self.records.append(row)
        return row

    def says(self, text, **more):
        self.add("user", text, **more)

    def replies(self, text, **more):
        self.add("assistant", [{"type": "text", "text": text}], **more)

    def calls(self, name, error=False, result=None, side=False, **fields):
        call = f"toolu_{self.session}_{self.count}"
        more = {"isSidechain": True} if side else {}
        self.add("assistant", [{"type": "tool_use", "id": call, "name": name, "input": fields}], **more)
        block = {"type": "tool_result", "tool_use_id": call, "content": "done", "is_error": error}
        self.add("user", [block], toolUseResult=result or {}, **more)

    def runs(self, command, **more):
        self.calls("Bash", command=command, **more)

    def writes(self, path, content="x\n", **more):
        self.calls("Write", file_path=f"{self.cwd}/{path}", content=content, **more)

    def data(self):
        return b"".join(json.dumps(record).encode() + b"\n" for record in self.records)
