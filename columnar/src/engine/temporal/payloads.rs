//! The payloads, which the server transports and keeps.

use serde::{Deserialize, Serialize};

use crate::engine::call::{EngineCall, EngineReply};

/// A reply, or the reason why a worker refuses the call.
pub(crate) type Outcome = Result<EngineReply, String>;

/// A call of a client.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClientRequest {
    /// Differs between two requests.
    pub(super) id: String,
    pub(super) call: EngineCall,
}

/// A call for the owner of a flow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OwnedRequest {
    pub(super) key: String,
    pub(super) call: EngineCall,
}

/// What comes of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CarriedOut {
    pub(super) outcome: Outcome,
    /// The call that follows, after a time in milliseconds.
    pub(super) wake: Option<(u64, EngineCall)>,
}
