// The player's HTTP server, with nothing but Node: JSON-RPC and MCP at POST /mcp.
import { Refused, TOOLS, readBody } from "./league_kit.mjs";

export const acceptsBatches = true; // one POST may carry a JSON array of requests
export const hasSessions = false;

/** Returns a request to the manager. The league calls a player in the form in which it registered. */
export function request(tool, message) {
  return { jsonrpc: "2.0", method: tool, params: message, id: 1 };
}

/** Returns what answers an HTTP request. */
export function handler(player) {
  return (request, response) => handle(player, request, response).catch(() => response.destroy());
}

async function handle(player, request, response) {
  const text = await readBody(request, response);
  if (text === undefined) return;
  const reply = (status, body) => {
    const json = body ? JSON.stringify(body) : "";
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(json) };
    response.writeHead(status, headers).end(json);
  };
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    return reply(400, { jsonrpc: "2.0", id: null, error: { code: -32700, message: "this is no JSON" } });
  }
  const said = await respondToAll(player, body);
  reply(said ? 200 : 202, said);
}

/** Returns the response to a request, or the responses to a batch; undefined where there is nothing to answer. */
async function respondToAll(player, body) {
  if (!Array.isArray(body) || body.length === 0) return respond(player, body);
  const responses = await Promise.all(body.map((request) => respond(player, request)));
  const answered = responses.filter(Boolean);
  return answered.length ? answered : undefined;
}

/** Returns the response to a JSON-RPC request; undefined for a notification. */
async function respond(player, request) {
  const head = { jsonrpc: "2.0", id: request?.id ?? null };
  try {
    if (typeof request?.method !== "string") throw new Refused(-32600, "this is no JSON-RPC request");
    const response = { ...head, result: await result(player, request.method, request.params ?? {}) };
    return request.id === undefined ? undefined : response;
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    const code = error instanceof Refused ? error.code : -32603;
    return { ...head, error: { code, message: error.message } };
  }
}

/** Returns the result of a call: of a league message under its tool's name, or of one of MCP's own methods. */
async function result(player, method, params) {
  if (method === "ping" || method.startsWith("notifications/")) return {};
  if (method === "tools/list") {
    const inputSchema = { type: "object" };
    return { tools: Object.entries(TOOLS).map(([name, [description]]) => ({ name, description, inputSchema })) };
  }
  if (method === "initialize") {
    const serverInfo = { name: player.name, version: "1.0.0" };
    return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  }
  if (method !== "tools/call") return player.answer(method, params);
  const said = await player.answer(params.name, params.arguments ?? {});
  return { structuredContent: said, content: [{ type: "text", text: JSON.stringify(said) }] };
}
