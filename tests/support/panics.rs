//! Panics that a test expects.

use std::panic;
use std::sync::{Mutex, Once, PoisonError};

/// Keeps panics with this message out of the output, and no others.
///
/// The hook of panics belongs to the process, and tests share one, so the hook is set once.
pub fn expect_panic(message: &'static str) {
    static EXPECTED: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    static HOOK: Once = Once::new();
    EXPECTED.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let expected = EXPECTED.lock().unwrap_or_else(PoisonError::into_inner);
            if !info.payload_as_str().is_some_and(|message| expected.contains(&message)) {
                drop(expected);
                default(info);
            }
        }));
    });
}
