#!/usr/bin/env bash
# In a session that an editor holds (`copilot --acp`), Copilot CLI runs the sessionEnd hooks after every turn, with the reason
# "complete", though the session goes on under its id; sessionStart hooks run once. What a hook tidies up at a session's end is
# gone in the second turn. Runs a pinned version against a stand-in model on this machine.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" @github/copilot@1.0.102
python3 - "$dir" <<'PY'
import json, os, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base = sys.argv[1]


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        parts = [({"role": "assistant", "content": "Done."}, None), ({}, "stop")]
        rows = [{**head, "choices": [{"index": 0, "delta": part, "finish_reason": why}]} for part, why in parts]
        data = "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
home, seen = f"{base}/home", f"{base}/seen"
os.makedirs(f"{home}/.copilot/hooks")
command = f"(cat; echo) >> '{seen}'"
hooks = {event: [{"type": "command", "bash": command}] for event in ("SessionStart", "SessionEnd")}
with open(f"{home}/.copilot/hooks/hooks.json", "w") as file:
    json.dump({"version": 1, "hooks": hooks}, file)
env = {"HOME": home, "PATH": os.environ["PATH"], "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}
env |= {"COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1", "COPILOT_MODEL": "m"}
copilot = f"{base}/node_modules/.bin/copilot"
print(subprocess.run([copilot, "--version"], env=env, capture_output=True, text=True, check=True).stdout.split("\n")[0])
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
editor = subprocess.Popen([copilot, "--acp", "--allow-all-tools"], env=env, cwd=base, **pipes)
watch = threading.Timer(120, editor.kill)
watch.start()


def ask(number, method, **params):
    editor.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    editor.stdin.flush()
    return next(row["result"] for row in map(json.loads, editor.stdout) if row.get("id") == number and "result" in row)


ask(1, "initialize", protocolVersion=1, clientCapabilities={})
session = ask(2, "session/new", cwd=base, mcpServers=[])["sessionId"]
for number in (3, 4, 5):
    ask(number, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": f"Turn {number}"}])
    with open(seen) as file:
        rows = [json.loads(line) for line in file if line.strip()]
    events = [(row["hook_event_name"], row.get("reason")) for row in rows]
    print(f"after turn {number - 2}:", events.count(("SessionStart", None)), "starts,", events.count(("SessionEnd", "complete")), "ends")
    if {row["session_id"] for row in rows} != {session} or len(events) != number - 1:
        sys.exit("The behaviour has changed.")
editor.communicate(timeout=60)
watch.cancel()
PY
