//! Anthropic's Message Batches.
//!
//! Sources: <https://platform.claude.com/docs/en/build-with-claude/batch-processing>,
//! <https://platform.claude.com/docs/en/api/messages/batches>, and the types of the package `anthropic`, on 2026-11-28.

use serde_json::{Value as Json, json};

use super::{BatchState, BatchedRequest, BatchedResult, Response, SHOWN, ServedBatch, check_ids, reply};

/// The method, the path and the query of a call.
type Target<'r> = (&'r str, &'r str, &'r str);

impl BatchState {
    pub(super) fn anthropic(
        &mut self,
        head: &str,
        target: Target<'_>,
        body: &str,
    ) -> Result<Response, String> {
        let (method, path, query) = target;
        if !head.contains("x-api-key: sk-batch-7") || !head.contains("anthropic-version: 2023-06-01") {
            return Err("there is no key, or no version".to_owned());
        }
        let parts: Vec<_> = path.trim_start_matches("/v1/").split('/').collect();
        let json = match (method, &parts[..]) {
            ("POST", ["messages", "batches"]) => {
                let requests = requests(body)?;
                let shown =
                    requests.iter().take(SHOWN).map(|request| ("anthropic params", request.body.clone()));
                self.sent.extend(
                    shown.chain([("anthropic create", serde_json::from_str(body).unwrap_or_default())]),
                );
                self.begin(requests, (String::new(), String::new(), Json::Null))
            }
            ("GET", ["messages", "batches"]) => {
                let mut data = self.page(query, "after_id", 1000)?;
                let has_more = data.pop();
                let [first, last] =
                    [data.first(), data.last()].map(|batch| batch.map(|batch| batch["id"].clone()));
                json!({ "data": data, "has_more": has_more, "first_id": first, "last_id": last })
            }
            ("GET", ["messages", "batches", id]) => {
                let batch = self.look(id)?;
                self.sent.push(("anthropic batch", batch.clone()));
                batch
            }
            ("GET", ["messages", "batches", id, "results"]) => {
                let batch = self.batches.iter().find(|batch| batch.id == *id && batch.is_over());
                let lines = batch.ok_or("there are no results yet")?.lines(line);
                for line in lines.lines().take(SHOWN) {
                    let line = serde_json::from_str(line).expect("a line of the server");
                    self.sent.push(("anthropic result", line));
                }
                return Ok(Response { status: 200, body: lines });
            }
            _ => return Err("there is no such path".to_owned()),
        };
        Ok(Response { status: 200, body: json.to_string() })
    }

    pub(super) fn anthropic_batch(batch: &ServedBatch) -> Json {
        let is_over = batch.is_over();
        let count = |result| batch.count(result);
        let processing = if is_over { 0 } else { batch.requests.len() };
        let time = |is_there: bool| is_there.then_some("2024-09-24T19:37:24.100435Z");
        let url = format!("{}/v1/messages/batches/{}/results", "https://api.anthropic.com", batch.id);
        json!({
            "id": batch.id, "type": "message_batch",
            "processing_status": if is_over { "ended" } else { "in_progress" },
            "request_counts": {
                "processing": processing, "succeeded": count(BatchedResult::Answered),
                "errored": count(BatchedResult::Refused), "canceled": count(BatchedResult::Cancelled),
                "expired": count(BatchedResult::Expired),
            },
            "ended_at": time(is_over), "created_at": time(true), "expires_at": time(true), "archived_at": null,
            "cancel_initiated_at": time(batch.plan.is_cancelled), "results_url": is_over.then_some(url),
        })
    }
}

fn requests(body: &str) -> Result<Vec<BatchedRequest>, String> {
    let batch: Json = serde_json::from_str(body).map_err(|_| "the body is no JSON")?;
    if batch.as_object().is_none_or(|batch| batch.keys().ne(["requests"])) {
        return Err("a batch has requests, and nothing else".to_owned());
    }
    let mut requests = Vec::new();
    for request in batch["requests"].as_array().ok_or("the requests are no list")? {
        if request.as_object().is_none_or(|request| request.keys().ne(["custom_id", "params"])) {
            return Err("a request has an id and parameters".to_owned());
        }
        let id = request["custom_id"].as_str().ok_or("a custom id is no text")?.to_owned();
        let body = request["params"].clone();
        let is_whole =
            body["model"].is_string() && body["max_tokens"].is_u64() && body["messages"].is_array();
        if !is_whole || body.get("stream").is_some() {
            return Err("parameters are missing, or stream".to_owned());
        }
        requests.push(BatchedRequest { id, body });
    }
    check_ids(&requests)?;
    if requests.len() > 100_000 || body.len() > 256_000_000 {
        return Err("a batch has too many requests or bytes".to_owned());
    }
    Ok(requests)
}

#[expect(clippy::unnecessary_wraps, reason = "other interfaces have two files")]
fn line(id: &str, request: &BatchedRequest, result: BatchedResult) -> Option<Json> {
    let result = match result {
        BatchedResult::Expired => json!({ "type": "expired" }),
        BatchedResult::Cancelled => json!({ "type": "canceled" }),
        BatchedResult::Refused => json!({ "type": "errored", "error": {
            "type": "error", "request_id": null,
            "error": { "type": "invalid_request_error", "message": "Bad request." },
        } }),
        BatchedResult::Answered => json!({ "type": "succeeded", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": request.body["model"],
            "content": [{ "type": "text", "text": reply(&request.body), "citations": null }],
            "stop_reason": "end_turn", "stop_sequence": null, "stop_details": null, "container": null,
            "usage": {
                "input_tokens": 1000, "output_tokens": 100, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0, "cache_creation": null, "inference_geo": null,
                "server_tool_use": null, "service_tier": "batch",
            },
        } }),
    };
    Some(json!({ "custom_id": id, "result": result }))
}
