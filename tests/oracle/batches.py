"""Checks what a run by batches sends, and what the server of the tests answers, against the types of the SDKs.

Each line of the file is `[kind, json]`.
"""

import collections
import json
import sys
from pathlib import Path

import shapes
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse
from anthropic.types.messages.batch_create_params import BatchCreateParams as AnthropicBatch
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types import Batch, FileObject
from openai.types.batch_create_params import BatchCreateParams as OpenAiBatch
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

KINDS = {
    "anthropic create": AnthropicBatch,
    "anthropic params": MessageCreateParamsNonStreaming,
    "anthropic batch": MessageBatch,
    "anthropic result": MessageBatchIndividualResponse,
    "openai create": OpenAiBatch,
    "openai file": FileObject,
    "openai batch": Batch,
    "openai chat": CompletionCreateParamsNonStreaming,
    "openai responses": ResponseCreateParamsNonStreaming,
    "openai completion": ChatCompletion,
    "openai response": Response,
}


def main():
    seen, wrong = collections.Counter(), set()
    for line in Path(sys.argv[1]).read_text().splitlines():
        kind, value = json.loads(line)
        seen[kind] += 1
        wrong |= {(kind, where, what) for where, what in shapes.errors(value, KINDS[kind])}
    for kind, where, what in sorted(wrong):
        print(f"{kind}: {where}: {what}")
    unseen = sorted(set(KINDS) - set(seen))
    print(f"{sum(seen.values())} objects of {len(seen)} kinds checked; none of {unseen}")
    sys.exit(bool(wrong or unseen))


main()
