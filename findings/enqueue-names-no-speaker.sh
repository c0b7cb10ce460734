#!/usr/bin/env bash
# What Claude Code writes when a text enters its queue does not say who wrote it: a prompt that the agent had a clock say
# (CronCreate) and a message that the person typed in mid-turn are the same record. Only the later record with the text
# tells them apart. Runs two pinned clients against a stand-in model on this machine; takes about three minutes.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0
for version in 2.1.197 2.1.332; do
  npm install --silent --no-audit --no-fund --prefix "$dir/$version" "@anthropic-ai/claude-code@$version"
  python3 - "$dir/$version" <<'PY' || status=1
import fcntl, glob, json, os, pty, re, select, signal, struct, subprocess, sys, termios, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base = sys.argv[1]
client = next(path for path in glob.glob(f"{base}/node_modules/@anthropic-ai/claude-code-*/claude"))
print(subprocess.run([client, "--version"], capture_output=True, text=True, check=True).stdout.strip())
CLOCK, PERSON = "Look at the build again, please.", "Use the other branch, please."
answers = [[{"type": "tool_use", "name": "CronCreate", "input": {"cron": "* * * * *", "prompt": CLOCK}}]]
asked = []


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # the client that is killed resets its connections


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(b"{}", 404)

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not body.get("stream") or not body.get("tools"):
            text = [{"type": "text", "text": '{"title": "A session"}'}]
            message = {"id": "msg_0", "type": "message", "role": "assistant", "model": "m", "content": text}
            message |= {"stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}
            if not body.get("stream"):
                return self.reply(json.dumps(message).encode())
            blocks = text
        else:
            asked.append(body)
            blocks = answers.pop(0) if answers else [{"type": "text", "text": "Done."}]
            if len(asked) == 2:
                time.sleep(4)  # the person types now
        start = {"id": f"msg_{len(asked)}", "type": "message", "role": "assistant", "model": "m", "content": []}
        start |= {"stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        events = [{"type": "message_start", "message": start}]
        for at, block in enumerate(blocks):
            is_call = block["type"] == "tool_use"
            empty = {**block, "id": f"toolu_{len(asked)}", "input": {}} if is_call else {"type": "text", "text": ""}
            given = {"type": "text_delta", "text": block.get("text")}
            if is_call:
                given = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [{"type": "content_block_start", "index": at, "content_block": empty}]
            events += [{"type": "content_block_delta", "index": at, "delta": given}]
            events += [{"type": "content_block_stop", "index": at}]
        why = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        events += [{"type": "message_delta", "delta": {"stop_reason": why}, "usage": {"output_tokens": 1}}]
        events += [{"type": "message_stop"}]
        lines = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
        self.reply(lines.encode(), kind="text/event-stream")

    def reply(self, data, status=200, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = Quiet(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
home, project, key = f"{base}/home", f"{base}/project", "sk-ant-stand-in-0000000000000000"
os.makedirs(f"{home}/.claude")
os.makedirs(project)
known = {"hasCompletedOnboarding": True, "lastOnboardingVersion": "2.1.197", "theme": "dark"}
known["customApiKeyResponses"] = {"approved": [key[-20:]], "rejected": []}
known["projects"] = {project: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}
with open(f"{home}/.claude.json", "w") as file:
    json.dump(known, file)
with open(f"{home}/.claude/settings.json", "w") as file:
    json.dump({"permissions": {"allow": ["CronCreate"]}}, file)
env = {"HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
env |= {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}", "ANTHROPIC_API_KEY": key}
names = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
env |= dict.fromkeys(names, "1")
pid, fd = pty.fork()
if pid == 0:
    os.chdir(project)
    os.execve(client, [client], env)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 150, 0, 0))
shown = b""


def pump(seconds, until=lambda: False):
    global shown
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        if select.select([fd], [], [], 0.1)[0]:
            shown += os.read(fd, 1 << 16)


def say(text):
    os.write(fd, text.encode())
    pump(0.5)
    os.write(fd, b"\r")


def records():
    paths = glob.glob(f"{home}/.claude/projects/*/*.jsonl")
    return [json.loads(line) for path in paths for line in open(path) if line.strip()]


def told(text):
    return [each for each in records() if each.get("type") in {"user", "attachment"} and text in json.dumps(each)]


pump(20, lambda: re.search(rb"for.{0,20}(shortcuts|agents)", shown))
say("Wait for the build.")
pump(15, lambda: len(asked) >= 2)
say(PERSON)
pump(20, lambda: told(PERSON))
pump(100, lambda: [each for each in told(CLOCK) if each.get("isMeta")])
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
queued = {}
for each in records():
    if each.get("operation") == "enqueue":
        queued[each["content"]] = {name: value for name, value in each.items() if name not in {"content", "timestamp", "sessionId"}}
sender = next(each for each in told(PERSON))
clock = next(each for each in told(CLOCK) if each.get("isMeta"))
sent = sender.get("attachment") or sender
print("queued by the clock: ", json.dumps(queued.get(CLOCK)))
print("queued by the person:", json.dumps(queued.get(PERSON)))
shape = ("isMeta", "promptSource", "turnOrigin", "rowSource", "wakeupSource", "origin")
print("then, of the clock:  ", json.dumps({name: clock[name] for name in shape if name in clock}))
print("then, of the person: ", json.dumps({name: sent[name] for name in shape if name in sent}))
same = queued.get(CLOCK) is not None and queued.get(CLOCK) == queued.get(PERSON)
if not same or clock.get("isMeta") is not True or (sent.get("origin") or {}).get("kind") != "human":
    sys.exit("This has changed.")
PY
done
exit $status
