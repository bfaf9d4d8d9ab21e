//! The media that models take, one row per family, with the rules of their tokens.
//!
//! A model without a row takes everything: a server of the user may know any media.

use super::{canonical, longest, strip};
use crate::history::{ImageRules, ImageTokens, MediaRules, PdfRules};

const MEGABYTES: usize = 1 << 20;

const CLAUDE: MediaRules = MediaRules {
    prefixes: "anthropic/claude-",
    images: Some(ImageRules {
        types: "jpeg png gif webp",
        tokens: ImageTokens::Area { pixels: 750, edge: 1568, most: 1600 },
        most_bytes: 5 * MEGABYTES / 4 * 3,
        most_edge: 8000,
        many: Some((20, 2000)),
    }),
    pdf: Some(PdfRules { page: 3000, most_pages: 100 }),
    takes_text: true,
    most: 100,
    most_bytes: 32 * MEGABYTES / 4 * 3,
    source: "https://platform.claude.com/docs/en/build-with-claude/vision",
    date: "2026-11-20",
};

static ROWS: &[MediaRules] = &[CLAUDE];

impl MediaRules {
    /// The rules of a model, by the longest prefix of its name that is known, as in `COLUMNAR_MODEL`.
    pub fn by_model(model: &str) -> Option<&'static Self> {
        let (provider, name) = canonical(model);
        let rows = ROWS.iter().filter_map(|row| {
            Some((longest(row.prefixes, |prefix| strip(provider, name, prefix).is_some())?, row))
        });
        rows.max_by_key(|(length, _)| *length).map(|(_, row)| row)
    }
}
