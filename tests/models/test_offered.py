"""Where nobody has chosen a model, a service of one's own is asked by the best model that it offers."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from e2e.model import Reply, use
from memtui.base import clock_hot, findings
from memtui.models import choice, log
from memtui.models.call import ModelError
from memtui.models.model import LanguageModel
from tables import rows

pytestmark = pytest.mark.every(step=1)
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


@pytest.mark.parametrize(("names", "model"), rows(__file__, "the best of what is there is asked"))
def test_the_best_of_what_is_there_is_asked(asks, names, model):
    assert asks(names) == model


def test_the_list_is_read_once_a_day(asks, api, monkeypatch):
    assert (asks(["llama-9"]), asks(["qwen-7"])) == ("llama-9", "llama-9")
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
        served = choice.listed({}, service.url)
        assert (served.models, bool(served.fault), served.holds) == ((), True, choice.HOLDS)
    for status in (301, 302, 303, 307, 308):
        service.asked.clear()
        service.answer = (status, {"Location": f"{service.url}/elsewhere"}, b"")
        served = choice.listed({"ANTHROPIC_API_KEY": "k"}, service.url)
        assert (served.models, str(status) in served.fault) == ((), True)
        assert service.asked == [("/v1/models", "k")]


# A model that the service does not have


@pytest.fixture
def lacking(settings, api):
    """Asks a service that refuses each model but those of `api.serves`; returns the models that it was asked for."""
    api.serves = ["llama-9"]
    env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url, "CLAUDE_CODE_SESSION_ID": "s1"}
    api.refusal = Reply([], status=404, error="not_found_error")
    api.script = lambda request: use("answer", fits=True) if request.body["model"] in api.serves else api.refusal

    def ask(*lines):
        root = settings('llm_backend = "api"', *(lines or ['llm_model = "gone-1"']))
        api.requests.clear()
        try:
            LanguageModel(env, root, root).ask("test", "Rules.", "Words.", FORM)
        except ModelError as error:
            ask.error = error
        return [request.body["model"] for request in api.requests]

    ask.env, ask.root = env, settings('llm_backend = "api"')
    ask.findings = lambda: {
        finding.code: findings.with_remedy(finding) for finding in choice.check(env, ask.root, clock_hot.now())
    }
    return ask


@pytest.mark.parametrize("words", ["", "Invalid model name passed in", "The model `gone-1` does not exist."])
def test_a_model_that_is_not_there_is_refused_once(lacking, api, words):
    if words:
        api.refusal = Reply([], status=400, message=words)
    api.offered = ["qwen-7", "llama-9", "llama-embed"]
    api.serves = ["qwen-7"]
    assert (lacking(), lacking(), api.listings) == (["gone-1", "qwen-7"], ["qwen-7"], 1)
    (call, _) = log.newest_first(lacking.root)
    assert (call.model, call.outcome) == ("qwen-7", "ok")
    said = lacking.findings()
    assert "does not have gone-1, so qwen-7 is asked" in said["llm.instead"]
    assert said["llm.ok"].startswith("qwen-7 by api")
    assert "llm.absent" not in said
    served = choice.known(lacking.root)
    assert (served.instead, served.session) == ("qwen-7", "s1")
    api.serves = ["llama-9"]
    assert lacking() == ["qwen-7", "llama-9"], "the one that stood in is gone, too"
    assert lacking('llm_model = "sonnet"') == ["claude-sonnet-5-5", "llama-9"]


@pytest.mark.parametrize(
    ("listing", "fault"),
    [
        (None, "no list of its models (404)"),
        ((500, b"", 0.0), "no list of its models (500)"),
        ((401, b"{}", 0.0), "no list of its models (401)"),
        ((200, b"[1]", 0.0), "a form of its own"),
        ((200, b'{"data": []}', 0.0), "lists no model"),
        ((200, b'{"data": []}', 1.0), "no list of its models within"),
    ],
)
def test_a_service_without_a_list_is_asked_as_one_chose(lacking, api, monkeypatch, listing, fault):
    monkeypatch.setattr(choice, "WAIT", 0.2)
    api.listing = listing
    for _ in range(2):
        assert lacking() == ["gone-1"]
        assert fault in lacking.error.hint
        assert "memtui config set llm_model NAME" in lacking.error.hint
        assert lacking.error.outcome == "absent"
    assert api.listings == 1, "not at each turn"
    assert fault in lacking.findings()["llm.absent"]
    api.serves = ["gone-1"]
    assert lacking() == ["gone-1"]
    assert "llm.absent" not in lacking.findings()


def test_a_service_that_has_nothing_of_its_list_has_no_messages_api(lacking, api):
    api.offered, api.serves = ["llama-9", "qwen-7"], []
    assert lacking() == ["gone-1", "llama-9", "qwen-7"]
    assert "has none of them for the Messages API" in lacking.error.hint
    assert "ANTHROPIC_BASE_URL" in lacking.findings()["llm.absent"]
    assert lacking() == ["gone-1"]


def test_a_server_of_ones_own_needs_no_key(settings, api):
    root = settings('llm_backend = "auto"', 'llm_key = "none"')
    api.offered = ["llama-9"]
    api.will(use("answer", fits=True))
    env = {
        "PATH": "",
        "ANTHROPIC_BASE_URL": api.url,
        "ANTHROPIC_API_KEY": "secret-1",
        "ANTHROPIC_AUTH_TOKEN": "secret-2",
    }
    LanguageModel(env, root, root).ask("test", "Rules.", "Words.", FORM)
    (request,) = api.requests
    assert request.body["model"] == "llama-9"
    assert "secret" not in str(request.headers)
    del env["ANTHROPIC_BASE_URL"]
    with pytest.raises(ModelError, check=lambda error: "ANTHROPIC_BASE_URL" in error.hint):
        LanguageModel(env, settings('llm_backend = "api"', 'llm_key = "none"'), root)


def test_a_model_that_a_person_chooses_is_looked_for_at_once(lacking, api, settings, monkeypatch):
    def chosen(name, **more):
        settings('llm_backend = "api"', f'llm_model = "{name}"')
        return choice.unlisted({**lacking.env, **more}, lacking.root, lacking.root)

    api.offered = ["llama-9", "qwen-7-2026"]
    assert chosen("llama-9") == chosen("qwen-7") == ""
    assert "does not list gone-1; if that is refused, llama-9 is asked. It lists llama-9, qwen-7" in chosen("gone-1")
    api.offered = None
    assert "gives no list of its models (404), so gone-1 is asked" in chosen("gone-1")
    assert "There" not in chosen("gone-1", ANTHROPIC_BASE_URL="http://127.0.0.1:9")
    assert "models: [Errno 111]" in chosen("gone-1", ANTHROPIC_BASE_URL="http://127.0.0.1:9")
    assert chosen("haiku", ANTHROPIC_BASE_URL="") == ""
