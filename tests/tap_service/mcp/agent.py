"""An agent: the official client, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.support.running_service import RunningService


class Agent:
    """Uses the MCP endpoint of a service; ``auth`` is a name and a password, ``mode`` the client's."""

    def __init__(
        self,
        service: RunningService,
        auth: tuple[str, str] | None = None,
        mode: str = "auto",
        headers: dict[str, str] | None = None,
    ) -> None:
        self._url = f"{service.url}/mcp"
        self._auth = auth
        self._mode = mode
        self._headers = headers

    def list_tools(self) -> list[str]:
        return asyncio.run(self._list_tools())

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the answer of a tool, which must not be an error."""
        result = self.ask(tool, **arguments)
        assert not result.is_error, result.content
        answer: dict[str, Any] = result.structured_content
        return answer

    def fail(self, tool: str, **arguments: Any) -> str:
        """Return the error of a tool."""
        result = self.ask(tool, **arguments)
        assert result.is_error, result.content
        text: str = result.content[0].text
        return text

    def ask(self, tool: str, **arguments: Any) -> CallToolResult:
        return asyncio.run(self._ask(tool, arguments))

    async def _list_tools(self) -> list[str]:
        async with self._open_http() as http, self._open_client(http) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    async def _ask(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        async with self._open_http() as http, self._open_client(http) as client:
            return await client.call_tool(tool, arguments)

    def _open_http(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(auth=self._auth, headers=self._headers, timeout=60, verify=False)

    def _open_client(self, http: httpx2.AsyncClient) -> Client:
        return Client(streamable_http_client(self._url, http_client=http), mode=self._mode)
