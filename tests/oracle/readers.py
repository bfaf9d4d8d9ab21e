"""Readings of streams by the SDKs of the providers: text, finish, tokens.

A reader asks an SDK to call an address, and returns what a program would see. Only the finish is put in the words of
columnar, by the table of LiteLLM, which is of nobody's here.
"""

import anthropic
import cohere
import ollama
import openai
from google import genai
from litellm.litellm_core_utils.core_helpers import _FINISH_REASON_MAP
from mistralai.client import Mistral

WORDS = {"stop": "stop", "length": "length", "content_filter": "refused", "tool_calls": "other", "function_call": "other"}
MESSAGES = [{"role": "user", "content": "Hello!"}]


def finish(word):
    """The word of columnar for a word of a provider; words that LiteLLM does not know are `other`."""
    return word and WORDS.get(_FINISH_REASON_MAP.get(word), "other")


def reading(text, word, usage, refused=False, longer=0):
    """`usage` has the tokens of the request with those from the cache and to it, of the reply, from the cache and to it.

    `longer` are those to the cache for the longer of two lifetimes.
    """
    word_of_ours = "refused" if refused else finish(word)
    return {"text": text, "word": word, "finish": word_of_ours, "usage": usage, "longer": longer}


def count(value):
    """A count that may be missing."""
    return int(value or 0)


def read_chat(url):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    text, word, usage, refused = "", None, None, False
    for chunk in client.chat.completions.create(model="test", messages=MESSAGES, stream=True):
        choice = next((choice for choice in chunk.choices if choice.index == 0), None)
        if choice:
            text += choice.delta.content or ""
            refused |= bool(choice.delta.refusal)
            word = choice.finish_reason or word
        usage = chat_usage(chunk, choice) or usage
    return reading(text, word, usage, refused)


def chat_usage(chunk, choice):
    """The SDK keeps members that it does not know. Groq and Kimi put the usage there."""
    usage = chunk.usage or (chunk.model_extra.get("x_groq") or {}).get("usage")
    usage = usage or (choice and (choice.model_extra or {}).get("usage"))
    if not usage:
        return None
    usage = usage if isinstance(usage, dict) else usage.to_dict()
    details = usage.get("prompt_tokens_details") or {}
    # DeepSeek's and Moonshot's names of it.
    read = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or usage.get("cached_tokens")
    counts = usage["prompt_tokens"], usage["completion_tokens"], read, details.get("cache_write_tokens")
    return [count(value) for value in counts]


def read_responses(url):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    deltas, last = "", None
    for event in client.responses.create(model="test", input="Hello!", stream=True):
        if event.type == "error":
            raise ValueError(event.message)
        if event.type == "response.output_text.delta":
            deltas += event.delta
        last = event.response if hasattr(event, "response") else last
    if last.status == "failed":
        raise ValueError(last.error.message)
    why = last.incomplete_details and last.incomplete_details.reason
    word = {"max_output_tokens": "length"}.get(why, why) or {"completed": "stop"}.get(last.status)
    parts = [part for item in last.output if item.type == "message" for part in item.content]
    tokens = last.usage
    details = tokens.input_tokens_details
    usage = [tokens.input_tokens, tokens.output_tokens, details.cached_tokens, count(details.cache_write_tokens)]
    lifetimes = details.cache_write_tokens_details
    refused = any(part.type == "refusal" for part in parts)
    return reading(last.output_text or deltas, word, usage, refused, lifetimes.ttl_12h_tokens if lifetimes else 0)


def read_anthropic(url):
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    with client.messages.stream(model="test", max_tokens=64, messages=MESSAGES) as stream:
        message = stream.get_final_message()
    usage = message.usage
    read, written = count(usage.cache_read_input_tokens), count(usage.cache_creation_input_tokens)
    text = "".join(block.text for block in message.content if block.type == "text")
    counts = [usage.input_tokens + read + written, usage.output_tokens, read, written]
    longer = usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation else 0
    return reading(text, message.stop_reason, counts, longer=longer)


def read_gemini(url):
    client = genai.Client(api_key="none", http_options={"base_url": url})
    text, word, usage, refused = "", None, None, False
    for chunk in client.models.generate_content_stream(model="test", contents="Hello!"):
        blocked = chunk.prompt_feedback and chunk.prompt_feedback.block_reason
        refused |= bool(blocked)
        word = blocked.value if blocked else word
        for candidate in (chunk.candidates or [])[:1]:
            parts = (candidate.content and candidate.content.parts) or []
            text += "".join(part.text or "" for part in parts if not part.thought)
            word = candidate.finish_reason.value if candidate.finish_reason else word
        tokens = chunk.usage_metadata
        if tokens and tokens.prompt_token_count is not None:
            output = count(tokens.candidates_token_count) + count(tokens.thoughts_token_count)
            usage = [tokens.prompt_token_count, output, count(tokens.cached_content_token_count), 0]
    return reading(text, word, usage, refused)


def read_cohere(url):
    client = cohere.ClientV2(api_key="none", base_url=url)
    text, word, usage = "", None, None
    for event in client.chat_stream(model="test", messages=MESSAGES):
        if event.type == "content-delta":
            text += event.delta.message.content.text or ""
        elif event.type == "message-end":
            word, tokens = event.delta.finish_reason, event.delta.usage
            counts = tokens and [tokens.tokens.input_tokens, tokens.tokens.output_tokens, tokens.cached_tokens, 0]
            usage = counts and [count(value) for value in counts]
    return reading(text, word, usage)


def read_ollama(url):
    text, word, usage = "", None, None
    for part in ollama.Client(host=url).chat(model="test", messages=MESSAGES, stream=True):
        text += part.message.content or ""
        if part.done:
            # The reason is optional.
            word = part.done_reason or "stop"
            usage = [count(part.prompt_eval_count), count(part.eval_count), 0, 0]
    return reading(text, word, usage)


def read_mistral(url):
    client = Mistral(api_key="none", server_url=url)
    text, word, usage = "", None, None
    for event in client.chat.stream(model="test", messages=MESSAGES):
        for choice in event.data.choices:
            content = choice.delta.content or ""
            parts = [content] if isinstance(content, str) else [getattr(part, "text", "") for part in content]
            text += "".join(parts)
            word = choice.finish_reason or word
        tokens = event.data.usage
        if tokens:
            details = (tokens.additional_properties or {}).get("prompt_tokens_details") or {}
            usage = [tokens.prompt_tokens, tokens.completion_tokens, count(details.get("cached_tokens")), 0]
    return reading(text, word, usage)


# The other providers have OpenAI's chat completions.
READERS = {
    "anthropic": read_anthropic,
    "cohere": read_cohere,
    "gemini": read_gemini,
    "mistral": read_mistral,
    "ollama": read_ollama,
    "openai_resp": read_responses,
}


def read(provider, url):
    try:
        return READERS.get(provider, read_chat)(url) | {"failed": False}
    except Exception as error:
        return reading("", None, None) | {"failed": True, "why": type(error).__name__}

