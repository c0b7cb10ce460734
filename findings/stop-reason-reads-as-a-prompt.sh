#!/usr/bin/env bash
# Copilot CLI stores the reason of a hook that keeps the agent from stopping as a user.message like a person's: no field
# tells it from a prompt that a person typed while the agent was busy, and prompt hooks get it as a prompt. A prompt of a
# subagent, which nobody typed either, does name its source. Runs a pinned version against a stand-in model on this machine.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" @github/copilot@1.0.102
python3 - "$dir" <<'PY'
import glob, json, os, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base, REASON, TASK = sys.argv[1], "Always run the linter before you stop.", "Count the files."
task = {"description": "d", "prompt": TASK, "agent_type": "general-purpose", "name": "n", "mode": "sync"}
answers = [{"name": "task", "arguments": json.dumps(task)}]


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        delta, end = {"role": "assistant", "content": "Done."}, "stop"
        if answers:
            delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": answers.pop()}]}
            end = "tool_calls"
        head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        parts = [(delta, None), ({}, end)]
        rows = [{**head, "choices": [{"index": 0, "delta": part, "finish_reason": why}]} for part, why in parts]
        data = "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
home, seen = f"{base}/home", f"{base}/prompts"
os.makedirs(f"{home}/.copilot/hooks")
stop = f"""import json, sys
if not json.load(sys.stdin)["stop_hook_active"]:
    print(json.dumps({{"decision": "block", "reason": {REASON!r}}}))
"""
note = f"""import json, sys
with open({seen!r}, "a") as file:
    file.write(json.load(sys.stdin)["prompt"] + "\\n")
"""
hooks = {}
for event, script in (("Stop", stop), ("UserPromptSubmit", note)):
    with open(f"{base}/{event}.py", "w") as file:
        file.write(script)
    hooks[event] = [{"type": "command", "bash": f"python3 {base}/{event}.py"}]
with open(f"{home}/.copilot/hooks/hooks.json", "w") as file:
    json.dump({"version": 1, "hooks": hooks}, file)
env = {"HOME": home, "PATH": os.environ["PATH"], "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}
env |= {"COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1", "COPILOT_MODEL": "m"}
copilot = f"{base}/node_modules/.bin/copilot"
print(subprocess.run([copilot, "--version"], env=env, capture_output=True, text=True, check=True).stdout.split("\n")[0])
subprocess.run([copilot, "-p", "Hello", "--allow-all-tools"], env=env, cwd=base, check=True, capture_output=True, timeout=120)
(path,) = glob.glob(f"{home}/.copilot/session-state/*/events.jsonl")
messages = {}
for line in open(path):
    event = json.loads(line)
    if event["type"] == "user.message":
        messages[event["data"]["content"]] = event
reason, typed, asked = (messages[text] for text in (REASON, "Hello", TASK))
more = (reason["data"].keys() | reason.keys()) - (typed["data"].keys() | typed.keys())
print("what the hook's reason has that a typed prompt has not:", sorted(more) or "nothing")
print("delivery:", reason["data"]["delivery"], "· source of the subagent's prompt:", asked["data"].get("source", "")[:6])
got = open(seen).read().splitlines()
print("prompt hooks got:", got)
holds = not more and "source" not in reason["data"] and "source" in asked["data"] and REASON in got
sys.exit(0 if holds else "The behaviour has changed.")
PY
