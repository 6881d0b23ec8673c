"""Calls tools through an earlier Python SDK, and prints what a program that uses it gets of each answer.

python calls.py < {"command": …, "args": […], "env": {…}, "calls": [[name, arguments], …]}
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    asked = json.load(sys.stdin)
    calls = asked.pop("calls")
    answers = []
    async with (
        stdio_client(StdioServerParameters(**asked)) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        for name, given in calls:
            result = await session.call_tool(name, given)
            text = result.content[0].text
            # The first of these SDKs know no structured content.
            structured = getattr(result, "structuredContent", None)
            same = result.isError or structured is None or json.loads(text) == structured
            size = {"characters": len(text), "bytes": len(text.encode())}
            answers.append({**size, "isError": result.isError, "isSame": same})
    print(json.dumps({"tools": tools, "answers": answers}))


asyncio.run(main())
