//! The words of providers for the ends of replies and for errors, from the types of the providers' own clients. Plain
//! data.

/// The reasons of an ordinary end, from the types of the providers' own clients.
pub(super) const STOP: &str = "COMPLETE FINISH_REASON_UNSPECIFIED STOP STOP_SEQUENCE completed end_turn eos eos_token \
    stop stop_sequence";

pub(super) const LENGTH: &str = "CONTINUATION MAX_TOKENS compaction incomplete length max_tokens";

/// The reasons of an end at a full context window, where a larger `max_tokens` would not help.
pub(super) const CONTEXT_WINDOW: &str = "ERROR_LIMIT model_context_window_exceeded model_length";

pub(super) const REFUSED: &str = "BLOCKLIST ERROR_TOXIC ESCALATION IMAGE_OTHER IMAGE_PROHIBITED_CONTENT \
    IMAGE_RECITATION IMAGE_SAFETY LANGUAGE MODEL_ARMOR NO_IMAGE PROHIBITED_CONTENT PUP_LIMITED_DISABLED RECITATION \
    SAFETY SPII content_filter content_filtered guardrail_intervened refusal sensitive";

/// Whether a text of words has this word.
pub(super) fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// The words of errors with the status that providers document for them.
pub(super) const STATUSES: &[(u16, &[&str])] = &[
    (400, &["INVALID_ARGUMENT", "context_length_exceeded", "invalid_prompt", "invalid_request_error"]),
    (401, &["UNAUTHENTICATED", "authentication_error", "invalid_api_key"]),
    (403, &["PERMISSION_DENIED", "permission_error"]),
    (404, &["NOT_FOUND", "model_not_found", "not_found_error"]),
    (413, &["request_too_large"]),
    (429, &["RESOURCE_EXHAUSTED", "rate_limit_error", "rate_limit_exceeded", "too_many_requests"]),
    (503, &["UNAVAILABLE", "engine_overloaded_error", "service_unavailable", "slow_down"]),
    (529, &["overloaded_error", "server_overloaded"]),
];

/// Words for a quota that is used up, or money that is missing. Waiting does not help.
const QUOTA: &[&str] = &["exceeded_current_quota_error", "insufficient_balance", "insufficient_quota"];

/// Whether an error with this word is refused until somebody pays.
pub(super) fn is_quota(word: &str) -> bool {
    QUOTA.contains(&word) || word.starts_with("billing_")
}
