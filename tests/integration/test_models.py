"""Which model plays a role: an endpoint's or the offline demo, without anybody noticing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from structlog.testing import capture_logs

from memory.errors import ConfigurationError
from nodes.answers import RouterAnswer
from nodes.business import Business, Intent
from nodes.endpoint import ModelUnavailable, ask
from nodes.models import OFFLINE, Models
from nodes.settings import NodeSettings, Role
from nodes.structured import ask_structured
from tests.support.model_clients import BUSINESS, QUESTION, TOOL, Watcher, models_for, within
from tests.support.model_replies import Reply, Usage, server_error
from tests.support.model_server import ModelServer, RoleQueues


class Echo(BaseChatModel):
    """An offline model: calls a forced tool with a fixed object, else says which role it plays."""

    role: str
    streams: bool = False

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._message(kwargs.get("tools")))])

    def _message(self, tools: Sequence[dict[str, Any]] | None) -> AIMessage:
        if self.role != "router" or not tools:
            return AIMessage(f"演示：{self.role}")
        args = {"intents": [{"name": "chat", "confidence": 1}]}
        return AIMessage("", tool_calls=[{"name": tools[0]["function"]["name"], "args": args, "id": "1"}])


class StreamingEcho(Echo):
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for character in self._message(None).text:
            yield ChatGenerationChunk(message=AIMessageChunk(content=character))


def offline(kind: type[Echo]) -> Models:
    def make(role: Role, settings: NodeSettings) -> BaseChatModel:
        return kind(role=role)

    business = Business("demo", "", [Intent("chat", "")], tools=lambda _: [], offline=make)
    return Models(NodeSettings(_env_file=None, openai_api_key=None, openai_base_url=None), business)


@pytest.fixture(autouse=True)
def no_endpoint_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("kind", [Echo, StreamingEcho])
async def test_an_offline_model_is_asked_like_any_other(kind: type[Echo]) -> None:
    models = offline(kind)
    watcher = Watcher()
    plain = await ask(models, "chat", QUESTION, tools=[TOOL], deadline=within(5))
    streamed = await ask(models, "reviewer", QUESTION, deadline=within(5), on_text=watcher)
    answer, _ = await ask_structured(models, "router", RouterAnswer, QUESTION, deadline=within(5))
    assert plain.message.text == "演示：chat"
    assert streamed.message.text == watcher.shown == "演示：reviewer"
    assert answer.intents[0].name == "chat"
    assert (plain.model, plain.usage.estimated) == (OFFLINE, True)


def test_without_endpoint_and_demo_model_the_cure_is_named() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        Models(NodeSettings(_env_file=None), BUSINESS)


def test_the_endpoint_s_client_is_not_loaded_for_the_offline_model() -> None:
    code = (
        "import sys, nodes.structured, nodes.models, nodes.usage\n"
        "assert not {'openai', 'langchain_openai'} & set(sys.modules), 'loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_a_base_url_alone_is_enough(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", Reply("ok"))
    async with models_for(server, openai_api_key=None) as models:
        await models.warm()
        assert (await ask(models, "chat", QUESTION, deadline=within(5))).message.text == "ok"


async def test_a_cancelled_turn_ends_its_request(server: ModelServer, script: RoleQueues) -> None:
    script.add("chat", Reply("late", delay=30))
    async with models_for(server) as models:
        asking = asyncio.create_task(ask(models, "chat", QUESTION, deadline=within(60)))
        async with asyncio.timeout(5):
            while not server.requests:  # noqa: ASYNC110  # the server runs in another thread
                await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert len(server.requests) == 1


async def test_a_hundred_questions_at_once_share_the_connections(
    server: ModelServer, script: RoleQueues
) -> None:
    script.add("chat", *[Reply("ok")] * 100)
    async with models_for(server) as models:
        replies = await asyncio.gather(
            *[ask(models, "chat", QUESTION, deadline=within(10)) for _ in range(100)]
        )
    assert {reply.message.text for reply in replies} == {"ok"}
    assert len({reply.message.id for reply in replies}) == 100


@pytest.fixture(scope="module")
def spans() -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


async def test_each_request_is_a_span_under_the_genai_names(
    server: ModelServer, script: RoleQueues, spans: InMemorySpanExporter
) -> None:
    spans.clear()
    script.add("chat", server_error(), Reply("保密内容", usage=Usage(10, 2, cached=4)))
    async with models_for(server) as models:
        await ask(models, "chat", QUESTION, deadline=within(5))
    failed, answered = [span for span in spans.get_finished_spans() if span.name == "chat chat"]
    assert failed.attributes is not None
    assert answered.attributes is not None
    assert failed.attributes["error.type"] == "server"
    assert not failed.status.is_ok
    assert answered.attributes["gen_ai.operation.name"] == "chat"
    assert answered.attributes["gen_ai.request.model"] == "chat"
    assert answered.attributes["gen_ai.usage.input_tokens"] == 10
    assert answered.attributes["gen_ai.usage.output_tokens"] == 2
    assert answered.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert answered.attributes["steward.role"] == "chat"
    assert "保密内容" not in answered.to_json()


async def test_a_key_that_the_endpoint_repeats_is_not_logged(server: ModelServer, script: RoleQueues) -> None:
    said = "Incorrect API key provided: sk-proj-abcdef1234567890."
    script.add("chat", Reply(status=401, error={"message": said}))
    async with models_for(server) as models:
        with capture_logs() as logs, pytest.raises(ModelUnavailable):
            await ask(models, "chat", QUESTION, deadline=within(5))
    [line] = [line for line in logs if line["event"] == "model request failed"]
    assert (line["kind"], line["status"], line["role"]) == ("wrong_key", 401, "chat")
    assert "abcdef1234567890" not in str(logs)
