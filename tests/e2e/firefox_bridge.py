"""Debian's Firefox for Playwright: starts it with the given arguments and passes WebDriver BiDi on.

    python -m tests.e2e.firefox_bridge ARGUMENTS

Playwright sends every page a command that Firefox ESR does not know (media features), and takes its refusal for a failure. The
bridge answers that command itself; colour scheme and motion are set by preferences instead.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import suppress
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, web

_PROGRAM = "firefox-esr"
_LISTENS = "WebDriver BiDi listening on "
_UNKNOWN_TO_FIREFOX = {"emulation.setMediaFeaturesOverride"}
#: pictures and downloads are one message each
_MAX_MESSAGE = 256 * 2**20

_Socket = ClientWebSocketResponse | web.WebSocketResponse


async def run_firefox(arguments: list[str]) -> int:
    """Run Firefox until it ends; its address, printed as it prints its own, is the bridge's."""
    firefox = await asyncio.create_subprocess_exec(_PROGRAM, *arguments, stderr=asyncio.subprocess.PIPE)
    for ended in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(ended, firefox.terminate)
    assert firefox.stderr
    runner: web.AppRunner | None = None
    async for line in firefox.stderr:
        text = line.decode(errors="replace").rstrip()
        if runner is None and text.startswith(_LISTENS):
            runner, text = await _start_bridge(text.removeprefix(_LISTENS))
        print(text, file=sys.stderr, flush=True)
    status = await firefox.wait()
    if runner:
        await runner.cleanup()
    return status


async def _start_bridge(address: str) -> tuple[web.AppRunner, str]:
    async def serve_client(request: web.Request) -> web.WebSocketResponse:
        client = web.WebSocketResponse(max_msg_size=_MAX_MESSAGE)
        await client.prepare(request)
        async with (
            ClientSession() as session,
            session.ws_connect(address + request.path, max_msg_size=_MAX_MESSAGE) as firefox,
        ):
            answers = asyncio.create_task(_pass_on(firefox, client))
            async for message in client:
                if message.type is WSMsgType.TEXT:
                    if answer := _answer_for_firefox(message.data):
                        await client.send_str(answer)
                    else:
                        await firefox.send_str(message.data)
            await firefox.close()
            await answers
        return client

    application = web.Application()
    application.router.add_get("/{path:.*}", serve_client)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    return runner, f"{_LISTENS}ws://{host}:{port}"


async def _pass_on(source: _Socket, target: _Socket) -> None:
    with suppress(ConnectionResetError):
        async for message in source:
            if message.type is WSMsgType.TEXT:
                await target.send_str(message.data)
        await target.close()


def _answer_for_firefox(message: str) -> str | None:
    command: dict[str, Any] = json.loads(message)
    if command["method"] not in _UNKNOWN_TO_FIREFOX:
        return None
    return json.dumps({"type": "success", "id": command["id"], "result": {}})


if __name__ == "__main__":
    sys.exit(asyncio.run(run_firefox(sys.argv[1:])))
