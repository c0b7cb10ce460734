// memtui: one reviewed memory for every coding agent. `memtui setup hooks --agent opencode --remove` removes this file.
import { spawn } from "node:child_process"
const COMMANDS = {}
const personal = process.argv.slice(2).find((word) => !word.startsWith("-")) !== "run"
const silent = async (work) => { try { return await work() } catch { return {} } }
// Parts are sent in the order of their ids, which are keys over all sessions: ours are new, and behind the person's.
const time = () => ((BigInt(Date.now()) * 0x1000n + 0xf00n) & 0xffffffffffffn).toString(16).padStart(12, "0")
const partID = (number) => "prt_" + time() + number + crypto.randomUUID().replaceAll("-", "").slice(0, 13)
// What a hook gives within ten seconds. Rejects if anything is wrong.
async function run(event, payload) {
  const child = spawn("/bin/sh", ["-c", COMMANDS[event]], { stdio: ["pipe", "pipe", "ignore"], detached: true })
  const timer = setTimeout(() => silent(() => process.kill(-child.pid, "SIGKILL")), 10_000)
  let text = ""
  for (const source of [child, child.stdin]) source.on("error", () => {})
  child.stdin.end(JSON.stringify({ hook_event_name: event, personal, ...payload }))
  for await (const piece of child.stdout) text += piece
  clearTimeout(timer)
  return JSON.parse(text || "{}").hookSpecificOutput ?? {}
}
export const Memtui = async ({ client, directory }) => {
  const sessions = new Map(), commands = new Map(), contexts = new Map(), messages = new Set() // those with texts of ours
  const look = async (id) => sessions.get(id) ?? sessions.set(id, { start: "", parent: (await client.session.get({ path: { id } })).data.parentID }).get(id)
  const ask = (event, id, more, start) => silent(async () => { // for a subagent only about its tools, as its session's
    const session = await look(id), { parent } = session
    if (start !== undefined) session.start = start
    if (parent && !more.tool_name) return {}
    return await run(event, { session_id: parent ?? id, agent_id: parent && id, cwd: directory, ...more })
  })
  const tool = (event, i, fields) => ask(event, i.sessionID, { tool_name: i.tool, tool_input: fields, tool_use_id: i.callID })
  const prompt = async (id, message, parts) => {
    const typed = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text)
    const { start } = await look(id), command = commands.get(id), prompt = command ?? typed.join("\n")
    const at = { transcript_size: message.time?.created } // spares the hook a look into the database
    const given = [start === null ? {} : await ask("SessionStart", id, { source: start, ...at }, null)]
    given.push(await ask("UserPromptSubmit", id, { prompt, prompt_id: message.id, ...at }))
    if (commands.delete(id)) given.push({ additionalContext: "memtui", ignored: true, metadata: { memtui: { command } } })
    given.forEach(({ additionalContext: text, ignored, metadata }, n) => text && messages.add(message.id) &&
      parts.push({ id: partID(n), sessionID: id, messageID: message.id, type: "text", text, synthetic: true, ignored, metadata }))
  }
  return {
    event: ({ event: { type, properties } }) => silent(async () => {
      if (type === "session.idle") ask("Stop", properties.sessionID, {})
      if (type !== "message.removed" || !messages.has(properties.messageID)) return
      (await look(properties.sessionID)).start = "compact" // what stood in it is told again
    }),
    "command.execute.before": async (input) => { commands.set(input.sessionID, `/${input.command} ${input.arguments}`) },
    "chat.message": (input, output) => silent(() => prompt(input.sessionID, output.message, output.parts)),
    "tool.execute.before": async (input, output) => {
      const { additionalContext: text, permissionDecisionReason: why } = await tool("PreToolUse", input, output.args)
      if (text) contexts.set(input.callID, "\n\n" + text)
      if (why) throw new Error(why)
    },
    "tool.execute.after": async (input, output) => {
      if (typeof output?.output === "string") output.output += contexts.get(input.callID) ?? ""
      if (/^(read|write|edit)$/.test(input.tool)) tool("PostToolUse", input, input.args)
    },
    "experimental.session.compacting": (input) => ask("PreCompact", input.sessionID, {}, "compact"),
    dispose: () => new Promise((done) => setTimeout(done, 50)), // until what was just asked has been sent
  }
}
