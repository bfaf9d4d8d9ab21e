//! The worst of many ratios, and where it is.

/// The worst of many ratios, and where it is.
#[derive(Clone, Debug, Default)]
pub struct Worst {
    /// The largest.
    pub ratio: f64,
    /// What it belongs to.
    pub place: String,
}

impl Worst {
    /// Of some ratios and what each belongs to.
    pub fn of(ratios: impl IntoIterator<Item = (f64, String)>) -> Self {
        let worst = ratios.into_iter().max_by(|(one, _), (other, _)| one.total_cmp(other));
        worst.map_or_else(Self::default, |(ratio, place)| Self { ratio, place })
    }
}
