"""Rules that the documentation of the SDKs and the tables of LiteLLM have beyond types."""

import json

import litellm
from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import VertexGeminiConfig

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
CHAT_SETTINGS = ("temperature", "top_p", "stop", "seed", "reasoning_effort", "response_format")

DECLARED = ["reason", "stars", "next"]


def broken(record):
    """The broken rules of a request, each with its place."""
    body, name = record["body"], record["format"]
    settings = body.get("generationConfig", body)
    provider, own = record["model"].split("/", 1)
    provider = PROVIDERS.get(provider, provider)
    sent = body.get("model") or record["path"].split("/models/")[-1].split(":")[0]
    if sent != own and facts_of(provider, own):
        yield "model", f"{own} is a model, and {sent} was asked for"
    facts = facts_of(provider, sent)
    yield from sampling(settings, facts)
    yield from effort(body, settings, facts)
    if name == "gemini" and VertexGeminiConfig.is_gemini_3_or_newer(sent):
        if "thinkingBudget" in settings.get("thinkingConfig", {}):
            yield "generationConfig.thinkingConfig", "has a budget, and the model takes levels"
    if name == "chat":
        yield from supported(body, provider)
    if name == "anthropic":
        yield from anthropic(body)
    # As `Review` declares them. A model writes them in this order.
    if record["job"].endswith(" typed") and any(names != DECLARED for names in properties(body)):
        yield "schema", f"its properties are not in their order, {', '.join(DECLARED)}"
    if marks(body) > 4:
        yield "marks", f"{marks(body)} are more than 4"
    # No provider caches less than 1,024 tokens.
    is_long = len(json.dumps(body)) > 10_000
    if is_long and body.get("prompt_cache_options", {}).get("mode") == "explicit" and marks(body) == 0:
        yield "prompt_cache_options", "without a mark this switches the cache off"


def properties(json):
    """The names of the properties in each schema of the flow `typed`."""
    if isinstance(json, dict) and set(json.get("properties", ())) == set(DECLARED):
        yield list(json["properties"])
    for member in json.values() if isinstance(json, dict) else json if isinstance(json, list) else ():
        yield from properties(member)


def facts_of(provider, model):
    """What LiteLLM knows of a model, if it does."""
    return litellm.model_cost.get(f"{provider}/{model}") or litellm.model_cost.get(model) or {}


def marks(body):
    text = json.dumps(body)
    return text.count('"cache_control"') + text.count('"prompt_cache_breakpoint"')


def unequal(records):
    """The requests of Responses that have fewer marks than chat completions: one for each, or for two in a row.

    A mark of a reply moves to the block before it, where there may be one already.
    """
    chat = {record["job"]: marks(record["body"]) for record in records if record["format"] == "chat"}
    for record in records:
        other = chat.get(record["job"].replace("openai_resp/", "openai/"))
        if record["format"] == "responses" and other is not None and not (other + 1) // 2 <= marks(record["body"]) <= other:
            yield record, f"{marks(record['body'])} instead of the {other} of chat completions"


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


def supported(body, provider):
    known = litellm.get_supported_openai_params(body["model"], provider)
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
