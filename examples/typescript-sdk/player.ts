// A player for the Even/Odd league, as an MCP server made with the official TypeScript SDK.
import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod";
type Message = Record<string, any>;
const text = (value: string) => ({ type: "string" as const, default: value });
const known = { port: text("8104"), manager: text("http://localhost:8000/mcp"), name: text("Type") };
const options = parseArgs({ options: { ...known, stateless: { type: "boolean" } } }).values;
const TOOLS = ["handle_game_invitation", "choose_parity", "notify_round", "notify_match_result", "notify_game_error",
  "update_standings", "notify_round_completed", "notify_league_completed", "shutdown"];
const plans = new Map<string, Message>(), sessions = new Map<string, StreamableHTTPServerTransport>();
let me: Message | undefined; // what the manager answered to our registration

const now = () => new Date().toISOString().replace(/\.\d+/, "");
const letter = (message_type: string, sender: string, conversation_id: string, more: Message): Message =>
  ({ protocol: "league.v2", message_type, sender: `player:${sender}`, timestamp: now(), conversation_id, ...more });

function plan(match: string): Message { // asked twice about a match, a player says the same twice
  const parity_choice = Math.random() < 0.5 ? "even" : "odd"; // your strategy goes here
  if (!plans.has(match)) plans.set(match, { parity_choice, draw_nonce: randomBytes(16).toString("hex") });
  return plans.get(match)!;
}

function answer(tool: string, message: Message): Message {
  if ((message.protocol ?? "league.v2") !== "league.v2") throw new Error("E018: this player speaks league.v2");
  if (!/(Z|\+00:00)$/.test(message.timestamp ?? "Z")) throw new Error("E021: send the time in UTC");
  const player_id = me?.player_id ?? message.player_id ?? "P01", match_id = message.match_id;
  const reply = (type: string, more: Message) => letter(type, player_id, message.conversation_id, { player_id, ...more });
  if (tool !== "handle_game_invitation" && tool !== "choose_parity") {
    if (me && (tool === "notify_league_completed" || tool === "shutdown")) setTimeout(() => process.exit(), 500);
    return reply(`${message.message_type}_ACK`.replace("LEAGUE_STAND", "STAND"), { status: "ACKNOWLEDGED" });
  }
  if (typeof match_id !== "string") throw new Error("E003: match_id is missing");
  const { parity_choice, draw_nonce } = plan(match_id), accept = message.game_type === "even_odd";
  if (tool === "choose_parity") return reply("CHOOSE_PARITY_RESPONSE", { match_id, parity_choice });
  return reply("GAME_JOIN_ACK", { match_id, accept, arrival_timestamp: now(), draw_nonce });
}

async function connected(): Promise<StreamableHTTPServerTransport> { // a server for one session, or for one request
  const server = new McpServer({ name: options.name, version: "1.0.0" });
  for (const tool of TOOLS) server.registerTool(tool, { inputSchema: z.looseObject({}) }, async (message) => {
    const said = answer(tool, message); // what is thrown becomes an error that the caller can read
    return { structuredContent: said, content: [{ type: "text", text: JSON.stringify(said) }] };
  });
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: options.stateless ? undefined : randomUUID,
    onsessioninitialized: (id) => { sessions.set(id, transport); },
  });
  await server.connect(transport);
  return transport;
}

async function handle(request: IncomingMessage, response: ServerResponse) {
  if (Number(request.headers["content-length"]) > 65536) return response.writeHead(413).end();
  if (request.method !== "POST") return response.writeHead(405).end();
  let body = "";
  for await (const piece of request.setEncoding("utf8")) if ((body += piece).length > 65536) throw new Error("too long");
  const { jsonrpc, method, params, id } = JSON.parse(body), session = String(request.headers["mcp-session-id"]);
  const known = JSON.parse(JSON.stringify({ jsonrpc, method, params, id })); // the SDK refuses other keys
  await (sessions.get(session) ?? await connected()).handleRequest(request, response, known);
}

const http = createServer((request, response) => handle(request, response).catch(() => response.writeHead(400).end()));
http.listen(Number(options.port), "127.0.0.1", async function register() { // again if the manager is not there yet
  const contact_endpoint = `http://127.0.0.1:${(http.address() as any).port}/mcp`;
  const player_meta = { display_name: options.name, version: "1.0.0", game_types: ["even_odd"], contact_endpoint };
  const hello = letter("LEAGUE_REGISTER_REQUEST", options.name, `register-${options.name}`, { player_meta });
  try {
    const manager = new Client({ name: options.name, version: "1.0.0" });
    await manager.connect(new StreamableHTTPClientTransport(new URL(options.manager)));
    const said = (await manager.callTool({ name: "register_player", arguments: hello })).structuredContent as Message;
    if (said?.status !== "ACCEPTED") process.exit(console.error("refused:", said) ?? 1);
    console.error((me = said).player_id, "is", options.name, "at", contact_endpoint);
  } catch { setTimeout(register, 500); }
});
