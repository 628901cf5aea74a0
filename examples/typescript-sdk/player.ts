// A player for the Even/Odd league, as an MCP server made with the official TypeScript SDK.
// Your strategy goes into `choose`. Everything else speaks the protocol.
import { createHash, createHmac, randomBytes, randomUUID } from "node:crypto";
import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod";

type Message = Record<string, any>;
type Reply = (type: string, fields: Message) => Message;
type Plan = { parity_choice: "even" | "odd"; draw_nonce: string };

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
const HELP = `A player for the Even/Odd league, made with the official MCP SDK.
  --manager URL     where the manager listens (http://localhost:8000/mcp)
  --name NAME       the name that tables show (Type)
  --host ADDRESS    the address to listen at; 0.0.0.0 for every address of this machine (127.0.0.1)
  --port PORT       the port to listen at; 0 takes a free one (8104)
  --advertise URL   where others reach us; found out when left out
  --join-key KEY    the league's join key, where players need one
  --stateless       serve without MCP sessions`;

const given = options();
const plans = new Map<string, Plan>(); // match_id: what we decided for it
const sessions = new Map<string, StreamableHTTPServerTransport>();
const losses = new Map<string, string>(); // matches lost without a game, and why
let me: Message | undefined; // what the manager answered when we registered: player_id, auth_token, league_id

/** Your strategy: "even" or "odd". */
function choose(match_id: string): "even" | "odd" {
  return Math.random() < 0.5 ? "even" : "odd";
}

/** Our choice for a match, and our part of its random number. A referee that asks twice gets the same answer twice. */
function plan(match_id: string): Plan {
  const known = plans.get(match_id);
  if (known) return known;
  const made: Plan = { parity_choice: choose(match_id), draw_nonce: randomBytes(16).toString("hex") };
  plans.set(match_id, made);
  return made;
}

// --- The league's messages ---

const now = () => new Date().toISOString().replace(/\.\d+/, "");

function envelope(message_type: string, sender: string, conversation_id: string, fields: Message): Message {
  return { protocol: "league.v2", message_type, sender: `player:${sender}`, timestamp: now(), conversation_id, ...fields };
}

/** The answer to one message of the league. The SDK turns what is thrown into an error that the caller can read. */
function answer(tool: string, message: Message): Message {
  if ((message.protocol ?? "league.v2") !== "league.v2") throw new Error("E018: this player speaks league.v2");
  if (!/(Z|\+00:00)$/.test(message.timestamp ?? "Z")) throw new Error("E021: send the time in UTC");
  const player_id = me?.player_id ?? message.player_id ?? "P01";
  const reply: Reply = (type, fields) => envelope(type, player_id, message.conversation_id, { player_id, ...fields });
  if (tool !== "handle_game_invitation" && tool !== "choose_parity") return notice(tool, message, reply);
  const match_id = message.match_id;
  if (typeof match_id !== "string") throw new Error("E003: match_id is missing");
  const { parity_choice, draw_nonce } = plan(match_id);
  if (tool === "choose_parity") return reply("CHOOSE_PARITY_RESPONSE", { match_id, parity_choice, ...matchPass(match_id) });
  const accept = message.game_type === "even_odd";
  return reply("GAME_JOIN_ACK", { match_id, accept, arrival_timestamp: now(), draw_nonce, ...matchPass(match_id) });
}

/** Prints what went wrong and how to mend it, and in the end how we did. */
function news(tool: string, message: Message) {
  const { match_id, hint } = message;
  if (tool === "notify_game_error") say(`${match_id}: ${hint ?? message.error_description}`);
  if (tool === "notify_match_result" && !losses.has(match_id) && (hint || message.result === "TECHNICAL_LOSS")) {
    losses.set(match_id, hint ?? message.game_result?.reason ?? "the referee gives no reason");
    say(`${match_id}: a technical loss. ${losses.get(match_id)}`);
  }
  if (tool === "notify_league_completed") {
    const rows = message.final_standings ?? [];
    const mine = rows.find((row: Message) => row.player_id === me?.player_id) ?? {};
    const players = message.total_players ?? rows.length;
    const reasons = [...losses].map(([match, why]) => `; ${match}, ${why.split(";")[0]}`).join("");
    const place = `place ${mine.rank} of ${players} with ${mine.points} points`;
    say(`${me?.player_id} finished at ${place}; technical losses: ${losses.size}${reasons}`);
  }
}

/** A line for people. A referee of other make may send anything. */
function say(line: string) {
  console.error(String(line).replace(/\p{C}/gu, " ").slice(0, 500));
}

/** What proves to the referee that we are the player the manager registered; the token itself stays with us. */
function matchPass(match_id: string) {
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
function notice(tool: string, message: Message, reply: Reply): Message {
  const over = tool === "notify_league_completed" || tool === "shutdown";
  if (me) news(tool, message ?? {});
  if (me && over) setTimeout(() => process.exit(), 500); // once this is answered
  const acknowledgement = `${message.message_type}_ACK`.replace("LEAGUE_STANDINGS", "STANDINGS");
  return reply(acknowledgement, { status: "ACKNOWLEDGED" });
}

// --- The MCP server ---

/** A server for one session, or without sessions for one request. */
async function connected(): Promise<StreamableHTTPServerTransport> {
  const server = new McpServer({ name: given.name, version: "1.0.0" });
  for (const tool of TOOLS) {
    server.registerTool(tool, { inputSchema: z.looseObject({}) }, async (message) => {
      const said = answer(tool, message);
      return { structuredContent: said, content: [{ type: "text", text: JSON.stringify(said) }] };
    });
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: given.stateless ? undefined : randomUUID,
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
  });
  await server.connect(transport);
  return transport;
}

async function handle(request: IncomingMessage, response: ServerResponse) {
  if (Number(request.headers["content-length"]) > MAX_BODY) return response.writeHead(413).end();
  if (request.method !== "POST") return response.writeHead(405).end();
  let body = "";
  for await (const piece of request.setEncoding("utf8")) {
    body += piece;
    if (body.length > MAX_BODY) return response.destroy();
  }
  const { jsonrpc, method, params, id } = JSON.parse(body);
  const known = JSON.parse(JSON.stringify({ jsonrpc, method, params, id })); // the SDK refuses other keys
  const transport = sessions.get(String(request.headers["mcp-session-id"])) ?? (await connected());
  await transport.handleRequest(request, response, known);
}

// --- Where we listen, and how others reach us ---

/** Ends the program with a sentence for its user. */
function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

async function listen(): Promise<number> {
  const { host, port } = given;
  const server = createServer((request, response) => handle(request, response).catch(() => response.writeHead(400).end()));
  server.on("error", (error) => {
    fail(`cannot listen at ${host} port ${port}: ${error.message}. Choose another port with --port, or stop what uses it.`);
  });
  server.listen(Number(port), host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** The address from which this machine reaches `host`; connecting a UDP socket sends nothing. */
async function reachedFrom(host: string, family: number): Promise<string> {
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
async function ownAddress(): Promise<string> {
  const { host, manager } = given;
  if (host !== "0.0.0.0" && host !== "::") return host;
  const family = host === "0.0.0.0" ? 4 : 0;
  const found = await reachedFrom(new URL(manager).hostname, family).catch(() => undefined);
  if (found && !found.startsWith("127.") && found !== "::1") return found;
  const others = Object.values(networkInterfaces()).flat().filter((one) => one && !one.internal && one.family === "IPv4");
  return others[0]?.address ?? "127.0.0.1"; // the manager is on this machine, or cannot be found
}

/** Listens, and returns the URL that we register. */
async function endpoint(): Promise<string> {
  const port = await listen();
  if (given.advertise) return given.advertise;
  const host = await ownAddress();
  return host.includes(":") ? `http://[${host}]:${port}/mcp` : `http://${host}:${port}/mcp`;
}

// --- Registration ---

/** Registers, as soon as the manager is there. Ends the program when the manager refuses us. */
async function register(contact_endpoint: string): Promise<Message> {
  const player_meta = { display_name: given.name, version: "1.0.0", game_types: ["even_odd"], contact_endpoint };
  const fields = given.joinKey ? { player_meta, join_key: given.joinKey } : { player_meta };
  const request = envelope("LEAGUE_REGISTER_REQUEST", given.name, `register-${given.name}`, fields);
  for (let tries = 0; ; tries++) {
    try {
      const manager = new Client({ name: given.name, version: "1.0.0" });
      await manager.connect(new StreamableHTTPClientTransport(new URL(given.manager)));
      const result: Message = await manager.callTool({ name: "register_player", arguments: request });
      const said: Message = result.structuredContent ?? leagueError(result.content?.[0]?.text);
      if (said.status === "ACCEPTED") return said;
      if (!said.retryable) {
        const why = said.reason ?? said.hint ?? said.error_description ?? "it does not say why";
        fail(`the manager at ${given.manager} refused us: ${why}`);
      }
      await sleep(said.retry_after ? 1000 * said.retry_after : RETRY_MS);
    } catch (error: any) {
      const why = error.cause?.message || error.cause?.code || error.message;
      if (tries === 0) console.error(`waiting for the manager at ${given.manager} (${why})`);
      await sleep(RETRY_MS);
    }
  }
}

/** The LEAGUE_ERROR in the text of an error; empty if there is none. */
function leagueError(text: unknown): Message {
  try {
    return JSON.parse(String(text));
  } catch {
    return {};
  }
}

/** A URL as people type it: `localhost:8000` is http://localhost:8000/mcp. */
function url(text: string): string {
  const whole = text.includes("://") ? text : `http://${text}`;
  try {
    return new URL(whole).pathname === "/" ? whole.replace(/\/$/, "") + "/mcp" : whole;
  } catch {
    return fail(`${text} is no URL; write it like http://192.168.1.10:8000/mcp`);
  }
}

function options() {
  const text = (value: string) => ({ type: "string" as const, default: value });
  const known = {
    manager: text("http://localhost:8000/mcp"),
    name: text("Type"),
    host: text("127.0.0.1"),
    port: text("8104"),
    advertise: { type: "string" as const },
    "join-key": { type: "string" as const },
    stateless: { type: "boolean" as const },
    help: { type: "boolean" as const },
  };
  try {
    const { help, manager, advertise, "join-key": joinKey, ...others } = parseArgs({ options: known }).values;
    if (help) {
      console.log(HELP);
      process.exit(0);
    }
    return { ...others, joinKey, manager: url(manager), advertise: advertise && url(advertise) };
  } catch (error: any) {
    return fail(`${error.message}\n${HELP}`);
  }
}

const contact_endpoint = await endpoint();
me = await register(contact_endpoint);
console.error(`${me.player_id} is ${given.name} at ${contact_endpoint}`);
