"""The player's MCP server, made with FastMCP."""

import asyncio

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse

from league_kit import MAX_BODY, TOOLS, Refused

ACCEPTS_BATCHES = False  # MCP has none, and FastMCP refuses JSON arrays


def add_arguments(parser):
    parser.add_argument("--stateless", action="store_true", help="serve without MCP sessions")


def request(tool, message):
    """Returns a request to the manager. The league calls a player in the form in which it registered: as a tool."""
    return {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": tool, "arguments": message}, "id": 1}


def serve(listener, player, options):
    """Serves for ever at the socket `listener`."""
    tools = [
        MessageTool(name=name, description=text, parameters={"type": "object"}, player=player)
        for name, (text, _) in TOOLS.items()
    ]
    server = FastMCP(options.name, tools=tools).run_http_async(
        show_banner=False,
        log_level="critical",
        path="/mcp",
        sockets=[listener],
        stateless_http=options.stateless,
        middleware=[Middleware(LimitedBody)],
    )
    asyncio.run(server)


class MessageTool(Tool):
    """A tool that takes the whole message, with all of its fields."""

    player: object

    async def run(self, arguments):
        try:
            # In a thread, because a strategy may take its time.
            said = await asyncio.to_thread(self.player.answer, self.name, arguments)
        except Refused as refused:
            _, message = refused.args
            raise ToolError(message) from refused
        return ToolResult(structured_content=said)


class LimitedBody:
    """Refuses longer messages before they are read."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        length = int(dict(scope.get("headers", [])).get(b"content-length", 0))
        app = PlainTextResponse("at most 64 KiB", 413) if length > MAX_BODY else self.app
        await app(scope, receive, send)
