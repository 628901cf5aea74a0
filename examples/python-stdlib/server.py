"""The player's HTTP server, with Python's standard library: JSON-RPC and MCP at POST /mcp."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from league_kit import MAX_BODY, TOOLS, Refused

ACCEPTS_BATCHES = True  # one POST may carry a JSON array of requests


def add_arguments(parser):
    """This server has no flags of its own."""


def request(tool, message):
    """Returns a request to the manager. The league calls a player in the form in which it registered."""
    return {"jsonrpc": "2.0", "method": tool, "params": message, "id": 1}


def serve(listener, player, options):
    """Serves for ever at the socket `listener`."""
    handler = type("PlayerHandler", (Handler,), {"player": player})
    server = ThreadingHTTPServer(listener.getsockname()[:2], handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    server.serve_forever()


def result(player, method, params):
    """Returns the result of a call: of a league message under its tool's name, or of one of MCP's own methods."""
    if method == "ping" or method.startswith("notifications/"):
        return {}
    if method == "tools/list":
        schema = {"type": "object"}
        return {"tools": [{"name": name, "description": text, "inputSchema": schema} for name, (text, _) in TOOLS.items()]}
    if method == "initialize":
        server_info = {"name": player.name, "version": "1.0.0"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server_info}
    if method == "tools/call" and isinstance(params, dict):
        said = player.answer(params.get("name"), params.get("arguments", {}))
        return {"structuredContent": said, "content": [{"type": "text", "text": json.dumps(said)}]}
    return player.answer(method, params)


def respond_to_all(player, body):
    """Returns the response to a request, or the responses to a batch; None where there is nothing to answer."""
    if isinstance(body, list) and body:
        return [response for request in body if (response := respond(player, request))] or None
    return respond(player, body)


def respond(player, request):
    """Returns the response to a JSON-RPC request; None for a notification."""
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        return {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "this is no JSON-RPC request"}}
    head = {"jsonrpc": "2.0", "id": request.get("id")}
    try:
        response = {**head, "result": result(player, request["method"], request.get("params", {}))}
        return response if "id" in request else None
    except Refused as refused:
        code, message = refused.args
        return {**head, "error": {"code": code, "message": message}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def log_message(self, *_):
        """Prints no line for each request."""

    def do_GET(self):
        self.reply(405, {})

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > MAX_BODY:
            return self.reply(413, {"detail": "at most 64 KiB"}, close=True)
        try:
            body = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            return self.reply(400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "this is no JSON"}})
        response = respond_to_all(self.player, body)
        self.reply(200 if response else 202, response)

    def reply(self, status, response, close=False):
        body = json.dumps(response).encode() if response else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if close:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
