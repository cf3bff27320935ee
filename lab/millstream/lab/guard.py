"""What stands between the page and everybody else: ASGI middleware.

The page starts programs, so only itself may ask for that. Requests for other hosts are refused by
Starlette's ``TrustedHostMiddleware`` (a name that an attacker points at this machine is another host). Here,
requests that change something must come from the page itself: same origin, JSON, small. Browsers do not let
another site forge any of these headers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: bytes that a request may have
LARGEST = 64 * 1024
#: nothing from elsewhere, nothing inline, in no other page's frame
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Refuses requests that the page itself would not make; adds headers to all answers."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = refused(scope["method"], Headers(scope=scope))
        if refusal is not None:
            await PlainTextResponse(refusal[1] + "\n", refusal[0])(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)


def refused(method: str, headers: Headers) -> tuple[int, str] | None:
    """Return the status and reason for which a request is refused, None when it is not.

    >>> refused("POST", Headers({"host": "localhost:8000", "origin": "http://evil.example"}))
    (403, 'refused: this request comes from another site (http://evil.example)')
    """
    if method in ("GET", "HEAD"):
        return None
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        return 403, f"refused: this request comes from another site ({origin})"
    if site not in ("same-origin", "none"):
        return 403, f"refused: this request comes from another site ({site})"
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return 415, "refused: the body must be application/json"
    length = headers.get("content-length")
    if length is None or not length.isdecimal():
        return 411, "refused: the length of the body must be given"
    if int(length) > LARGEST:
        return 413, f"refused: the body has {length} bytes, at most {LARGEST} are taken"
    return None
