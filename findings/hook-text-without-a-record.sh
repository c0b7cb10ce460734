#!/usr/bin/env bash
# What a UserPromptSubmit hook of Qwen Code says can reach the model without a record: the hook runs once more after each
# tool, with an empty prompt, and its text goes to the model as a message of its own, which stands in no session file. So a
# session that is resumed goes on from another conversation than the one that the model had. Runs a pinned client against a
# stand-in model on this machine; takes about ten seconds.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" @qwen-code/qwen-code@0.24.4
python3 - "$dir" <<'PY'
import glob, json, os, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base = sys.argv[1]
home, project, log = f"{base}/home", f"{base}/project", f"{base}/prompts"
SHELL = {"command": "echo one", "description": "say it", "is_background": False}
asked = []


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        call = {"index": 0, "id": "call_1", "type": "function"}
        call["function"] = {"name": "run_shell_command", "arguments": json.dumps(SHELL)}
        delta, why = ({"tool_calls": [call]}, "tool_calls") if len(asked) == 1 else ({"content": "Done."}, "stop")
        chunks = [{"delta": {"role": "assistant", **delta}, "finish_reason": None}, {"delta": {}, "finish_reason": why}]
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        lines = [json.dumps({**head, "choices": [{"index": 0, **chunk}]}) for chunk in chunks]
        data = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.makedirs(f"{home}/.qwen")
os.makedirs(project)
hook = f"python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)[\"prompt\"]), file=open(\"{log}\", \"a\"))'"
hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": hook + "; echo A-TEXT-OF-THE-HOOK"}]}]}
with open(f"{home}/.qwen/settings.json", "w") as file:
    json.dump({"hooks": hooks, "memory": {"enableManagedAutoMemory": False}}, file)
env = {"HOME": home, "PATH": os.environ["PATH"], "OPENAI_API_KEY": "none", "OPENAI_MODEL": "m"}
env |= {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1", "QWEN_DEFAULT_AUTH_TYPE": "openai"}
run = [f"{base}/node_modules/.bin/qwen", "--yolo", "-p", "Run it once."]
subprocess.run(run, cwd=project, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=True)
prompts = [json.loads(line) for line in open(log)]
sent = json.dumps(asked[-1]["messages"]).count("A-TEXT-OF-THE-HOOK")
(path,) = glob.glob(f"{home}/.qwen/projects/*/chats/*.jsonl")
kept = sum("user-prompt-submit-context" in line for line in open(path))
print("prompts that the hook was given:", prompts)
print(f"its text is {sent} times in the last request, and in {kept} record of the session file")
if prompts != ["Run it once.", ""] or (sent, kept) != (2, 1):
    sys.exit("This has changed.")
PY
