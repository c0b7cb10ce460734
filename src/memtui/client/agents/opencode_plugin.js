// memtui: one reviewed memory for every coding agent. `memtui setup hooks --agent opencode --remove` removes this file.
import { spawn } from "node:child_process"
const COMMANDS = {}
const personal = process.argv.slice(2).find((word) => !word.startsWith("-")) !== "run"
const silent = async (work) => { try { return await work() } catch { return {} } }
const time = () => (BigInt(Date.now()) * 0x1000n + 0xf00n).toString(16).slice(-12).padStart(12, "0") // parts are sent in this order
const partID = (number) => "prt_" + time() + number + crypto.randomUUID().replaceAll("-", "").slice(0, 13) // a key over all sessions
const BLOCK = /(<memtui-[\w-]+ [\w-]+="[^"]*")[^]*?<\/memtui-[\w-]+>\n?/g // and how it begins
const textOf = (outputs) => outputs.map((output) => output.additionalContext ?? "").join("\n").trim()
async function run(event, payload) { // what a hook gives within ten seconds; rejects if anything is wrong
  const child = spawn("/bin/sh", ["-c", COMMANDS[event]], { stdio: ["pipe", "pipe", "ignore"], detached: true })
  const timer = setTimeout(() => silent(() => process.kill(-child.pid, "SIGKILL")), 10_000)
  child.on("error", () => {}).stdin.on("error", () => {}).end(JSON.stringify({ hook_event_name: event, personal, ...payload }))
  const text = (await child.stdout.setEncoding("utf8").toArray()).join("")
  clearTimeout(timer)
  return JSON.parse(text || "{}").hookSpecificOutput ?? {}
}
export const Memtui = async ({ client, directory }) => {
  const sessions = new Map(), commands = new Map(), contexts = new Map(), texts = new Map() // ours, by message
  const look = async (id) => sessions.get(id) ?? sessions.set(id, { start: "", lost: [], parent: (await client.session.get({ path: { id } })).data.parentID }).get(id)
  const ask = (event, id, more, start) => silent(async () => { // for a subagent only about its tools, as its session's
    const session = await look(id), { parent, start: source } = session
    if (start !== undefined) session.start = start
    if ((parent && !more.tool_name) || (event === "SessionStart" && source === null)) return {} // it has begun
    return await run(event, { session_id: parent ?? id, agent_id: parent && id, cwd: directory, source, ...more })
  })
  const tool = (event, i, fields) => ask(event, i.sessionID, { tool_name: i.tool, tool_input: fields, tool_use_id: i.callID })
  const prompt = async (id, message, parts) => {
    const typed = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text)
    const prompt = commands.get(id) ?? typed.join("\n"), at = { transcript_size: sessions.get(id)?.end }
    const outputs = [await ask("SessionStart", id, at, null), await ask("UserPromptSubmit", id, { prompt, prompt_id: message.id, ...at })]
    const missed = sessions.get(id).lost.splice(0).join("\n") // of prompts that were undone, without what is told anew
    outputs.unshift({ additionalContext: missed.replace(BLOCK, (block, head) => textOf(outputs).includes(head) ? "" : block) })
    texts.set(message.id, textOf(outputs))
    if (commands.delete(id)) outputs.push({ additionalContext: "memtui", ignored: true, metadata: { memtui: { command: prompt } } })
    outputs.forEach(({ additionalContext: text, ignored, metadata }, n) => text &&
      parts.push({ id: partID(n), sessionID: id, messageID: message.id, type: "text", text, synthetic: true, ignored, metadata }))
  }
  return {
    event: ({ event: { type, properties: { sessionID, messageID, info } = {} } }) => silent(async () => {
      if (type === "session.idle") ask("Stop", sessionID, {})
      const session = /^message\.(updated|removed)$/.test(type) ? await look(sessionID ?? info.sessionID) : { lost: [] } // `end`: if known
      session.end = info ? Math.max(session.end ?? 0, info.time.created + 1) : void session.lost.push(texts.get(messageID) ?? "")
    }),
    "command.execute.before": async (input) => { commands.set(input.sessionID, `/${input.command} ${input.arguments}`) },
    "chat.message": (input, output) => silent(() => prompt(input.sessionID, output.message, output.parts)),
    "tool.execute.before": async (input, output) => {
      const begun = await ask("SessionStart", input.sessionID, { tool_use_id: input.callID }, null) // after a compaction
      const answer = await tool("PreToolUse", input, output.args), text = textOf([begun, answer])
      if (text) contexts.set(input.callID, "\n\n" + text)
      if (answer.permissionDecisionReason) throw new Error(answer.permissionDecisionReason)
    },
    "tool.execute.after": async (input, output) => {
      if (typeof output?.output === "string") output.output += contexts.get(input.callID) ?? ""
      if (/^(read|write|edit)$/.test(input.tool)) tool("PostToolUse", input, input.args)
    },
    "experimental.session.compacting": (input) => ask("PreCompact", input.sessionID, {}, "compact"),
    dispose: () => new Promise((done) => setTimeout(done, 50)), // until what was just asked has been sent
  }
}
