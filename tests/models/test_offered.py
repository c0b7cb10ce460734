"""Where nobody has chosen a model, a service of one's own is asked by the best model that it offers."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from e2e.model import use
from memtui.models import choice
from memtui.models.model import LanguageModel

pytestmark = pytest.mark.slow
FORM = {"type": "object", "properties": {"fits": {"type": "boolean"}}, "required": ["fits"]}


@pytest.fixture
def asks(settings, api, monkeypatch):
    def ask(names, *lines):
        root = settings('llm_backend = "api"', *lines)
        api.offered = names
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
        api.will(use("answer", fits=True))
        LanguageModel(env, root, root).ask("test", "Rules.", "Words.", FORM)
        return api.requests[-1].body["model"]

    return ask


@pytest.mark.parametrize(
    ("names", "model"),
    [
        (None, "claude-haiku-5-5"),
        ([], "claude-haiku-5-5"),
        (["llama-9", "qwen-7"], "llama-9"),
        (["qwen-7", "claude-opus-9", "my-sonnet"], "my-sonnet"),
        (["qwen-7", "our-haiku"], "our-haiku"),
        (["qwen3-1b", "qwen3-70b", "qwen3-8b"], "qwen3-70b"),
        (["llama3.2:3b-instruct-q4", "mixtral:8x7b", "gemma3:270m"], "mixtral:8x7b"),
        (["qwen3-235b-a22b", "llama-3.1-70B-4bit"], "qwen3-235b-a22b"),
        (["gemma-3n-e4b", "some-model", "phi-3.8b"], "some-model"),
        (["bge-m3", "text-embedding-9000b", "whisper-70b", "tts-100b", "reranker-90b", "qwen-4b"], "qwen-4b"),
        (["nomic-embed-text", "haiku-reranker"], "claude-haiku-5-5"),
    ],
)
def test_the_best_of_what_is_there_is_asked(asks, names, model):
    assert asks(names) == model


def test_the_list_is_read_once_a_day(asks, api, monkeypatch):
    assert asks(["llama-9"]) == "llama-9"
    assert asks(["qwen-7"]) == "llama-9"
    assert asks(["qwen-7"], 'llm_model = "sonnet"') == "claude-sonnet-5-5", "what a person chose, whatever there is"
    now = choice.clock_hot.now()
    monkeypatch.setattr(choice.clock_hot, "now", lambda: now + 2 * choice.HOLDS)
    assert asks(["qwen-7"]) == "qwen-7"


def test_a_service_that_was_down_is_asked_again(settings, api):
    root = settings('llm_backend = "api"')
    env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    assert LanguageModel(env, root, root).name == "claude-haiku-5-5"
    api.offered = ["llama-9"]
    assert LanguageModel({**env, "ANTHROPIC_BASE_URL": api.url}, root, root).name == "llama-9"
    path = f"{root}/run/llm-models.json"
    with open(path) as file:
        assert "127.0.0.1:9" not in file.read()


@pytest.fixture
def service():
    """A service that answers each request with `service.answer`, and notes who asked with which key."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append((self.path, self.headers.get("x-api-key")))
            status, headers, data = server.answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.asked, server.url = [], f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_list_of_another_shape_is_none_and_the_key_goes_nowhere_else(service):
    for data in (b"", b"[]", b"{", b'{"data": 7}', b'{"data": [7, {"id": null}, {"id": ""}]}'):
        service.answer = (200, {}, data)
        assert choice.listed({}, service.url) == []
    for status in (301, 302, 303, 307, 308):
        service.asked.clear()
        service.answer = (status, {"Location": f"{service.url}/elsewhere"}, b"")
        assert choice.listed({"ANTHROPIC_API_KEY": "k"}, service.url) is None
        assert service.asked == [("/v1/models", "k")]
