#!/usr/bin/env bash
# Codex: when one hook blocks a prompt, the prompt leaves no trace, but what another hook added to it stays in the
# conversation: it goes to the model with the next prompt, in front of it. A hook that counts its texts as lost with the
# prompt tells them twice. Runs a pinned Codex against a stand-in model on this machine; takes half a minute.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir/codex" "@openai/codex@0.171.0"
python3 - "$dir" <<'PY'
import json, os, shlex, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base = sys.argv[1]
client = f"{base}/codex/node_modules/.bin/codex"
asked = []


class Model(BaseHTTPRequestHandler):
    """Says that it is done."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        message = {"type": "message", "role": "assistant", "id": f"m{len(asked)}"}
        message["content"] = [{"type": "output_text", "text": "Done."}]
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        events = [{"type": "response.created", "response": {"id": "r"}}]
        events += [{"type": "response.output_item.done", "output_index": 0, "item": message}]
        events += [{"type": "response.completed", "response": {"id": "r", "usage": usage}}]
        data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
home, project = f"{base}/home", f"{base}/project"
os.makedirs(f"{home}/.codex")
os.makedirs(project)
with open(f"{home}/.codex/config.toml", "w") as file:
    file.write('model = "stand-in"\nmodel_provider = "loop"\n[model_providers.loop]\nname = "loop"\nwire_api = "responses"\n')
    file.write(f'env_key = "OPENAI_API_KEY"\nbase_url = "http://127.0.0.1:{server.server_address[1]}/v1"\n')
context = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "Looked up for your prompt."}}
adds = f"echo {shlex.quote(json.dumps(context))}"
block = {"decision": "block", "reason": "Not now."}
blocks = f"grep -q later && echo {shlex.quote(json.dumps(block))}; true"
hooks = [{"hooks": [{"type": "command", "command": command}]} for command in (adds, blocks)]
with open(f"{home}/.codex/hooks.json", "w") as file:
    json.dump({"hooks": {"UserPromptSubmit": hooks}}, file)
env = {"HOME": home, "PATH": os.environ["PATH"], "OPENAI_API_KEY": "x", "LANG": "C.UTF-8"}


def run(*words):
    command = [client, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *words]
    done = subprocess.run(command, cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout


print(subprocess.run([client, "--version"], env=env, capture_output=True, text=True, check=True).stdout.strip())
started = next(json.loads(line) for line in run("--json", "hello").splitlines() if "thread.started" in line)
before = len(asked)
run("resume", started["thread_id"], "do it later")
sent_blocked = len(asked) - before
run("resume", started["thread_id"], "what next?")
rows = [(item["role"], part["text"]) for item in asked[-1]["input"] if item.get("role") for part in item["content"]]
kept = [row for row in rows if row[1] in ("hello", "Looked up for your prompt.", "what next?") or row[1] == "do it later"]
for role, text in kept:
    print(f"  {role}: {text}")
print(f"requests for the blocked prompt: {sent_blocked}")
texts = [text for _, text in kept]
if sent_blocked or "do it later" in texts or texts.count("Looked up for your prompt.") != 3:
    sys.exit("This has changed.")
PY
