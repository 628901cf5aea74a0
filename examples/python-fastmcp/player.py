"""A player for the Even/Odd league, as an MCP server made with FastMCP."""
import argparse, asyncio, functools, random, secrets, socket, sys, time
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse

me, over = {}, asyncio.Event()  # what the manager answered to our registration; whether the league has ended
TOOLS = {"handle_game_invitation": "Invites to a match.", "choose_parity": "Asks for even or odd.",
         "notify_round": "Announces a round.", "notify_match_result": "Tells how a match ended.",
         "notify_game_error": "Tells what went wrong.", "update_standings": "Tells the standings.",
         "notify_round_completed": "Ends a round.", "notify_league_completed": "Ends the league.", "shutdown": "Ends the player."}

@functools.cache  # asked twice about a match, a player says the same twice
def plan(match):
    return random.choice(["even", "odd"]), secrets.token_hex(16)  # your strategy goes here

def letter(kind, sender, conversation, **more):
    return {"protocol": "league.v2", "message_type": kind, "sender": f"player:{sender}", "conversation_id": conversation,
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **more}

def answer(tool, message):
    if message.get("protocol", "league.v2") != "league.v2":
        raise ToolError("E018: this player speaks league.v2")
    if not str(message.get("timestamp", "Z")).endswith(("Z", "+00:00")):
        raise ToolError("E021: send the time in UTC")
    player, match = me.get("player_id") or message.get("player_id") or "P01", message.get("match_id")
    reply = functools.partial(letter, sender=player, conversation=message.get("conversation_id"), player_id=player)
    if tool not in ("handle_game_invitation", "choose_parity"):
        if me and tool in ("notify_league_completed", "shutdown"):
            asyncio.get_running_loop().call_later(0.5, over.set)  # once this is answered
        return reply(f"{message.get('message_type')}_ACK".replace("LEAGUE_STAND", "STAND"), status="ACKNOWLEDGED")
    if not isinstance(match, str):
        raise ToolError("E003: match_id is missing")
    choice, nonce = plan(match)
    if tool == "choose_parity":
        return reply("CHOOSE_PARITY_RESPONSE", match_id=match, parity_choice=choice)
    join = reply("GAME_JOIN_ACK", match_id=match, accept=message.get("game_type") == "even_odd", draw_nonce=nonce)
    return join | {"arrival_timestamp": join["timestamp"]}

class Message(Tool):  # takes the whole message, also what it does not know
    async def run(self, arguments):
        return ToolResult(structured_content=answer(self.name, arguments))

class AtMost64KiB:  # longer messages are refused before they are read
    def __init__(self, app): self.app = app
    async def __call__(self, scope, receive, send):
        long = int(dict(scope.get("headers", [])).get(b"content-length", 0)) > 65536
        await (PlainTextResponse("at most 64 KiB", 413) if long else self.app)(scope, receive, send)

async def main(options):
    place = socket.create_server(("127.0.0.1", options.port))
    tools = [Message(name=name, description=about, parameters={"type": "object"}) for name, about in TOOLS.items()]
    server = FastMCP(options.name, tools=tools).run_http_async(
        show_banner=False, log_level="critical", path="/mcp", sockets=[place], stateless_http=options.stateless,
        middleware=[Middleware(AtMost64KiB)])
    serving = asyncio.create_task(server)
    endpoint = f"http://127.0.0.1:{place.getsockname()[1]}/mcp"
    hello = letter("LEAGUE_REGISTER_REQUEST", options.name, f"register-{options.name}", player_meta={
        "display_name": options.name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint})
    while not me:  # the manager may not be there yet
        try:
            async with Client(options.manager) as manager:
                said = (await manager.call_tool("register_player", hello)).structured_content
        except Exception:
            await asyncio.sleep(0.5)
            continue
        me.update(said if said.get("status") == "ACCEPTED" else sys.exit(f"refused: {said}"))
    print(me["player_id"], "is", options.name, "at", endpoint, file=sys.stderr)
    await over.wait()
    serving.cancel()

parser = argparse.ArgumentParser(description=__doc__)
for flag, value in ("--port", 8103), ("--manager", "http://localhost:8000/mcp"), ("--name", "Fast"):
    parser.add_argument(flag, default=value, type=type(value))
parser.add_argument("--stateless", action="store_true", help="no sessions")
asyncio.run(main(parser.parse_args()))
