//! The fingerprint of the declaration that computed a cell.

use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

use twox_hash::XxHash64;

/// What computed a cell, besides the model: short hashes of the prompt, of the version and of the views. Different hashes
/// mean different texts; of 16 million changes one goes unnoticed.
///
/// The text is a part of stored receipts: six hexadecimal digits for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// 0 for a step without a prompt.
    pub(crate) prompt: u32,
    /// 0 for a step without a version.
    pub(crate) version: u32,
    pub(crate) views: u32,
}

impl Fingerprint {
    pub(crate) fn new(prompt: Option<&str>, version: Option<&str>, views: &str) -> Self {
        Self { prompt: hash(prompt), version: hash(version), views: hash(Some(views)) }
    }
}

/// The lowest 24 bits of the XXH64 of a text with seed 0, but 1 for 0; 0 for no text.
fn hash(text: Option<&str>) -> u32 {
    let Some(text) = text else { return 0 };
    let mut hash = XxHash64::with_seed(0);
    hash.write(text.as_bytes());
    u32::try_from(hash.finish() & 0xff_ffff).unwrap_or(0).max(1)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prompt, version, views } = self;
        write!(f, "{prompt:06x}{version:06x}{views:06x}")
    }
}

impl FromStr for Fingerprint {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text.len() != 18 {
            return Err(());
        }
        Ok(Self { prompt: part(text, 0)?, version: part(text, 6)?, views: part(text, 12)? })
    }
}

/// The number in six digits of a text.
fn part(text: &str, start: usize) -> Result<u32, ()> {
    u32::from_str_radix(text.get(start..start + 6).ok_or(())?, 16).map_err(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stored fingerprints have these digits for ever.
    #[test]
    fn the_text_is_stable() {
        let made = Fingerprint::new(Some("Answer."), None, "user, self");
        assert_eq!(made.to_string(), "c17c820000001054a8");
        assert_eq!(made.to_string().parse(), Ok(made));
        assert_eq!(
            Fingerprint::new(None, Some(""), ""),
            Fingerprint { prompt: 0, version: 0xd8_e999, views: 0xd8_e999 }
        );
        for text in
            ["", "00000000000000000", "0000000000000000000", "00000000000000000g", "00000000000000000é"]
        {
            assert_eq!(text.parse::<Fingerprint>(), Err(()), "{text}");
        }
    }
}
