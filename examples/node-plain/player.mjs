// A player for the Even/Odd league, with nothing but Node.
// Your strategy goes into `choose`. Everything else speaks the protocol.
import { createHash, createHmac, randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const TOOLS = [
  "handle_game_invitation",
  "choose_parity",
  "notify_round",
  "notify_match_result",
  "notify_game_error",
  "update_standings",
  "notify_round_completed",
  "notify_league_completed",
  "shutdown",
];
const MAX_BODY = 64 * 1024;
const RETRY_MS = 500;
const HELP = `A player for the Even/Odd league.
  --manager URL     where the manager listens (http://localhost:8000/mcp)
  --name NAME       the name that tables show (Node)
  --host ADDRESS    the address to listen at; 0.0.0.0 for every address of this machine (127.0.0.1)
  --port PORT       the port to listen at; 0 takes a free one (8102)
  --advertise URL   where others reach us; found out when left out
  --join-key KEY    the league's join key, where players need one`;

const plans = new Map(); // match_id: what we decided for it
const losses = new Map(); // matches lost without a game, and why
let me; // what the manager answered when we registered: player_id, auth_token, league_id

/** Your strategy: "even" or "odd". */
function choose(match_id) {
  return Math.random() < 0.5 ? "even" : "odd";
}

/** Our choice for a match, and our part of its random number. A referee that asks twice gets the same answer twice. */
function plan(match_id) {
  if (!plans.has(match_id)) {
    plans.set(match_id, { parity_choice: choose(match_id), draw_nonce: randomBytes(16).toString("hex") });
  }
  return plans.get(match_id);
}

// --- The league's messages ---

/** A request that we do not answer: a JSON-RPC error. */
class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const now = () => new Date().toISOString().replace(/\.\d+/, "");

function envelope(message_type, sender, conversation_id, fields) {
  return { protocol: "league.v2", message_type, sender: `player:${sender}`, timestamp: now(), conversation_id, ...fields };
}

/** The answer to one message of the league. */
function answer(tool, message) {
  if (!TOOLS.includes(tool)) throw new Refused(-32601, `no such method: ${tool}`);
  if ((message?.protocol ?? "league.v2") !== "league.v2") throw new Refused(-32602, "E018: this player speaks league.v2");
  if (!/(Z|\+00:00)$/.test(message?.timestamp ?? "Z")) throw new Refused(-32602, "E021: send the time in UTC");
  const player_id = me?.player_id ?? message?.player_id ?? "P01";
  const reply = (type, fields) => envelope(type, player_id, message?.conversation_id, { player_id, ...fields });
  if (tool !== "handle_game_invitation" && tool !== "choose_parity") return notice(tool, message, reply);
  const match_id = message?.match_id;
  if (typeof match_id !== "string") throw new Refused(-32602, "E003: match_id is missing");
  const { parity_choice, draw_nonce } = plan(match_id);
  if (tool === "choose_parity") return reply("CHOOSE_PARITY_RESPONSE", { match_id, parity_choice, ...matchPass(match_id) });
  const accept = message.game_type === "even_odd";
  return reply("GAME_JOIN_ACK", { match_id, accept, arrival_timestamp: now(), draw_nonce, ...matchPass(match_id) });
}

/** Prints what went wrong and how to mend it, and in the end how we did. */
function news(tool, message) {
  const { match_id, hint } = message;
  if (tool === "notify_game_error") say(`${match_id}: ${hint ?? message.error_description}`);
  if (tool === "notify_match_result" && !losses.has(match_id) && (hint || message.result === "TECHNICAL_LOSS")) {
    losses.set(match_id, hint ?? message.game_result?.reason ?? "the referee gives no reason");
    say(`${match_id}: a technical loss. ${losses.get(match_id)}`);
  }
  if (tool === "notify_league_completed") {
    const rows = message.final_standings ?? [];
    const mine = rows.find((row) => row.player_id === me.player_id) ?? {};
    const players = message.total_players ?? rows.length;
    const reasons = [...losses].map(([match, why]) => `; ${match}, ${why.split(";")[0]}`).join("");
    const place = `place ${mine.rank} of ${players} with ${mine.points} points`;
    say(`${me.player_id} finished at ${place}; technical losses: ${losses.size}${reasons}`);
  }
}

/** A line for people. A referee of other make may send anything. */
function say(line) {
  console.error(String(line).replace(/\p{C}/gu, " ").slice(0, 500));
}

/** What proves to the referee that we are the player the manager registered; the token itself stays with us. */
function matchPass(match_id) {
  if (!me?.auth_token || !me?.league_id) return {};
  const proof = createHmac("sha256", createHash("sha256").update(me.auth_token).digest());
  for (const field of ["player", me.league_id, match_id]) {
    const bytes = Buffer.from(field);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    proof.update(length).update(bytes);
  }
  return { auth_token: `pass-${proof.digest("base64url")}` };
}

/** The league tells us something and wants an acknowledgement. */
function notice(tool, message, reply) {
  const over = tool === "notify_league_completed" || tool === "shutdown";
  if (me) news(tool, message ?? {});
  if (me && over) setTimeout(() => process.exit(), 500); // once this is answered
  const acknowledgement = `${message?.message_type}_ACK`.replace("LEAGUE_STANDINGS", "STANDINGS");
  return reply(acknowledgement, { status: "ACKNOWLEDGED" });
}

// --- JSON-RPC and MCP over HTTP ---

/** The result of a call: a league message under its tool's name, or one of MCP's own methods. */
function result(method, params) {
  if (method === "ping" || method.startsWith("notifications/")) return {};
  if (method === "tools/list") return { tools: TOOLS.map((name) => ({ name, inputSchema: { type: "object" } })) };
  if (method === "initialize") {
    const serverInfo = { name: "node-plain-player", version: "1.0.0" };
    return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  }
  if (method !== "tools/call") return answer(method, params);
  const said = answer(params?.name, params?.arguments);
  return { structuredContent: said, content: [{ type: "text", text: JSON.stringify(said) }] };
}

/** The response to a JSON-RPC request or batch; nothing for notifications, which get no response. */
function respond(request) {
  if (Array.isArray(request) && request.length) return request.map(respond).filter(Boolean);
  const head = { jsonrpc: "2.0", id: request?.id ?? null };
  try {
    if (typeof request?.method !== "string") throw new Refused(-32600, "this is no JSON-RPC request");
    const response = { ...head, result: result(request.method, request.params) };
    return request.id === undefined ? undefined : response;
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    const code = error instanceof Refused ? error.code : -32603;
    return { ...head, error: { code, message: error.message } };
  }
}

async function handle(request, response) {
  const reply = (status, body) =>
    response.writeHead(status, { "Content-Type": "application/json" }).end(body && JSON.stringify(body));
  if (request.method !== "POST") return reply(405);
  if (Number(request.headers["content-length"]) > MAX_BODY) return reply(413);
  let body = "";
  for await (const piece of request.setEncoding("utf8")) {
    body += piece;
    if (body.length > MAX_BODY) return response.destroy();
  }
  let parsed;
  try {
    parsed = JSON.parse(body);
  } catch {
    return reply(400, { jsonrpc: "2.0", id: null, error: { code: -32700, message: "this is no JSON" } });
  }
  const said = respond(parsed);
  reply(said ? 200 : 202, said);
}

// --- Where we listen, and how others reach us ---

/** Ends the program with a sentence for its user. */
function fail(message) {
  console.error(message);
  process.exit(1);
}

async function listen({ host, port }) {
  const server = createServer((request, response) => handle(request, response).catch(() => response.destroy()));
  server.on("error", (error) => {
    fail(`cannot listen at ${host} port ${port}: ${error.message}. Choose another port with --port, or stop what uses it.`);
  });
  server.listen(Number(port), host);
  await once(server, "listening");
  return server.address().port;
}

/** The address from which this machine reaches `host`; connecting a UDP socket sends nothing. */
async function reachedFrom(host, family) {
  const target = await lookup(host.replace(/^\[|\]$/g, ""), { family });
  const probe = createSocket(target.family === 6 ? "udp6" : "udp4");
  try {
    probe.connect(9, target.address);
    await once(probe, "connect");
    return probe.address().address;
  } finally {
    probe.close();
  }
}

/** The address at which others reach this machine, where we listen at all of its addresses. */
async function ownAddress({ host, manager }) {
  if (host !== "0.0.0.0" && host !== "::") return host;
  const family = host === "0.0.0.0" ? 4 : 0;
  const found = await reachedFrom(new URL(manager).hostname, family).catch(() => undefined);
  if (found && !found.startsWith("127.") && found !== "::1") return found;
  const others = Object.values(networkInterfaces()).flat().filter((one) => !one.internal && one.family === "IPv4");
  return others[0]?.address ?? "127.0.0.1"; // the manager is on this machine, or cannot be found
}

/** Listens, and returns the URL that we register. */
async function endpoint(options) {
  const port = await listen(options);
  if (options.advertise) return options.advertise;
  const host = await ownAddress(options);
  return host.includes(":") ? `http://[${host}]:${port}/mcp` : `http://${host}:${port}/mcp`;
}

// --- Registration ---

/** Registers, as soon as the manager is there. Ends the program when the manager refuses us. */
async function register(options, contact_endpoint) {
  const player_meta = { display_name: options.name, version: "1.0.0", game_types: ["even_odd"], contact_endpoint };
  const fields = options["join-key"] ? { player_meta, join_key: options["join-key"] } : { player_meta };
  const params = envelope("LEAGUE_REGISTER_REQUEST", options.name, `register-${options.name}`, fields);
  const body = JSON.stringify({ jsonrpc: "2.0", method: "register_player", params, id: 1 });
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  for (let tries = 0; ; tries++) {
    let reply, text;
    try {
      reply = await fetch(options.manager, request);
      text = await reply.text();
    } catch (error) {
      const why = error.cause?.message || error.cause?.code || error.message;
      if (tries === 0) console.error(`waiting for the manager at ${options.manager} (${why})`);
      await sleep(RETRY_MS);
      continue;
    }
    if (reply.status === 429 || reply.status === 503) { // too many at once: the manager says when to come back
      await sleep(1000 * Number(reply.headers.get("retry-after")) || RETRY_MS);
      continue;
    }
    const said = registered(text);
    if (typeof said === "string") fail(`the manager at ${options.manager} refused us: ${said}`);
    return said;
  }
}

/** What the manager answered, if it accepted us; else why it did not, as text. */
function registered(text) {
  let response;
  try {
    response = JSON.parse(text);
  } catch {
    return "its answer is no JSON; is this the address of a manager?";
  }
  const { result: said, error } = response;
  if (said?.status === "ACCEPTED") return said;
  return String(said?.reason ?? error?.message ?? error ?? "it does not say why");
}

/** A URL as people type it: `localhost:8000` is http://localhost:8000/mcp. */
function url(text) {
  const whole = text.includes("://") ? text : `http://${text}`;
  try {
    return new URL(whole).pathname === "/" ? whole.replace(/\/$/, "") + "/mcp" : whole;
  } catch {
    return fail(`${text} is no URL; write it like http://192.168.1.10:8000/mcp`);
  }
}

function options() {
  const text = (value) => ({ type: "string", default: value });
  const known = {
    manager: text("http://localhost:8000/mcp"),
    name: text("Node"),
    host: text("127.0.0.1"),
    port: text("8102"),
    advertise: { type: "string" },
    "join-key": { type: "string" },
    help: { type: "boolean" },
  };
  try {
    const { help, advertise, manager, ...others } = parseArgs({ options: known }).values;
    if (help) process.exit(console.log(HELP) ?? 0);
    return { ...others, manager: url(manager), advertise: advertise && url(advertise) };
  } catch (error) {
    return fail(`${error.message}\n${HELP}`);
  }
}

const given = options();
const contact_endpoint = await endpoint(given);
me = await register(given, contact_endpoint);
console.error(`${me.player_id} is ${given.name} at ${contact_endpoint}`);
