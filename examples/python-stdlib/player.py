"""A player for the Even/Odd league, with nothing but Python's standard library."""
import argparse, functools, json, random, secrets, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
TOOLS = ["handle_game_invitation", "choose_parity", "notify_round", "notify_match_result", "notify_game_error",
         "update_standings", "notify_round_completed", "notify_league_completed", "shutdown"]
me, over = {}, threading.Event()  # what the manager answered to our registration; whether the league has ended
@functools.cache  # asked twice about a match, a player says the same twice
def plan(match): return random.choice(["even", "odd"]), secrets.token_hex(16)  # your strategy goes here
def letter(kind, sender, conversation, **more):
    return {"protocol": "league.v2", "message_type": kind, "sender": f"player:{sender}", "conversation_id": conversation,
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **more}
class Refused(Exception): """A JSON-RPC error: its code and its message."""

def answer(tool, message):
    if tool not in TOOLS: raise Refused(-32601, f"no such method: {tool}")
    if type(message) is not dict or message.get("protocol") not in (None, "league.v2"): raise Refused(-32602, "E018: not league.v2")
    if not str(message.get("timestamp", "Z")).endswith(("Z", "+00:00")): raise Refused(-32602, "E021: send UTC")
    player, match = me.get("player_id") or message.get("player_id") or "P01", message.get("match_id")
    reply = functools.partial(letter, sender=player, conversation=message.get("conversation_id"), player_id=player)
    if tool not in ("handle_game_invitation", "choose_parity"):
        if me and tool in ("notify_league_completed", "shutdown"): over.set()
        return reply(f"{message.get('message_type')}_ACK".replace("LEAGUE_STAND", "STAND"), status="ACKNOWLEDGED")
    if not isinstance(match, str): raise Refused(-32602, "E003: match_id is missing")
    choice, nonce = plan(match)
    if tool == "choose_parity": return reply("CHOOSE_PARITY_RESPONSE", match_id=match, parity_choice=choice)
    join = reply("GAME_JOIN_ACK", match_id=match, accept=message.get("game_type") == "even_odd", draw_nonce=nonce)
    return join | {"arrival_timestamp": join["timestamp"]}

def result(method, params):  # a league message by its tool's name, or MCP
    if method == "ping" or method.startswith("notifications/"): return {}
    if method == "tools/list": return {"tools": [{"name": tool, "inputSchema": {"type": "object"}} for tool in TOOLS]}
    if method == "initialize": return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                       "serverInfo": {"name": options.name, "version": "1.0.0"}}
    if method != "tools/call": return answer(method, params)
    said = answer(params.get("name"), params.get("arguments", {}))
    return {"structuredContent": said, "content": [{"type": "text", "text": json.dumps(said)}]}

def respond(request):  # JSON-RPC; nobody waits for the answer to a request without an id
    if isinstance(request, list) and request: return [said for one in request if (said := respond(one))]
    head = {"jsonrpc": "2.0", "id": request.get("id") if isinstance(request, dict) else None}
    try:
        if not isinstance(request, dict) or type(request.get("method")) is not str: raise Refused(-32600, "no request")
        said = head | {"result": result(request["method"], request.get("params", {}))}
        return said if "id" in request else None
    except Refused as refused: return head | {"error": dict(zip(("code", "message"), refused.args))}

class Handler(BaseHTTPRequestHandler):
    protocol_version, timeout, disable_nagle_algorithm, log_message = "HTTP/1.1", 60, True, lambda *_: None
    def do_GET(self): self.reply(405, {})
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > 65536: return self.reply(413, {"detail": "at most 64 KiB"}, "close")
        try: said = respond(json.loads(self.rfile.read(length)))
        except (ValueError, RecursionError): return self.reply(400, {"error": {"code": -32700, "message": "not JSON"}})
        self.reply(200 if said else 202, said)
    def reply(self, status, said, then="keep-alive"):
        body, kind = json.dumps(said).encode() if said else b"", "application/json"
        self.send_response(status)
        for header in ("Content-Type", kind), ("Content-Length", len(body)), ("Connection", then): self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)

parser = argparse.ArgumentParser(description=__doc__)
for flag, value in ("--port", 8101), ("--manager", "http://localhost:8000/mcp"), ("--name", "Snake"):
    parser.add_argument(flag, default=value, type=type(value))
options = parser.parse_args()
server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
endpoint = f"http://127.0.0.1:{server.server_port}/mcp"
hello = letter("LEAGUE_REGISTER_REQUEST", options.name, f"register-{options.name}", player_meta={
    "display_name": options.name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint})
body = json.dumps({"jsonrpc": "2.0", "method": "register_player", "params": hello, "id": 1}).encode()
request = urllib.request.Request(options.manager, body, {"Content-Type": "application/json"})
while not me:  # the manager may not be there yet
    try: said = json.load(urllib.request.urlopen(request, timeout=10))
    except OSError: time.sleep(0.5)
    else: me = said["result"] if said.get("result", {}).get("status") == "ACCEPTED" else sys.exit(f"refused: {said}")
print(me["player_id"], "is", options.name, "at", endpoint, file=sys.stderr)
over.wait()
time.sleep(0.5)  # the last answer is still on its way
