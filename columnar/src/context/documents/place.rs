//! A place in a log of documents.

use std::fmt;
use std::str::FromStr;

/// The place of a part in a log: the turn of a step, and the number of the part there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LogPlace {
    pub(crate) step: usize,
    pub(crate) part: usize,
}

/// As an update has it: `step 3`, or `step 3, part 1`.
impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, part } = self;
        write!(f, "step {step}")?;
        if *part > 0 { write!(f, ", part {part}") } else { Ok(()) }
    }
}

impl LogPlace {
    /// The first place of a step.
    pub(crate) fn of(step: usize) -> Self {
        Self { step, part: 0 }
    }

    /// The place whose text this is.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("step ")?;
        let Some((step, part)) = text.split_once(", part ") else {
            return Some(Self::of(number(text)?));
        };
        // One place has one text.
        let part = number(part).filter(|part| *part > 0)?;
        Some(Self { step: number(step)?, part })
    }
}

/// A number in canonical form: digits without a sign or leading zeros.
pub(super) fn number<N: FromStr>(text: &str) -> Option<N> {
    let is_normal = text == "0" || !text.starts_with(['0', '+', '-']);
    text.parse().ok().filter(|_| is_normal)
}
