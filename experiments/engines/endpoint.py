"""HTTP calls to an OpenAI-compatible endpoint: bounded, timed, retried; errors say why."""

import asyncio
import json
import random
import time
import urllib.parse
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import aiohttp

from experiments.engines.endpoint_errors import MalformedReplyError, Names, refusal
from experiments.engines.retrying import RetryPolicy, retry_after_s
from stores.errors import InvalidInputError
from stores.roles import EngineError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
MAX_REPLY_BYTES = 64 * 1024 * 1024

T = TypeVar("T")
Body = Mapping[str, Any]
Sleep = Callable[[float], Awaitable[None]]
# Reads a reply's JSON; a `MalformedReplyError` is tried again like a failed call.
Parse = Callable[[Mapping[str, Any], float], T]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint and how it is talked to. `api_key` appears in no message and no `repr`.

    Raises `InvalidInputError` where `base_url` is no plain http(s) address.
    """

    base_url: str
    api_key: str = field(default="", repr=False)
    key_name: str = ""
    concurrency: int = 8
    connect_timeout_s: float = 10.0
    timeout_s: float = 300.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    sleep: Sleep = asyncio.sleep
    rng: random.Random = field(default_factory=random.Random, repr=False)

    def __post_init__(self) -> None:
        url = urllib.parse.urlsplit(self.base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.username or url.query:
            raise InvalidInputError(
                "base_url is no address of an endpoint",
                where="base_url",
                expected="http(s)://host[:port]/v1, without a user, a password or a query",
                hint="Put the key into an environment variable and name it in api_key_env",
            )

    @property
    def _names(self) -> Names:
        return Names(self.base_url, self.api_key, self.key_name)

    @property
    def root_url(self) -> str:
        """The address above `/v1`, where servers keep what OpenAI's interface lacks."""
        return self.base_url.rstrip("/").removesuffix("/v1")

    def post_all(self, path: str, bodies: Sequence[Body], parse: Parse[T]) -> list[T]:
        """POST every body, at most `concurrency` at a time, and return the replies in order."""
        url = self.base_url.rstrip("/") + path
        return asyncio.run(self._all("POST", url, bodies, parse))

    def post(self, url: str, body: Body, parse: Parse[T]) -> T:
        """POST one body to a whole address."""
        return asyncio.run(self._all("POST", url, [body], parse))[0]

    def get(self, url: str, parse: Parse[T]) -> T:
        """GET a whole address."""
        return asyncio.run(self._all("GET", url, [{}], parse))[0]

    async def _all(self, method: str, url: str, bodies: Sequence[Body], parse: Parse[T]) -> list[T]:
        slots = asyncio.Semaphore(self.concurrency)
        async with self._session() as session:

            async def one(body: Body) -> T:
                async with slots:
                    return await self._tried(session, method, url, body, parse)

            return await _together([one(body) for body in bodies])

    async def _tried(
        self,
        session: aiohttp.ClientSession,
        method: str,
        url: str,
        body: Body,
        parse: Parse[T],
    ) -> T:
        """Try one call until it gives an answer, an error that will not go away, or tries end."""
        tried = 0
        while True:
            tried += 1
            asked: float | None = None
            try:
                return await self._once(session, method, url, body, parse)
            except _HttpError as failure:
                error, asked = failure.error, failure.retry_after_s
            except EngineError as failure:
                error = failure
            if not error.retryable or tried >= self.retry.tries:
                raise _after(error, tried)
            wait = self.retry.wait_s(tried, self.rng) if asked is None else asked
            if wait > self.retry.longest_wait_s:
                raise EngineError(f"{error} It asks to wait {wait:,.0f} s.", retryable=True)
            await self.sleep(wait)

    async def _once(
        self,
        session: aiohttp.ClientSession,
        method: str,
        url: str,
        body: Body,
        parse: Parse[T],
    ) -> T:
        started = time.perf_counter()
        content = None if method == "GET" else json.dumps(body)
        try:
            async with session.request(method, url, data=content, allow_redirects=False) as reply:
                text = await self._read(reply)
                if reply.status != 200:
                    raise _HttpError(
                        refusal(reply.status, text, self._names), retry_after_s(reply.headers)
                    )
        except TimeoutError as error:
            raise EngineError(
                f"the endpoint {self.base_url} is too slow: no answer within "
                f"{self.timeout_s:g} s (connecting: {self.connect_timeout_s:g} s).",
                retryable=True,
            ) from error
        except aiohttp.ClientConnectorError as error:
            raise EngineError(
                f"the endpoint {self.base_url} is down: {error.strerror or error}.", retryable=True
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise EngineError(
                f"the endpoint {self.base_url} broke off: {type(error).__name__}.", retryable=True
            ) from error
        return parse(self._json(text), time.perf_counter() - started)

    async def _read(self, reply: aiohttp.ClientResponse) -> str:
        content = bytearray()
        async for chunk in reply.content.iter_chunked(64 * 1024):
            content += chunk
            if len(content) > MAX_REPLY_BYTES:
                raise EngineError(
                    f"the endpoint {self.base_url} sent more than {MAX_REPLY_BYTES:,} bytes."
                )
        return content.decode("utf-8", errors="replace")

    def _json(self, text: str) -> Mapping[str, Any]:
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise MalformedReplyError(
                f"the endpoint {self.base_url} sent broken JSON ({len(text):,} characters, "
                f"{error.msg} at {error.pos:,})."
            ) from error
        if not isinstance(value, dict):
            raise MalformedReplyError(f"the endpoint {self.base_url} sent no JSON object.")
        return cast(Mapping[str, Any], value)

    def _session(self) -> aiohttp.ClientSession:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        host = urllib.parse.urlsplit(self.base_url).hostname
        return aiohttp.ClientSession(
            headers=headers,
            connector=aiohttp.TCPConnector(limit=self.concurrency),
            timeout=aiohttp.ClientTimeout(total=self.timeout_s, connect=self.connect_timeout_s),
            # A proxy of the environment is for other machines, never for this one.
            trust_env=host not in LOOPBACK,
        )


class _HttpError(Exception):
    """A status that is not 200, as an error, and the wait that the server asked for."""

    def __init__(self, error: EngineError, retry_after: float | None) -> None:
        super().__init__(str(error))
        self.error, self.retry_after_s = error, retry_after


async def _together(calls: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Await all calls; at the first error, cancel the others and raise it."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _after(error: EngineError, tried: int) -> EngineError:
    """Say how often a call was tried, where it was more than once."""
    if tried == 1:
        return error
    return EngineError(f"{str(error).rstrip('.')}; tried {tried} times.", retryable=True)
