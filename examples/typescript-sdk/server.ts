// The player's MCP server, made with the official TypeScript SDK.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod";
import { TOOLS, readBody } from "./league_kit.mjs";
import type { Message, Options, Player } from "./league_kit.mjs";

export const acceptsBatches = false; // MCP has none
export const hasSessions = true;

/** Returns a request to the manager. The league calls a player in the form in which it registered: as a tool. */
export function request(tool: string, message: Message): Message {
  return { jsonrpc: "2.0", method: "tools/call", params: { name: tool, arguments: message }, id: 1 };
}

/** Returns what answers an HTTP request. */
export function handler(player: Player, options: Options): RequestListener {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return (request, response) =>
    void handle(player, options, sessions, request, response).catch(() => response.writeHead(400).end());
}

async function handle(
  player: Player,
  options: Options,
  sessions: Map<string, StreamableHTTPServerTransport>,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const text = await readBody(request, response);
  if (text === undefined) return;
  const { jsonrpc, method, params, id } = JSON.parse(text);
  const known = JSON.parse(JSON.stringify({ jsonrpc, method, params, id })); // the SDK refuses other keys
  const session = sessions.get(String(request.headers["mcp-session-id"]));
  const transport = session ?? (await connect(player, options, sessions));
  await transport.handleRequest(request, response, known);
}

/** Makes a server for one session or, without sessions, for one request. */
async function connect(player: Player, options: Options, sessions: Map<string, StreamableHTTPServerTransport>) {
  const server = new McpServer({ name: options.name, version: "1.0.0" });
  for (const [tool, [description]] of Object.entries(TOOLS)) {
    // The SDK turns what `answer` throws into an error that the caller can read.
    server.registerTool(tool, { description, inputSchema: z.looseObject({}) }, async (message) => {
      const said = await player.answer(tool, message);
      return { structuredContent: said, content: [{ type: "text", text: JSON.stringify(said) }] };
    });
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: options.stateless ? undefined : randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await server.connect(transport);
  return transport;
}
