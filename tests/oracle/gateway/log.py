"""What LiteLLM's proxy logs of each call: a line in the file `ORACLE_LOG`."""

import json
import os

from litellm.integrations.custom_logger import CustomLogger


class Log(CustomLogger):
    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        payload = kwargs["standard_logging_object"]
        call = {"model": payload["model_group"], "input": payload["prompt_tokens"], "output": payload["completion_tokens"]}
        with open(os.environ["ORACLE_LOG"], "a") as file:
            file.write(json.dumps(call) + "\n")


LOG = Log()
