//! OpenAI's files and batches.
//!
//! Sources: <https://platform.openai.com/docs/api-reference/batch>, <https://platform.openai.com/docs/guides/batch>, and the
//! types of the package `openai`, on 2026-11-28.

use serde_json::{Value as Json, json};

use super::{BatchState, BatchedRequest, BatchedResult, Response, SHOWN, ServedBatch, check_ids, reply};

/// The method, the path and the query of a call.
type Target<'r> = (&'r str, &'r str, &'r str);

impl BatchState {
    pub(super) fn openai(&mut self, head: &str, target: Target<'_>, body: &str) -> Result<Response, String> {
        let (method, path, query) = target;
        if !head.contains("authorization: Bearer sk-batch-7") {
            return Err("there is no key".to_owned());
        }
        let parts: Vec<_> = path.trim_start_matches("/v1/").split('/').collect();
        let json = match (method, &parts[..]) {
            ("POST", ["files"]) => self.upload(head, body)?,
            ("GET", ["files", id, "content"]) => {
                let file = self.files.get(*id).ok_or("there is no such file")?;
                for line in file.lines().take(SHOWN) {
                    let line = serde_json::from_str(line).expect("a line of the server");
                    let line: Json = line;
                    let kind = match line.pointer("/response/body/object").and_then(Json::as_str) {
                        Some("response") => "openai response",
                        Some(_) => "openai completion",
                        None => continue,
                    };
                    self.sent.push((kind, line["response"]["body"].clone()));
                }
                return Ok(Response { status: 200, body: file.clone() });
            }
            ("POST", ["batches"]) => self.create(body)?,
            ("GET", ["batches"]) => {
                let mut data = self.page(query, "after", 100)?;
                let has_more = data.pop();
                let ends = [data.first(), data.last()].map(|batch| batch.map(|batch| batch["id"].clone()));
                let [first, last] = ends;
                json!({ "object": "list", "data": data, "first_id": first, "last_id": last, "has_more": has_more })
            }
            ("GET", ["batches", id]) => {
                let batch = self.look(id)?;
                self.sent.push(("openai batch", batch.clone()));
                batch
            }
            _ => return Err("there is no such path".to_owned()),
        };
        Ok(Response { status: 200, body: json.to_string() })
    }

    fn upload(&mut self, head: &str, body: &str) -> Result<Json, String> {
        let boundary =
            head.lines().find_map(|line| line.strip_prefix("content-type: multipart/form-data; boundary="));
        let boundary = boundary.ok_or("an upload is a form")?;
        let end = format!("--{boundary}--\r\n");
        let form = body.strip_suffix(&*end).ok_or("the form has no end")?;
        let mut purpose = None;
        let mut file = None;
        for part in form.split(&format!("--{boundary}\r\n")).filter(|part| !part.is_empty()) {
            let (head, content) = part.split_once("\r\n\r\n").ok_or("a part has no head")?;
            let content = content.strip_suffix("\r\n").ok_or("a part has no end")?;
            match head {
                _ if head.contains("name=\"purpose\"") => purpose = Some(content),
                _ if head.contains("name=\"file\"; filename=\"") => file = Some(content),
                _ => return Err(format!("an unknown part: {head}")),
            }
        }
        if purpose != Some("batch") {
            return Err("the purpose is not `batch`".to_owned());
        }
        let file = file.ok_or("there is no file")?;
        let id = format!("file-{}", self.files.len());
        self.files.insert(id.clone(), file.to_owned());
        let file = json!({
            "id": id, "object": "file", "bytes": file.len(), "created_at": 1, "filename": "batch.jsonl",
            "purpose": "batch", "status": "processed",
        });
        self.sent.push(("openai file", file.clone()));
        Ok(file)
    }

    fn create(&mut self, body: &str) -> Result<Json, String> {
        let batch: Json = serde_json::from_str(body).map_err(|_| "the body is no JSON")?;
        let endpoint = batch["endpoint"].as_str().ok_or("there is no endpoint")?;
        if !["/v1/chat/completions", "/v1/responses"].contains(&endpoint)
            || batch["completion_window"] != "24h"
        {
            return Err("the endpoint or the window is unknown".to_owned());
        }
        let file = batch["input_file_id"].as_str().ok_or("there is no file")?;
        let lines = self.files.get(file).ok_or("there is no such file")?.clone();
        let mut requests = Vec::new();
        for line in lines.lines() {
            let line: Json = serde_json::from_str(line).map_err(|_| "a line is no JSON")?;
            let names: Vec<_> = line.as_object().into_iter().flat_map(|line| line.keys()).collect();
            if names != ["custom_id", "method", "url", "body"]
                || line["method"] != "POST"
                || line["url"] != endpoint
            {
                return Err("a line is no request of this batch".to_owned());
            }
            let id = line["custom_id"].as_str().ok_or("a custom id is no text")?.to_owned();
            let body = line["body"].clone();
            if body.get("stream").is_some()
                || body.get("stream_options").is_some()
                || !body["model"].is_string()
            {
                return Err("a body streams, or has no model".to_owned());
            }
            requests.push(BatchedRequest { id, body });
        }
        check_ids(&requests)?;
        let models: std::collections::BTreeSet<_> =
            requests.iter().map(|request| request.body["model"].to_string()).collect();
        if models.len() > 1 || requests.len() > 50_000 || lines.len() > 200_000_000 {
            return Err("a file has too many models, requests or bytes".to_owned());
        }
        let kind = if endpoint == "/v1/responses" { "openai responses" } else { "openai chat" };
        let shown = requests.iter().take(SHOWN).map(|request| (kind, request.body.clone()));
        self.sent.extend(shown.chain([("openai create", batch.clone())]));
        let metadata = batch.get("metadata").cloned().unwrap_or(Json::Null);
        Ok(self.begin(requests, (file.to_owned(), endpoint.to_owned(), metadata)))
    }

    /// Writes the files of results of a batch that is over.
    pub(super) fn openai_results(&mut self, batch: &ServedBatch) {
        for (name, is_output) in [("output", true), ("error", false)] {
            let lines = batch.lines(|id, request, result| {
                ((result == BatchedResult::Answered) == is_output).then(|| line(batch, id, request, result))
            });
            if !lines.is_empty() {
                self.files.insert(format!("file-{name}-{}", batch.id), lines);
            }
        }
    }

    pub(super) fn openai_batch(&self, batch: &ServedBatch) -> Json {
        let is_over = batch.is_over();
        let plan = batch.plan;
        let status = match batch.looks {
            _ if is_over && plan.fails => "failed",
            _ if is_over && plan.is_cancelled => "cancelled",
            _ if is_over && plan.expires > 0 => "expired",
            _ if is_over => "completed",
            0 => "validating",
            _ => "in_progress",
        };
        let [output, errors] = ["output", "error"].map(|name| {
            let id = format!("file-{name}-{}", batch.id);
            self.files.contains_key(&id).then_some(id)
        });
        let fault = json!({ "object": "list", "data": [
            { "code": "token_limit_exceeded", "line": null, "message": "Enqueued token limit reached.", "param": null },
        ] });
        json!({
            "id": batch.id, "object": "batch", "endpoint": batch.endpoint, "errors": plan.fails.then_some(fault),
            "input_file_id": batch.file, "completion_window": "24h", "status": status, "output_file_id": output,
            "error_file_id": errors, "created_at": 1_711_471_533, "expires_at": 1_711_557_933,
            "request_counts": {
                "total": batch.requests.len(), "completed": batch.count(BatchedResult::Answered), "failed": batch.count(BatchedResult::Refused),
            },
            "metadata": batch.metadata,
        })
    }
}

fn line(batch: &ServedBatch, id: &str, request: &BatchedRequest, result: BatchedResult) -> Json {
    let error = |code: &str, message: &str| json!({ "id": "batch_req_1", "custom_id": id, "response": null, "error": { "code": code, "message": message } });
    let response = |status: u16, body: Json| {
        json!({
            "id": "batch_req_1", "custom_id": id, "error": null,
            "response": { "status_code": status, "request_id": "req_1", "body": body },
        })
    };
    match result {
        BatchedResult::Expired => {
            error("batch_expired", "This request could not be executed before the window ended.")
        }
        BatchedResult::Cancelled => error("batch_cancelled", "This request was not executed."),
        BatchedResult::Refused => response(
            400,
            json!({
                "error": { "message": "Bad request.", "type": "invalid_request_error", "param": null, "code": "invalid" },
            }),
        ),
        BatchedResult::Answered if batch.endpoint == "/v1/responses" => response(
            200,
            json!({
                "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "error": null,
                "incomplete_details": null, "instructions": null, "metadata": {}, "model": request.body["model"],
                "output": [{
                    "type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
                    "content": [{ "type": "output_text", "text": reply(&request.body), "annotations": [] }],
                }],
                "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
                "usage": {
                    "input_tokens": 1000, "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 }, "output_tokens": 100,
                    "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 1100,
                },
            }),
        ),
        BatchedResult::Answered => response(
            200,
            json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1,
                "model": request.body["model"],
                "choices": [{
                    "index": 0, "finish_reason": "stop", "logprobs": null,
                    "message": { "role": "assistant", "content": reply(&request.body), "refusal": null },
                }],
                "usage": { "prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100 },
            }),
        ),
    }
}
