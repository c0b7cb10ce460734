#!/usr/bin/env bash
# Of the prompt hooks of Copilot CLI that give `additionalContext`, only the one that ran last reaches the model: the texts
# before it are dropped without a word, in the request and in the session's file. Texts of tool hooks are joined instead.
# Runs a pinned version against a stand-in model on this machine.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" @github/copilot@1.0.102
python3 - "$dir" <<'PY'
import glob, json, os, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base = sys.argv[1]
requests = []
answers = [{"name": "bash", "arguments": json.dumps({"command": "true", "description": "d"})}]


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        requests.append(self.rfile.read(int(self.headers["content-length"])).decode())
        delta, end = {"role": "assistant", "content": "Done."}, "stop"
        if answers:
            delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": answers.pop()}]}
            end = "tool_calls"
        head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        rows = [{**head, "choices": [{"index": 0, "delta": part, "finish_reason": why}]} for part, why in ((delta, None), ({}, end))]
        data = "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
home, hooks = f"{base}/home", {}
os.makedirs(f"{home}/.copilot/hooks")
for event, word in (("userPromptSubmitted", "prompt"), ("postToolUse", "tool")):
    texts = [json.dumps({"additionalContext": f"The {number} {word} hook says so."}) for number in ("first", "second")]
    hooks[event] = [{"type": "command", "bash": f"echo '{text}'"} for text in texts]
with open(f"{home}/.copilot/hooks/hooks.json", "w") as file:
    json.dump({"version": 1, "hooks": hooks}, file)
env = {"HOME": home, "PATH": os.environ["PATH"], "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}
env |= {"COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1", "COPILOT_MODEL": "m"}
copilot = f"{base}/node_modules/.bin/copilot"
print(subprocess.run([copilot, "--version"], env=env, capture_output=True, text=True, check=True).stdout.split("\n")[0])
subprocess.run([copilot, "-p", "Hello", "--allow-all-tools"], env=env, cwd=base, check=True, capture_output=True, timeout=120)
(path,) = glob.glob(f"{home}/.copilot/session-state/*/events.jsonl")
events = [json.loads(line) for line in open(path)]
(sent,) = [event["data"]["transformedContent"] for event in events if event["type"] == "user.message"]
seen = {word: [number for number in ("first", "second") if f"The {number} {word} hook" in requests[-1]] for word in ("prompt", "tool")}
print("prompt hooks that the model heard:", seen["prompt"], "· tool hooks:", seen["tool"])
holds = seen == {"prompt": ["second"], "tool": ["first", "second"]} and "first prompt" not in sent
sys.exit(0 if holds else "The behaviour has changed.")
PY
