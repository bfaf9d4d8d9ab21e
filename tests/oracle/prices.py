"""Says what genai-prices knows about models.

    prices.py <NAMES

Reads names as in `COLUMNAR_MODEL`, one a line. Says on a line for each model that the table has, as JSON, the prices in
dollars for a million tokens: `plain`, and `batch` and `flex` where the table has them. Each has `input`, `output`,
`read` and `write`, as far as there are such prices, and `long` with the same of long requests and the limit `above` which
they apply.

The last line has `others`: the models for text that no name found, and that the table does not
call deprecated.

A promotion counts as over, and the price of the busiest hour counts, because that is the rule of the registry.
"""

import json
import sys
from datetime import UTC, datetime

from genai_prices.data import providers

# Promotions are over on this day.
LATER = datetime(2100, 1, 1, tzinfo=UTC)

# The names of providers in columnar, where the table has others.
PROVIDERS = {
    "gemini": "google",
    "kimi": "moonshotai",
    "openai_resp": "openai",
    "xai": "x-ai",
}

# What the names of models for text begin with, by provider.
TEXT = {
    "anthropic": "claude-",
    "deepseek": "deepseek-",
    "gemini": "gemini-",
    "kimi": "kimi-",
    "minimax": "MiniMax-",
    "mistral": "m",
    "openai": ("gpt-5", "gpt-6", "gpt-7", "o"),
    "xai": "grok-",
    "zai": "GLM-",
}

# Parts of the names of models for something else.
OTHERWISE = (
    *("audio", "embed", "image", "live", "ocr", "realtime", "robotics"),
    *("search", "transcribe", "tts", "vision", "voice"),
)

# The folder of models whose names have none, as in the client.
FOLDERS = {"fireworks": "accounts/fireworks/models/"}

FIELDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "read": "cache_read_mtok",
    "write": "cache_write_mtok",
    "long_write": "cache_write_1h_mtok",
}

TABLE = {provider.id: provider for provider in providers}


def find(name):
    provider, _, model = name.partition("/")
    table = TABLE.get(PROVIDERS.get(provider, provider))
    if table is None:
        return None
    model = FOLDERS.get(provider, "") + model
    # Some rows of the table have the state of a model in its name.
    return table.find_model(model) or table.find_model(model + "-preview")


def figures(price):
    plain, long = {}, {}
    for name, field in FIELDS.items():
        value = getattr(price, field)
        if value is None:
            continue
        plain[name] = float(getattr(value, "base", value))
        for tier in getattr(value, "tiers", [])[:1]:
            long["above"] = tier.start
            long[name] = float(tier.price)
    return plain | {"long": long} if long else plain


def prices(model, context):
    hours = [LATER.replace(hour=hour) for hour in range(24)]
    return figures(max((model.get_prices(hour, context) for hour in hours), key=input_price))


def input_price(price):
    value = price.input_mtok
    return 0 if value is None else getattr(value, "base", value)


def others(found):
    for provider, begin in TEXT.items():
        for model in TABLE[PROVIDERS.get(provider, provider)].models:
            price = model.get_prices(LATER)
            is_for_text = model.id.startswith(begin) and not any(part in model.id for part in OTHERWISE)
            is_served = price.input_mtok and price.output_mtok and not model.deprecated
            if is_for_text and is_served and not any(model is known for known in found):
                yield f"{provider}/{model.id}"


def main():
    models = []
    for name in sys.stdin.read().split():
        model = find(name)
        if model is None:
            continue
        models.append(model)
        found = {"model": name, "plain": prices(model, None)}
        for rate, context in (("batch", {"processing": "batch"}), ("flex", {"service_tier": "flex"})):
            if any(variant.when == context for variant in model.price_variants or []):
                found[rate] = prices(model, context)
        print(json.dumps(found))
    print(json.dumps({"others": list(others(models))}))


main()
