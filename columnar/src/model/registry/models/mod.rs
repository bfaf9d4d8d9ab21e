//! The models whose prices, cache rules, longest replies, context windows or ends are known, one row per family.
//!
//! Prices are US dollars for a million tokens of the request, of the reply, and read from a cache. Where sources
//! contradict each other, or are incomplete, a row has the value that costs the user least if it is wrong: the higher
//! price, the larger minimum, the shorter time, no discount, the shorter reply, the smaller window. Where a price is
//! lower for a while, the row has the price that is announced for afterwards. The date belongs to the provider's page,
//! or to a list made from the page. `tests/suite/cost/prices.rs` compares the prices with such a list.

mod anthropic;
mod google;
mod openai;
mod others;
mod words;

use super::row::Family;

/// All rows of the registry.
pub(crate) fn families() -> impl Iterator<Item = &'static Family> {
    let files = [
        others::LOCAL,
        anthropic::FAMILIES,
        openai::FAMILIES,
        google::FAMILIES,
        others::MAKERS,
        others::HOSTS,
    ];
    files.into_iter().flatten()
}
