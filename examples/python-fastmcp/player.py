"""A player for the Even/Odd league, as an MCP server made with FastMCP.

Your strategy goes into `choose`. Everything else speaks the protocol.
"""

import argparse
import asyncio
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
import time
from urllib.parse import urlsplit

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse

TOOLS = {
    "handle_game_invitation": "Invites to a match.",
    "choose_parity": "Asks for even or odd.",
    "notify_round": "Announces a round.",
    "notify_match_result": "Tells how a match ended.",
    "notify_game_error": "Tells what went wrong.",
    "update_standings": "Tells the standings.",
    "notify_round_completed": "Ends a round.",
    "notify_league_completed": "Ends the league.",
    "shutdown": "Ends the player.",
}
MAX_BODY = 64 * 1024
RETRY_SECONDS = 0.5

losses = {}  # matches lost without a game, and why
me = {}  # what the manager answered when we registered: player_id, auth_token, league_id
league_over = asyncio.Event()


@functools.cache  # a referee that asks twice about a match gets the same answer twice
def choose(match_id):
    """Your strategy: "even" or "odd"."""
    return random.choice(["even", "odd"])


@functools.cache
def draw_nonce(match_id):
    """Our part of the match's random number, which proves that the referee did not choose it."""
    return secrets.token_hex(16)


# --- The league's messages ---


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
    if message.get("protocol") not in (None, "league.v2"):
        raise ToolError("E018: this player speaks league.v2")
    if not str(message.get("timestamp", "Z")).endswith(("Z", "+00:00")):
        raise ToolError("E021: send the time in UTC")
    player_id = me.get("player_id") or message.get("player_id") or "P01"
    reply = functools.partial(envelope, sender=player_id, conversation_id=message.get("conversation_id"), player_id=player_id)
    if tool not in ("handle_game_invitation", "choose_parity"):
        return notice(tool, message, reply)
    match_id = message.get("match_id")
    if not isinstance(match_id, str):
        raise ToolError("E003: match_id is missing")
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
        asyncio.get_running_loop().call_later(0.5, league_over.set)  # once this is answered
    acknowledgement = f"{message.get('message_type')}_ACK".replace("LEAGUE_STANDINGS", "STANDINGS")
    return reply(acknowledgement, status="ACKNOWLEDGED")


# --- The MCP server ---


class MessageTool(Tool):
    """A tool that takes the whole message, with all of its fields."""

    async def run(self, arguments):
        return ToolResult(structured_content=answer(self.name, arguments))


class LimitedBody:
    """Refuses longer messages before they are read."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        length = int(dict(scope.get("headers", [])).get(b"content-length", 0))
        app = PlainTextResponse("at most 64 KiB", 413) if length > MAX_BODY else self.app
        await app(scope, receive, send)


def serve(options, listener):
    tools = [MessageTool(name=name, description=text, parameters={"type": "object"}) for name, text in TOOLS.items()]
    return FastMCP(options.name, tools=tools).run_http_async(
        show_banner=False,
        log_level="critical",
        path="/mcp",
        sockets=[listener],
        stateless_http=options.stateless,
        middleware=[Middleware(LimitedBody)],
    )


# --- Where we listen, and how others reach us ---


def listen(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, dualstack_ipv6=host == "::")
    except OSError as error:
        reason = error.strerror or error
        sys.exit(f"cannot listen at {host} port {port}: {reason}. Choose another port with --port, or stop what uses it.")


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


def endpoint(options, listener):
    """The URL that we register."""
    if options.advertise:
        return options.advertise
    host, port = own_address(options.host, options.manager), listener.getsockname()[1]
    return f"http://[{host}]:{port}/mcp" if ":" in host else f"http://{host}:{port}/mcp"


# --- Registration ---


async def register(options, contact_endpoint):
    """Registers, as soon as the manager is there. Ends the program when the manager refuses us."""
    player_meta = {
        "display_name": options.name,
        "version": "1.0.0",
        "game_types": ["even_odd"],
        "contact_endpoint": contact_endpoint,
    }
    request = envelope("LEAGUE_REGISTER_REQUEST", options.name, f"register-{options.name}", player_meta=player_meta)
    if options.join_key:
        request["join_key"] = options.join_key
    waiting = False
    while True:
        try:
            async with Client(options.manager) as manager:
                said = (await manager.call_tool("register_player", request)).structured_content or {}
        except ToolError as error:
            fault = league_error(str(error))
            if not fault.get("retryable"):
                why = fault.get("hint") or fault.get("error_description") or error
                sys.exit(f"the manager at {options.manager} refused us: {why}")
            await asyncio.sleep(fault.get("retry_after") or RETRY_SECONDS)
            continue
        except Exception as error:  # whatever the MCP client raises when nothing answers
            if not waiting:
                print(f"waiting for the manager at {options.manager} ({error})", file=sys.stderr)
                waiting = True
            await asyncio.sleep(RETRY_SECONDS)
            continue
        if said.get("status") == "ACCEPTED":
            return said
        sys.exit(f"the manager at {options.manager} refused us: {said.get('reason') or 'it does not say why'}")


def league_error(text):
    """The LEAGUE_ERROR in the text of an error; empty if there is none."""
    try:
        return json.loads(text)
    except ValueError:
        return {}


def url(text):
    """A URL as people type it: `localhost:8000` is http://localhost:8000/mcp."""
    text = text if "://" in text else f"http://{text}"
    return text if urlsplit(text).path.strip("/") else text.rstrip("/") + "/mcp"


def arguments():
    parser = argparse.ArgumentParser(description="A player for the Even/Odd league, made with FastMCP.")
    parser.add_argument("--manager", type=url, default="http://localhost:8000/mcp", help="where the manager listens")
    parser.add_argument("--name", default="Fast", help="the name that tables show")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; 0.0.0.0 for every address of this machine")
    parser.add_argument("--port", type=int, default=8103, help="the port to listen at; 0 takes a free one")
    parser.add_argument("--advertise", type=url, metavar="URL", help="where others reach us; found out when left out")
    parser.add_argument("--join-key", help="the league's join key, where players need one")
    parser.add_argument("--stateless", action="store_true", help="serve without MCP sessions")
    return parser.parse_args()


async def main():
    options = arguments()
    listener = listen(options.host, options.port)
    serving = asyncio.create_task(serve(options, listener))
    contact_endpoint = endpoint(options, listener)
    me.update(await register(options, contact_endpoint))
    print(f"{me['player_id']} is {options.name} at {contact_endpoint}", file=sys.stderr)
    await league_over.wait()
    serving.cancel()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
