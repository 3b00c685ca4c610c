"""A small OpenAI-compatible server on the loopback interface, for tests of endpoints and failures.

Each test says what the server does with the n-th call; the server keeps what it was asked.
"""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODEL = "demo-model"
VECTOR = [3.0, 4.0]


@dataclass
class Answer:
    """One HTTP reply. `text` replaces the JSON body; `wait_s` comes before the reply."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    wait_s: float = 0.0
    drop: bool = False


@dataclass
class Asked:
    """What one call asked."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


def completion(text: str | None = "QX-4821", **changes: Any) -> dict[str, Any]:
    """Return a chat completion as vLLM's server sends it; `changes` replace top-level parts."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": None},
        **changes,
    }


def choice(text: str | None, finish: str | None, **message: Any) -> dict[str, Any]:
    """Return the `choices` of a completion that ended for another reason."""
    content = {"role": "assistant", "content": text, **message}
    return {"choices": [{"index": 0, "message": content, "finish_reason": finish}]}


class FakeEndpoint:
    """Serves `/v1/models`, `/v1/chat/completions`, `/v1/embeddings`, and vLLM's two extras."""

    def __init__(self, *, vllm: str = "", max_model_len: int | None = None) -> None:
        self.vllm, self.max_model_len = vllm, max_model_len
        self.models = [MODEL]
        self.answer: Callable[[int, Asked], Answer] = lambda n, asked: Answer(completion())
        self.asked: list[Asked] = []
        self.in_flight = self.most_in_flight = 0
        self.lock = threading.Lock()

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"endpoint": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """The address for a plan's `base_url`."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def chats(self) -> list[Asked]:
        """Every chat call so far."""
        return [asked for asked in self.asked if asked.path == "/v1/chat/completions"]

    def respond(self, asked: Asked) -> Answer:
        """Choose the answer to one call."""
        with self.lock:
            self.asked.append(asked)
            number = len(self.chats())
        match asked.path:
            case "/v1/models":
                cards = [
                    {"id": m, "root": m, "max_model_len": self.max_model_len} for m in self.models
                ]
                return Answer({"data": cards})
            case "/version" if self.vllm:
                return Answer({"version": self.vllm})
            case "/tokenize" if self.vllm:
                return Answer({"count": len(asked.body["prompt"].split())})
            case "/v1/embeddings":
                rows = enumerate(asked.body["input"])
                data = [
                    {"index": i, "embedding": [v * (1 + len(t)) for v in VECTOR]} for i, t in rows
                ]
                return Answer({"model": MODEL, "data": data[::-1]})
            case "/v1/chat/completions":
                return self.answer(number, asked)
        return Answer({"detail": "Not Found"}, status=404)


class _Handler(BaseHTTPRequestHandler):
    endpoint: FakeEndpoint
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self._serve(json.loads(self.rfile.read(length) or b"{}"))

    def _serve(self, body: dict[str, Any]) -> None:
        endpoint = self.endpoint
        with endpoint.lock:
            endpoint.in_flight += 1
            endpoint.most_in_flight = max(endpoint.most_in_flight, endpoint.in_flight)
        try:
            answer = endpoint.respond(Asked(self.path, body, dict(self.headers)))
            time.sleep(answer.wait_s)
            self._send(answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with endpoint.lock:
                endpoint.in_flight -= 1

    def _send(self, answer: Answer) -> None:
        if answer.drop:
            self.close_connection = True
            return
        content = (json.dumps(answer.body) if answer.text is None else answer.text).encode()
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(content)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""
