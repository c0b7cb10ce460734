#!/usr/bin/env bash
# When the agent edits one line of a memory's body, Claude Code writes the head of the file anew. Fields that it does not
# know move under `metadata`, as values of JavaScript: a version 1.10 becomes 1.1, a ticket 0417 becomes 417, an id of 19
# digits is rounded. Comments go. Runs two pinned clients against a stand-in model on this machine; takes half a minute.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0
for version in 2.1.197 2.1.332; do
  npm install --silent --no-audit --no-fund --prefix "$dir/$version" "@anthropic-ai/claude-code@$version"
  python3 - "$dir/$version" <<'PY' || status=1
import glob, json, os, re, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base = sys.argv[1]
client = next(path for path in glob.glob(f"{base}/node_modules/@anthropic-ai/claude-code-*/claude"))
print(subprocess.run([client, "--version"], capture_output=True, text=True, check=True).stdout.strip())


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # the client resets its connections at its end


class Model(BaseHTTPRequestHandler):
    """Asks to read the memory, then to edit a line of its body, and ends the turn."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(b"{}", 404)

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answers = sum(message["role"] == "assistant" for message in body.get("messages", []))
        call = calls[answers] if body.get("tools") and answers < len(calls) else None
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}
        if call:
            block = {"type": "tool_use", "id": f"toolu_{answers}", "name": call[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        start = {"id": f"msg_{answers}", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
        start["usage"] = {"input_tokens": 1, "output_tokens": 1}
        why = {"stop_reason": "tool_use" if call else "end_turn"}
        events = [{"type": "message_start", "message": start}]
        events += [{"type": "content_block_start", "index": 0, "content_block": block}]
        events += [{"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0}]
        events += [{"type": "message_delta", "delta": why, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]
        lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.reply(lines.encode(), kind="text/event-stream")

    def reply(self, data, status=200, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = Quiet(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
home, project = f"{base}/home", f"{base}/project"
memory = f"{home}/.claude/projects/{re.sub('[^a-zA-Z0-9]', '-', project)}/memory/release.md"
os.makedirs(os.path.dirname(memory))
os.makedirs(project)
edit = {"file_path": memory, "old_string": "Tag first.", "new_string": "Tag last."}
calls = [("Read", {"file_path": memory}), ("Edit", edit)]
before = """---
name: release
description: How we release
# the number that support gave us
ticket: 0417
version: 1.10
thread: 1184930275619273948
type: project
---

Tag first.
"""
with open(memory, "w") as file:
    file.write(before)
env = {"HOME": home, "PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "sk-ant-stand-in-0000000000000000"}
env["ANTHROPIC_BASE_URL"] = f"http://127.0.0.1:{server.server_address[1]}"
names = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
env |= dict.fromkeys(names, "1")
subprocess.run([client, "-p", "hi", "--permission-mode", "acceptEdits"], cwd=project, env=env, timeout=120, check=True,
               stdin=subprocess.DEVNULL, capture_output=True)
with open(memory) as file:
    after = file.read()
print(after)
wanted = ("Tag last.", "\n  version: 1.1\n", "\n  ticket: 417\n", "\n  thread: 1184930275619274000\n")
if not all(line in after for line in wanted) or "support gave us" in after:
    sys.exit("This has changed.")
PY
done
exit $status
