"""A player for the Even/Odd league, with nothing but Python's standard library.

Your strategy goes into `choose`. Everything else speaks the protocol.
"""

import argparse
import base64
import functools
import hashlib
import hmac
import ipaddress
import json
import random
import secrets
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

TOOLS = [
    "handle_game_invitation",
    "choose_parity",
    "notify_round",
    "notify_match_result",
    "notify_game_error",
    "update_standings",
    "notify_round_completed",
    "notify_league_completed",
    "shutdown",
]
MAX_BODY = 64 * 1024
RETRY_SECONDS = 0.5

losses = {}  # matches lost without a game, and why
me = {}  # what the manager answered when we registered: player_id, auth_token, league_id
league_over = threading.Event()


@functools.cache  # a referee that asks twice about a match gets the same answer twice
def choose(match_id):
    """Your strategy: "even" or "odd"."""
    return random.choice(["even", "odd"])


@functools.cache
def draw_nonce(match_id):
    """Our part of the match's random number, which proves that the referee did not choose it."""
    return secrets.token_hex(16)


# --- The league's messages ---


class Refused(Exception):
    """A request that we do not answer: a JSON-RPC error code and a message."""


def envelope(message_type, sender, conversation_id, **fields):
    return {
        "protocol": "league.v2",
        "message_type": message_type,
        "sender": f"player:{sender}",
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "conversation_id": conversation_id,
        **fields,
    }


def answer(tool, message):
    """The answer to one message of the league."""
    if tool not in TOOLS:
        raise Refused(-32601, f"no such method: {tool}")
    if not isinstance(message, dict) or message.get("protocol") not in (None, "league.v2"):
        raise Refused(-32602, "E018: this player speaks league.v2")
    if not str(message.get("timestamp", "Z")).endswith(("Z", "+00:00")):
        raise Refused(-32602, "E021: send the time in UTC")
    player_id = me.get("player_id") or message.get("player_id") or "P01"
    reply = functools.partial(envelope, sender=player_id, conversation_id=message.get("conversation_id"), player_id=player_id)
    if tool not in ("handle_game_invitation", "choose_parity"):
        return notice(tool, message, reply)
    match_id = message.get("match_id")
    if not isinstance(match_id, str):
        raise Refused(-32602, "E003: match_id is missing")
    proof = match_pass(match_id)
    reply = functools.partial(reply, auth_token=proof) if proof else reply
    if tool == "choose_parity":
        return reply("CHOOSE_PARITY_RESPONSE", match_id=match_id, parity_choice=choose(match_id))
    accept = message.get("game_type") == "even_odd"
    join = reply("GAME_JOIN_ACK", match_id=match_id, accept=accept, draw_nonce=draw_nonce(match_id))
    return {**join, "arrival_timestamp": join["timestamp"]}


def match_pass(match_id):
    """What proves to the referee that we are the player the manager registered; the token itself stays with us."""
    token, league = me.get("auth_token"), me.get("league_id")
    if not token or not league:
        return None
    fields = [b"player", league.encode(), match_id.encode()]
    sealed = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    proof = hmac.digest(hashlib.sha256(token.encode()).digest(), sealed, "sha256")
    return "pass-" + base64.urlsafe_b64encode(proof).decode().rstrip("=")


def news(tool, message):
    """Prints what went wrong and how to mend it, and in the end how we did."""
    match_id, over, hint = message.get("match_id"), tool == "notify_match_result", message.get("hint")
    if tool == "notify_game_error":
        say(f"{match_id}: {hint or message.get('error_description')}")
    elif over and match_id not in losses and (hint or message.get("result") == "TECHNICAL_LOSS"):
        losses[match_id] = hint or (message.get("game_result") or {}).get("reason") or "the referee gives no reason"
        say(f"{match_id}: a technical loss. {losses[match_id]}")
    elif tool == "notify_league_completed" and not league_over.is_set():
        rows = message.get("final_standings") or []
        mine = next((row for row in rows if row.get("player_id") == me.get("player_id")), {})
        players = message.get("total_players") or len(rows)
        reasons = "".join(f"; {match}, {why.split(';')[0]}" for match, why in losses.items())
        say(f"{me.get('player_id')} finished at place {mine.get('rank')} of {players} with {mine.get('points')} points; "
            f"technical losses: {len(losses)}{reasons}")


def say(line):
    """A line for people. A referee of other make may send anything."""
    print("".join(c if c.isprintable() else " " for c in str(line))[:500], file=sys.stderr, flush=True)


def notice(tool, message, reply):
    """The league tells us something and wants an acknowledgement."""
    if me:
        news(tool, message)
    if me and tool in ("notify_league_completed", "shutdown"):
        league_over.set()
    acknowledgement = f"{message.get('message_type')}_ACK".replace("LEAGUE_STANDINGS", "STANDINGS")
    return reply(acknowledgement, status="ACKNOWLEDGED")


# --- JSON-RPC and MCP over HTTP ---


def result(method, params):
    """The result of a call: a league message under its tool's name, or one of MCP's own methods."""
    if method == "ping" or method.startswith("notifications/"):
        return {}
    if method == "tools/list":
        return {"tools": [{"name": tool, "inputSchema": {"type": "object"}} for tool in TOOLS]}
    if method == "initialize":
        server_info = {"name": "python-stdlib-player", "version": "1.0.0"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server_info}
    if method != "tools/call":
        return answer(method, params)
    said = answer(params.get("name"), params.get("arguments", {}))
    return {"structuredContent": said, "content": [{"type": "text", "text": json.dumps(said)}]}


def respond(request):
    """The response to a JSON-RPC request or batch; None for notifications, which get no response."""
    if isinstance(request, list) and request:
        return [response for one in request if (response := respond(one))]
    request_id = request.get("id") if isinstance(request, dict) else None
    head = {"jsonrpc": "2.0", "id": request_id}
    try:
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            raise Refused(-32600, "this is no JSON-RPC request")
        response = {**head, "result": result(request["method"], request.get("params", {}))}
        return response if "id" in request else None
    except Refused as refused:
        code, message = refused.args
        return {**head, "error": {"code": code, "message": message}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def log_message(self, *_):
        """No line for each request."""

    def do_GET(self):
        self.reply(405, {})

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > MAX_BODY:
            return self.reply(413, {"detail": "at most 64 KiB"}, connection="close")
        try:
            response = respond(json.loads(self.rfile.read(length)))
        except (ValueError, RecursionError):
            return self.reply(400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "this is no JSON"}})
        self.reply(200 if response else 202, response)

    def reply(self, status, response, connection="keep-alive"):
        body = json.dumps(response).encode() if response else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", connection)
        self.end_headers()
        self.wfile.write(body)


# --- Where we listen, and how others reach us ---


def listen(host, port):
    server = ThreadingHTTPServer((host, port), Handler, bind_and_activate=False)
    server.socket.close()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        server.socket = socket.create_server((host, port), family=family, dualstack_ipv6=host == "::")
    except OSError as error:
        sys.exit(f"cannot listen at {host} port {port}: {error.strerror or error}. Choose another port with --port, or stop what uses it.")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.socket.getsockname()[1]


def own_address(host, manager):
    """The address at which others reach this machine, where we listen at all of its addresses."""
    if host not in ("0.0.0.0", "::"):
        return host
    families = [socket.AF_INET] if host == "0.0.0.0" else [socket.AF_INET, socket.AF_INET6]
    place = urlsplit(manager)
    # The address from which we reach the manager; where the manager is on this machine, from which we reach any other
    # machine (no machine has 198.51.100.1). Connecting a UDP socket sends nothing.
    for target in (place.hostname, place.port or 80), ("198.51.100.1", 80):
        try:
            for family, kind, _, _, address in socket.getaddrinfo(*target, type=socket.SOCK_DGRAM):
                if family in families:
                    with socket.socket(family, kind) as probe:
                        probe.connect(address)
                        found = probe.getsockname()[0]
                    if not ipaddress.ip_address(found.split("%")[0]).is_loopback:
                        return found
        except OSError:
            continue
    return "127.0.0.1"


def endpoint(options):
    """Listens, and returns the URL that we register."""
    port = listen(options.host, options.port)
    if options.advertise:
        return options.advertise
    host = own_address(options.host, options.manager)
    return f"http://[{host}]:{port}/mcp" if ":" in host else f"http://{host}:{port}/mcp"


# --- Registration ---


def register(options, contact_endpoint):
    """Registers, as soon as the manager is there. Ends the program when the manager refuses us."""
    player_meta = {
        "display_name": options.name,
        "version": "1.0.0",
        "game_types": ["even_odd"],
        "contact_endpoint": contact_endpoint,
    }
    params = envelope("LEAGUE_REGISTER_REQUEST", options.name, f"register-{options.name}", player_meta=player_meta)
    if options.join_key:
        params["join_key"] = options.join_key
    body = json.dumps({"jsonrpc": "2.0", "method": "register_player", "params": params, "id": 1}).encode()
    request = urllib.request.Request(options.manager, body, {"Content-Type": "application/json"})
    waiting = False
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            text = error.read()
            if error.code in (429, 503):  # too many at once: the manager says when to come back
                time.sleep(float(error.headers.get("Retry-After") or RETRY_SECONDS))
                continue
        except OSError as error:
            if not waiting:
                print(f"waiting for the manager at {options.manager} ({getattr(error, 'reason', error)})", file=sys.stderr)
                waiting = True
            time.sleep(RETRY_SECONDS)
            continue
        said = registered(text)
        if isinstance(said, dict):
            return said
        sys.exit(f"the manager at {options.manager} refused us: {said}")


def registered(text):
    """What the manager answered, if it accepted us; else why it did not, as text."""
    try:
        response = json.loads(text)
    except ValueError:
        return "its answer is no JSON; is this the address of a manager?"
    said = response.get("result") or {}
    if said.get("status") == "ACCEPTED":
        return said
    error = response.get("error") or {}
    return said.get("reason") or (error.get("message") if isinstance(error, dict) else error) or "it does not say why"


def url(text):
    """A URL as people type it: `localhost:8000` is http://localhost:8000/mcp."""
    text = text if "://" in text else f"http://{text}"
    return text if urlsplit(text).path.strip("/") else text.rstrip("/") + "/mcp"


def arguments():
    parser = argparse.ArgumentParser(description="A player for the Even/Odd league.")
    parser.add_argument("--manager", type=url, default="http://localhost:8000/mcp", help="where the manager listens")
    parser.add_argument("--name", default="Snake", help="the name that tables show")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; 0.0.0.0 for every address of this machine")
    parser.add_argument("--port", type=int, default=8101, help="the port to listen at; 0 takes a free one")
    parser.add_argument("--advertise", type=url, metavar="URL", help="where others reach us; found out when left out")
    parser.add_argument("--join-key", help="the league's join key, where players need one")
    return parser.parse_args()


def main():
    options = arguments()
    contact_endpoint = endpoint(options)
    me.update(register(options, contact_endpoint))
    print(f"{me['player_id']} is {options.name} at {contact_endpoint}", file=sys.stderr)
    league_over.wait()
    time.sleep(0.5)  # the last answer is still on its way


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
