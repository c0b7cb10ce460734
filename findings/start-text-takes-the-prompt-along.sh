#!/usr/bin/env bash
# What a SessionStart hook of Gemini CLI says in a run without a terminal stands in front of the person's prompt, in one text.
# A resume leaves out texts that begin so: the person's prompt is gone with it, while the model's answer to it stays. Runs a
# pinned client against a stand-in model on this machine; takes about ten seconds.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" @google/gemini-cli@0.61.0
python3 - "$dir" <<'PY'
import json, os, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base = sys.argv[1]
asked = []


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if ":streamGenerateContent" in self.path:
            asked.append(json.dumps(body["contents"]))
        content = {"role": "model", "parts": [{"text": f"Answer {len(asked)}."}]}
        answer = {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}]}
        data = f"data: {json.dumps(answer)}\n\n".encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def run(home, *args):
    env = {"HOME": home, "PATH": os.environ["PATH"], "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    env["GOOGLE_GEMINI_BASE_URL"] = f"http://127.0.0.1:{server.server_address[1]}"
    command = [f"{base}/node_modules/.bin/gemini", "-m", "gemini-2.5-flash", *args]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, cwd=f"{base}/project", env=env, timeout=120, check=True, **quiet)


def resumed(name, hooks):
    """Whether the last request of a resumed session has its first prompt, and the answer to that."""
    home = f"{base}/{name}"
    os.makedirs(f"{home}/.gemini")
    with open(f"{home}/.gemini/settings.json", "w") as file:
        json.dump({"security": {"auth": {"selectedType": "gemini-api-key"}}, "hooks": hooks}, file)
    asked.clear()
    run(home, "-p", "FIRST-PROMPT")
    run(home, "--resume", "latest", "-p", "SECOND-PROMPT")
    return "FIRST-PROMPT" in asked[-1], "Answer 1." in asked[-1]


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.makedirs(f"{base}/project")
said = json.dumps({"hookSpecificOutput": {"additionalContext": "A text of the hook."}})
hook = {"type": "command", "command": f"echo '{said}'"}
without, with_text = resumed("without", {}), resumed("with", {"SessionStart": [{"hooks": [hook]}]})
print("without a hook the resumed request has the first prompt and its answer:", without)
print("with a hook that says something at the start:", with_text)
if (without, with_text) != ((True, True), (False, True)):
    sys.exit("This has changed.")
PY
