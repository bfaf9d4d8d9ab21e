//! Sums of receipts.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use super::{Dollars, Price, Receipt, Usage};

/// The tokens, the cost and the time of many cells: a sum of receipts.
///
/// ```
/// use columnar::usage::{Receipt, Total};
///
/// let receipts = [
///     r#"{"model":"openai/gpt-5.4-mini","calls":2,"untold":1,"input":2400,"output":500,"cache_read":1024,"ms":9200}"#,
///     r#"{"model":"openai/gpt-5.4-mini","calls":1,"input":1010,"output":12,"ms":5000}"#,
/// ];
/// let receipts = receipts.iter().map(|text| text.parse()).collect::<Result<Vec<Receipt>, _>>()?;
/// let total: Total = receipts.iter().collect();
/// assert_eq!(
///     total.to_string(),
///     "3 calls (1 without reported usage), 3,410 tokens in (1,024 cached), 512 out, at least $0.004171, 14.2 s"
/// );
/// # Ok::<(), columnar::usage::ParseReceiptError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Total {
    /// The number of cells.
    pub cells: u64,
    /// The number of calls.
    pub calls: u64,
    /// The number of calls that reported no usage.
    pub unreported: u64,
    /// The number of calls of models without a known price.
    pub unpriced: u64,
    /// The tokens of the calls that reported tokens.
    pub usage: Usage,
    /// The cost of the calls that reported tokens and whose model has a known price.
    pub cost: Dollars,
    /// The sum of the cells' durations in milliseconds. Cells may overlap, so the sum may exceed the elapsed time.
    pub ms: u64,
}

impl Total {
    /// Adds the receipt of a cell, at a price or without one. A cell that came by a batch costs the price of a
    /// [batch](Price::batch).
    ///
    /// ```
    /// use columnar::usage::{Price, Receipt, Total};
    ///
    /// let receipt: Receipt = r#"{"model":"mine","calls":1,"input":2000,"output":100}"#.parse()?;
    /// let mut total = Total::default();
    /// total.count(&receipt, Some(&Price::new(1.0, 5.0)));
    /// assert_eq!(total.to_string(), "1 call, 2,000 tokens in, 100 out, $0.0025, 0.0 s");
    /// total.count(&receipt, None);
    /// assert_eq!(
    ///     total.to_string(),
    ///     "2 calls (1 without a price), 4,000 tokens in, 200 out, at least $0.0025, 0.0 s"
    /// );
    /// # Ok::<(), columnar::usage::ParseReceiptError>(())
    /// ```
    pub fn count(&mut self, receipt: &Receipt, price: Option<&Price>) {
        let calls = u64::from(receipt.calls);
        *self += Self {
            cells: 1,
            calls,
            unreported: u64::from(receipt.unreported),
            unpriced: if price.is_some() { 0 } else { calls },
            usage: receipt.usage,
            // Each receipt is priced alone: the sum of several may look like one long request.
            cost: price.map_or(Dollars::ZERO, |price| price.of(receipt).cost(&receipt.usage)),
            ms: receipt.ms,
        };
    }
}

impl<'a> FromIterator<&'a Receipt> for Total {
    /// The sum at the known prices; see [`Price::by_model`].
    fn from_iter<I: IntoIterator<Item = &'a Receipt>>(receipts: I) -> Self {
        let mut total = Self::default();
        for receipt in receipts {
            total.count(receipt, receipt.model.as_deref().and_then(Price::by_model));
        }
        total
    }
}

impl Add for Total {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cells: self.cells.saturating_add(other.cells),
            calls: self.calls.saturating_add(other.calls),
            unreported: self.unreported.saturating_add(other.unreported),
            unpriced: self.unpriced.saturating_add(other.unpriced),
            usage: self.usage + other.usage,
            cost: self.cost + other.cost,
            ms: self.ms.saturating_add(other.ms),
        }
    }
}

impl AddAssign for Total {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Total {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cells: _, calls, unreported, unpriced, usage, cost, ms } = *self;
        write!(f, "{} {}", Grouped(calls), if calls == 1 { "call" } else { "calls" })?;
        let lacks = [(unreported, "reported usage"), (unpriced, "a price")];
        let lacks = lacks.iter().filter(|(calls, _)| *calls > 0);
        let lacks: Vec<_> =
            lacks.map(|(calls, lack)| format!("{} without {lack}", Grouped(*calls))).collect();
        if !lacks.is_empty() {
            write!(f, " ({})", lacks.join(", "))?;
        }
        write!(f, ", {} tokens in", Grouped(usage.input))?;
        if usage.cache_read > 0 {
            write!(f, " ({} cached)", Grouped(usage.cache_read))?;
        }
        write!(f, ", {} out", Grouped(usage.output))?;
        // If no call has a price, an amount of zero would look like the cost.
        if calls == 0 || unpriced < calls {
            let at_least = if lacks.is_empty() { "" } else { "at least " };
            write!(f, ", {at_least}{cost}")?;
        }
        match (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60) {
            (0, 0, seconds) => write!(f, ", {seconds}.{} s", ms / 100 % 10),
            (0, minutes, seconds) => write!(f, ", {minutes} min {seconds} s"),
            (hours, minutes, _) => write!(f, ", {} h {minutes} min", Grouped(hours)),
        }
    }
}

pub(crate) fn grouped(figure: usize) -> String {
    Grouped(figure as u64).to_string()
}

/// A number with a comma before every three digits.
pub(crate) struct Grouped(pub(crate) u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            few @ 0..1000 => write!(f, "{few}"),
            many => write!(f, "{},{:03}", Self(many / 1000), many % 1000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipts() -> Vec<Receipt> {
        let texts = [
            r#"{"model":"anthropic/claude-haiku-5-5","calls":1,"input":90000,"output":10,"ms":61000}"#,
            r#"{"model":"anthropic/claude-haiku-5-5","calls":1,"input":90000,"output":10,"ms":59999}"#,
            r#"{"model":"parrot","calls":3,"untold":1,"input":1,"ms":1}"#,
            r#"{"calls":0,"ms":7}"#,
        ];
        texts.iter().map(|text| text.parse().expect("a receipt")).collect()
    }

    #[test]
    fn each_cell_is_priced_separately() {
        let total: Total = receipts().iter().collect();
        assert_eq!((total.cells, total.calls, total.unreported, total.unpriced), (4, 5, 1, 3));
        assert_eq!(total.usage, Usage::new(180_001, 20));
        assert_eq!(total.cost, Dollars::new(0.01801), "neither request is a long one");
        assert_eq!(
            total.to_string(),
            "5 calls (1 without reported usage, 3 without a price), 180,001 tokens in, 20 out, at least $0.01801, 2 min 1 s"
        );
    }

    #[test]
    fn totals_of_parts_are_the_total() {
        let all = receipts();
        let whole: Total = all.iter().collect();
        for middle in 0..=all.len() {
            let (left, right) = all.split_at(middle);
            let parts = [left.iter().collect(), right.iter().collect()];
            assert_eq!(parts.into_iter().sum::<Total>(), whole);
        }
    }

    #[test]
    fn a_line_has_only_the_parts_that_matter() {
        let nothing = Total::default();
        assert_eq!(nothing.to_string(), "0 calls, 0 tokens in, 0 out, $0.00, 0.0 s");
        let usage = Usage::new(1_234_567, 1_000).cached(999, 5);
        let unknown =
            Total { calls: 1_000, unpriced: 1_000, usage, ms: 3_600_000 * 1_234 + 61_000, ..nothing };
        assert_eq!(
            unknown.to_string(),
            "1,000 calls (1,000 without a price), 1,234,567 tokens in (999 cached), 1,000 out, 1,234 h 1 min"
        );
        let most = Total { calls: u64::MAX, ms: u64::MAX, ..nothing };
        assert_eq!(most + most, most);
        assert!(most.to_string().starts_with("18,446,744,073,709,551,615 calls, "));
    }
}
