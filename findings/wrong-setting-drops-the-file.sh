#!/usr/bin/env bash
# One value of a wrong type in a settings file makes Claude Code skip the whole file: its hooks don't run, and its deny
# rules don't deny. `claude -p` of 2.1.197 says nothing of it, that of 2.1.332 a line on its standard error; both end with
# 0. Runs two pinned clients against a stand-in model on this machine; takes half a minute.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0
for version in 2.1.197 2.1.332; do
  npm install --silent --no-audit --no-fund --prefix "$dir/$version" "@anthropic-ai/claude-code@$version"
  python3 - "$dir/$version" <<'PY' || status=1
import glob, json, os, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base = sys.argv[1]
client = next(path for path in glob.glob(f"{base}/node_modules/@anthropic-ai/claude-code-*/claude"))
print(subprocess.run([client, "--version"], capture_output=True, text=True, check=True).stdout.strip())


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # the client resets its connections at its end


class Model(BaseHTTPRequestHandler):
    """Asks to read a file at first, and ends the turn once it has the answer."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(b"{}", 404)

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        results = [block for message in body.get("messages", []) for block in message["content"]
                   if isinstance(block, dict) and block.get("type") == "tool_result"]
        read.extend(results)
        call = body.get("tools") and not results
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "Done."}
        if call:
            block = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps({"file_path": f"{project}/closed.txt"})}
        start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
        start["usage"] = {"input_tokens": 1, "output_tokens": 1}
        why = {"stop_reason": "tool_use" if call else "end_turn"}
        events = [{"type": "message_start", "message": start}]
        events += [{"type": "content_block_start", "index": 0, "content_block": block}]
        events += [{"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0}]
        events += [{"type": "message_delta", "delta": why, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]
        lines = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
        self.reply(lines.encode(), kind="text/event-stream")

    def reply(self, data, status=200, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


read = []
server = Quiet(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
home, project = f"{base}/home", f"{base}/project"
os.makedirs(f"{home}/.claude")
os.makedirs(project)
with open(f"{project}/closed.txt", "w") as file:
    file.write("what the rule closes\n")
env = {"HOME": home, "PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "sk-ant-stand-in-0000000000000000"}
env["ANTHROPIC_BASE_URL"] = f"http://127.0.0.1:{server.server_address[1]}"
names = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
env |= dict.fromkeys(names, "1")
seen = {}
for name, more in (("all values right", {}), ("cleanupPeriodDays: 0", {"cleanupPeriodDays": 0})):
    mark = f"{base}/ran"
    settings = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": f"touch {mark}"}]}]}}
    settings |= {"permissions": {"deny": ["Read(./closed.txt)"]}, **more}
    with open(f"{home}/.claude/settings.json", "w") as file:
        json.dump(settings, file)
    read.clear()
    done = subprocess.run([client, "-p", "hi"], cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120)
    ran, denied = os.path.exists(mark), "what the rule closes" not in json.dumps(read)
    seen[name] = ran, denied, done.returncode
    print(f"{name}: the hook {'ran' if ran else 'did not run'}, the file was {'closed' if denied else 'read'},"
          f" exit code {done.returncode}, standard error: {done.stderr.strip()[:90] or 'empty'}")
    if ran:
        os.unlink(mark)
if list(seen.values()) != [(True, True, 0), (False, False, 0)]:
    sys.exit("This has changed.")
PY
done
exit $status
