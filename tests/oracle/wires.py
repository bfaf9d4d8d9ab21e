"""The types of requests, and the addresses and headers, as the SDK of each provider has them."""

import dataclasses
import inspect
import typing

import cohere
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google.genai import types as gemini
from mistralai.client.models import ChatCompletionStreamRequest
from ollama._types import ChatRequest, Message, Options
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

OMITTED = ("self", "request_options", "return")


def parameters(method, name, **more):
    """A type whose members are the parameters of a method."""
    hints = typing.get_type_hints(method)
    required = {one.name for one in inspect.signature(method).parameters.values() if one.default is inspect.Parameter.empty}
    members = {key: of if key in required else typing.NotRequired[of] for key, of in hints.items() if key not in OMITTED}
    return typing.TypedDict(name, members | more)


# The SDK sends the parts of one configuration to these places.
GeminiRequest = typing.TypedDict(
    "GeminiRequest",
    {
        "contents": list[gemini.Content],
        "systemInstruction": typing.NotRequired[gemini.Content],
        "generationConfig": typing.NotRequired[gemini.GenerationConfig],
        "safetySettings": typing.NotRequired[list[gemini.SafetySetting]],
        "cachedContent": typing.NotRequired[str],
    },
)

# The SDK reads images from files, and sends base64.
OllamaMessage = typing.TypedDict(
    "OllamaMessage",
    {name: typing.NotRequired[field.annotation] for name, field in Message.model_fields.items()}
    | {"role": str, "images": typing.NotRequired[list[bytes]]},
)

# The SDK takes any object as a message and as options. The server alone knows `truncate` and `shift`.
OllamaRequest = typing.TypedDict(
    "OllamaRequest",
    {name: typing.NotRequired[field.annotation] for name, field in ChatRequest.model_fields.items()}
    | {
        "model": str,
        "messages": list[OllamaMessage],
        "options": typing.NotRequired[Options],
        "truncate": typing.NotRequired[bool],
        "shift": typing.NotRequired[bool],
    },
)

# Older models take the first two; `rules` has the ones that do not.
AnthropicRequest = typing.TypedDict(
    "AnthropicRequest",
    {"temperature": float, "top_p": float} | typing.get_type_hints(MessageCreateParamsStreaming, include_extras=True),
    total=False,
)


@dataclasses.dataclass
class Wire:
    type: type
    # How the path ends, and the header of the key.
    path: str
    key: str = "authorization"
    headers: tuple = ()


WIRES = {
    "anthropic": Wire(AnthropicRequest, "/v1/messages", "x-api-key", ("anthropic-version",)),
    "chat": Wire(CompletionCreateParamsStreaming, "/v1/chat/completions"),
    "cohere": Wire(parameters(cohere.ClientV2.chat_stream, "CohereRequest", stream=bool), "/v2/chat"),
    "gemini": Wire(GeminiRequest, ":streamGenerateContent", "x-goog-api-key"),
    "mistral": Wire(ChatCompletionStreamRequest, "/v1/chat/completions"),
    "ollama": Wire(OllamaRequest, "/api/chat", ""),
    "responses": Wire(ResponseCreateParamsStreaming, "/v1/responses"),
}


def head(wire, record):
    """What is wrong with the path and the headers."""
    if not record["path"].endswith(wire.path):
        yield "path", f"{record['path']} does not end with {wire.path}"
    for name in (wire.key, *wire.headers, "content-type"):
        if name and name not in record["headers"]:
            yield "headers", f"{name} is missing"
