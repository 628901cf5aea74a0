// A player for the Even/Odd league, with nothing but Node.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
const text = (value) => ({ type: "string", default: value });
const known = { port: text("8102"), manager: text("http://localhost:8000/mcp"), name: text("Node") };
const options = parseArgs({ options: known }).values;
const TOOLS = ["handle_game_invitation", "choose_parity", "notify_round", "notify_match_result", "notify_game_error",
  "update_standings", "notify_round_completed", "notify_league_completed", "shutdown"];
let me, plans = new Map(); // what the manager answered when we registered; what we decided for each match
const now = () => new Date().toISOString().replace(/\.\d+/, "");
const refuse = (code, message) => { throw Object.assign(new Error(message), { code }); };
const letter = (message_type, sender, conversation_id, more) =>
  ({ protocol: "league.v2", message_type, sender: `player:${sender}`, timestamp: now(), conversation_id, ...more });
function plan(match) {
  const parity_choice = Math.random() < 0.5 ? "even" : "odd"; // your strategy goes here
  if (!plans.has(match)) plans.set(match, { parity_choice, draw_nonce: randomBytes(16).toString("hex") });
  return plans.get(match);
}

function answer(tool, message) {
  if (!TOOLS.includes(tool)) refuse(-32601, `no such method: ${tool}`);
  if ((message?.protocol ?? "league.v2") !== "league.v2") refuse(-32602, "E018: this player speaks league.v2");
  if (!/(Z|\+00:00)$/.test(message?.timestamp ?? "Z")) refuse(-32602, "E021: send the time in UTC");
  const player_id = me?.player_id ?? message?.player_id ?? "P01", match_id = message?.match_id;
  const reply = (type, more) => letter(type, player_id, message?.conversation_id, { player_id, ...more });
  if (tool !== "handle_game_invitation" && tool !== "choose_parity") {
    if (me && (tool === "notify_league_completed" || tool === "shutdown")) setTimeout(() => process.exit(), 500);
    return reply(`${message?.message_type}_ACK`.replace("LEAGUE_STAND", "STAND"), { status: "ACKNOWLEDGED" });
  }
  if (typeof match_id !== "string") refuse(-32602, "E003: match_id is missing");
  const { parity_choice, draw_nonce } = plan(match_id), accept = message.game_type === "even_odd";
  if (tool === "choose_parity") return reply("CHOOSE_PARITY_RESPONSE", { match_id, parity_choice });
  return reply("GAME_JOIN_ACK", { match_id, accept, arrival_timestamp: now(), draw_nonce });
}

function result(method, params) { // a league message by its tool's name, or MCP
  if (method === "ping" || method.startsWith("notifications/")) return {};
  if (method === "tools/list") return { tools: TOOLS.map((name) => ({ name, inputSchema: { type: "object" } })) };
  const serverInfo = { name: options.name, version: "1.0.0" }, capabilities = { tools: {} };
  if (method === "initialize") return { protocolVersion: "2025-11-25", capabilities, serverInfo };
  if (method !== "tools/call") return answer(method, params);
  const said = answer(params?.name, params?.arguments);
  return { structuredContent: said, content: [{ type: "text", text: JSON.stringify(said) }] };
}

function respond(request) { // JSON-RPC; nobody waits for the answer to a request without an id
  if (Array.isArray(request) && request.length) return request.map(respond).filter(Boolean);
  const head = { jsonrpc: "2.0", id: request?.id ?? null };
  try {
    if (typeof request?.method !== "string") refuse(-32600, "no request");
    const said = { ...head, result: result(request.method, request.params) };
    return request.id === undefined ? undefined : said;
  } catch ({ code = -32603, message }) { return { ...head, error: { code, message } }; }
}

async function handle(request, response) {
  const reply = (status, said) =>
    response.writeHead(status, { "Content-Type": "application/json" }).end(said && JSON.stringify(said));
  if (request.method !== "POST") return reply(405);
  if (Number(request.headers["content-length"]) > 65536) return reply(413);
  let body = "";
  for await (const piece of request.setEncoding("utf8")) if ((body += piece).length > 65536) throw new Error("too long");
  try { body = JSON.parse(body); }
  catch { return reply(400, { jsonrpc: "2.0", id: null, error: { code: -32700, message: "not JSON" } }); }
  const said = respond(body);
  reply(said ? 200 : 202, said);
}

const server = createServer((request, response) => handle(request, response).catch(() => response.destroy()));
server.listen(Number(options.port), "127.0.0.1", async function register() { // again if the manager is not there yet
  const player_meta = { display_name: options.name, version: "1.0.0", game_types: ["even_odd"],
    contact_endpoint: `http://127.0.0.1:${server.address().port}/mcp` };
  const params = letter("LEAGUE_REGISTER_REQUEST", options.name, `register-${options.name}`, { player_meta });
  const body = JSON.stringify({ jsonrpc: "2.0", method: "register_player", params, id: 1 });
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  const said = await fetch(options.manager, request).then((reply) => reply.json(), () => setTimeout(register, 500));
  if (said.result?.status === "ACCEPTED") console.error((me = said.result).player_id, "is", options.name);
  else if (said.jsonrpc) throw new Error(JSON.stringify(said));
});
