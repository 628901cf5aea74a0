"""A session of an official Python client: list the tools, call one well, one badly, and one that is not there.

session.py CLIENT (URL GOOD BAD)... prints what the client saw at each URL, as one line of JSON.
CLIENT is `fastmcp`, `mcp` (the library's newest way) or, for the ways that can be chosen, `mcp:auto`, `mcp:legacy` and
`mcp:2026-07-28`.
"""

import asyncio
import json
import sys


async def with_fastmcp(url, converse):
    from fastmcp import Client

    async with Client(url) as client:
        async def call(name):
            return await client.call_tool_mcp(name, {})

        return await converse(client.list_tools, call)


async def with_mode(url, mode, converse):
    from mcp.client import Client

    async with Client(url, mode=mode) as client:
        async def tools():
            return (await client.list_tools()).tools

        async def call(name):
            return await client.call_tool(name, {})

        return {"revision": client.protocol_version, **await converse(tools, call)}


async def with_session(url, converse):
    """The way of mcp 1: transport and session by hand."""
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(url) as (reader, writer, _), ClientSession(reader, writer) as session:
        opened = await session.initialize()

        async def tools():
            return (await session.list_tools()).tools

        async def call(name):
            return await session.call_tool(name, {})

        return {"revision": opened.protocolVersion, **await converse(tools, call)}


def field(result, *names):
    """A field whose spelling changed between the major versions."""
    return next(getattr(result, name) for name in names if hasattr(result, name))


async def session(client, url, good, bad):
    async def converse(tools, call):
        names = [tool.name for tool in await tools()]
        done, wrong = await call(good), await call(bad)
        try:
            missing = await call("no_such_tool")
            refusal = missing.content[0].text if field(missing, "is_error", "isError") else None
        except Exception as error:
            refusal = str(error)
        return {
            "tools": names,
            "answer": field(done, "structured_content", "structuredContent"),
            "good_is_error": bool(field(done, "is_error", "isError")),
            "bad_is_error": bool(field(wrong, "is_error", "isError")),
            "bad_says": wrong.content[0].text,
            "refusal": refusal,
        }

    library, _, mode = client.partition(":")
    if library == "fastmcp":
        return await with_fastmcp(url, converse)
    if mode:
        return await with_mode(url, mode, converse)
    return await with_session(url, converse)


async def main(client, *servers):
    triples = [servers[at : at + 3] for at in range(0, len(servers), 3)]
    print(json.dumps([await session(client, *triple) for triple in triples]))


asyncio.run(main(*sys.argv[1:]))
