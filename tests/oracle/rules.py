"""Rules that the documentation of the SDKs and the tables of LiteLLM have beyond types."""

import json

import litellm

# The names of providers in LiteLLM.
PROVIDERS = {
    "aliyun": "dashscope",
    "fireworks": "fireworks_ai",
    "kimi": "moonshot",
    "open_router": "openrouter",
    "openai_resp": "openai",
    "qwen_cloud": "dashscope",
    "together": "together_ai",
}

# Settings under their names in chat completions, which are those of LiteLLM's lists.
CHAT_SETTINGS = ("temperature", "top_p", "stop", "seed", "reasoning_effort", "response_format", "stream_options")


def broken(record):
    """The broken rules, each with its place."""
    body, name = record["body"], record["format"]
    text = json.dumps(body)
    facts = litellm.model_cost.get(body.get("model", ""), {}) or litellm.model_cost.get(strip(record["model"]), {})
    settings = body.get("generationConfig", body)
    yield from sampling(settings, facts)
    yield from effort(body, settings, facts)
    if name in ("chat", "mistral"):
        yield from supported(record)
    if name == "anthropic":
        yield from anthropic(body)
    marks = text.count('"cache_control"') + text.count('"prompt_cache_breakpoint"')
    if marks > 4:
        yield "marks", f"{marks} are more than 4"
    if body.get("prompt_cache_options", {}).get("mode") == "explicit" and marks == 0:
        yield "prompt_cache_options", "without a mark this switches the cache off"


def strip(model):
    """Gemini's models are in the path. Their names have no ending in the table."""
    return model


def sampling(settings, facts):
    if facts.get("supports_sampling_params") is False:
        for name in ("temperature", "top_p", "topP"):
            # 1 is what they do anyhow.
            if settings.get(name, 1) != 1:
                yield name, "the model takes it no longer"


def effort(body, settings, facts):
    word = body.get("reasoning_effort") or (body.get("reasoning") or {}).get("effort")
    word = word or (body.get("output_config") or {}).get("effort")
    word = word or (settings.get("thinkingConfig") or {}).get("thinkingLevel")
    if word and facts.get(f"supports_{word.lower()}_reasoning_effort") is False:
        yield "effort", f"the model has no effort {word}"
    if word and facts.get("supports_reasoning") is False:
        yield "effort", "the model does not reason"


def supported(record):
    body = record["body"]
    provider = record["model"].split("/")[0]
    known = litellm.get_supported_openai_params(body["model"], PROVIDERS.get(provider, provider))
    for name in CHAT_SETTINGS if known else ():
        # 1 is the default, which all take.
        if name in body and name not in known and body[name] != 1:
            yield name, "LiteLLM does not send it to this model"


def anthropic(body):
    if any(not stop.strip() for stop in body.get("stop_sequences", [])):
        yield "stop_sequences", "one has white space alone"
    budget = (body.get("thinking") or {}).get("budget_tokens")
    if budget is not None and not 1024 <= budget < body["max_tokens"]:
        yield "thinking.budget_tokens", "is not from 1024 to less than max_tokens"
    if budget is not None and body.get("temperature", 1) != 1:
        yield "temperature", "is not 1 although the model thinks"
    if '"$ref": "#"' in json.dumps(body.get("output_config", {})):
        yield "output_config.format.schema", "contains itself"
