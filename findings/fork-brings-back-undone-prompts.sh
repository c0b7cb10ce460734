#!/usr/bin/env bash
# A person takes a prompt back with /undo in OpenCode. What was undone is in no later request of that session, but its
# rows stay in the database until the next prompt. A fork made before that copies them without the mark that they are
# undone, and sends them to the model. Runs one pinned version against a stand-in model on this machine; takes half a minute.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" opencode-ai@1.18.33
python3 - "$dir" <<'PY'
import json, os, socket, subprocess, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base = sys.argv[1]
program = f"{base}/node_modules/.bin/opencode"
print("opencode", subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip())
requests = []


class Model(BaseHTTPRequestHandler):
    """Answers each request for a completion with one word, and keeps those of the conversation."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if body.get("tools"):
            requests.append(json.dumps(body["messages"]))
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        steps = ({"role": "assistant", "content": "Yes."}, None), ({}, "stop")
        chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in steps]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write("".join([*lines, "data: [DONE]\n\n"]).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
home, project = f"{base}/home", f"{base}/project"
settings = f"{home}/.config/opencode"
os.makedirs(settings)
os.makedirs(project)
options = {"baseURL": f"http://127.0.0.1:{server.server_address[1]}/v1", "apiKey": "none"}
models = {"m": {"name": "m", "limit": {"context": 100000, "output": 4000}}}
provider = {"npm": "@ai-sdk/openai-compatible", "name": "Loop", "options": options, "models": models}
with open(f"{settings}/opencode.json", "w") as file:
    json.dump({"model": "loop/m", "small_model": "loop/m", "share": "disabled", "provider": {"loop": provider}}, file)
env = {"HOME": home, "PATH": os.environ["PATH"], "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
process = subprocess.Popen([program, "serve", "--port", str(port)], cwd=project, env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ask(method, path, **body):
    data = json.dumps(body).encode() if method == "POST" else None
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read() or b"null")


def say(session, text):
    """Run a turn, and return the id of its prompt and the request that the model got."""
    message = ask("POST", f"/session/{session}/message", parts=[{"type": "text", "text": text}])
    return message["info"]["parentID"], requests[-1]


try:
    for _ in range(300):
        try:
            session = ask("POST", "/session")["id"]
            break
        except OSError:
            time.sleep(0.2)
    say(session, "the first prompt")
    undone, _ = say(session, "the undone prompt")
    ask("POST", f"/session/{session}/revert", messageID=undone)
    fork = ask("POST", f"/session/{session}/fork")["id"]
    sent = {"session": say(session, "go on")[1], "fork": say(fork, "go on")[1]}
finally:
    process.terminate()
    process.wait(timeout=30)
found = {name: "the undone prompt" in text for name, text in sent.items()}
print("the undone prompt is sent to the model:", found)
if found != {"session": False, "fork": True}:
    sys.exit("This has changed.")
PY
