//! An amount of money.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

/// An amount of US dollars, exact to a millionth of a millionth of a dollar. Sums are exact and saturate.
///
/// An amount prints with the necessary decimal places, from 2 to 6, or with the precision of the format. Printing
/// rounds up, so that no cost looks free.
///
/// ```
/// use columnar::usage::Dollars;
///
/// let spent = Dollars::new(0.1) + "0.0000002".parse()?;
/// assert_eq!(spent.to_string(), "$0.100001");
/// assert_eq!(format!("{spent:.7} of {}", Dollars::new(2.5)), "$0.1000002 of $2.50");
/// assert!(spent < Dollars::new(2.5));
/// # Ok::<(), columnar::usage::ParseDollarsError>(())
/// ```
// The amount is in the smallest unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dollars(pub(super) u128);

/// The decimal places that are kept.
const PLACES: u32 = 12;

const ONE: u128 = 10_u128.pow(PLACES);

impl Dollars {
    /// The amount of zero dollars.
    pub const ZERO: Self = Self(0);

    /// An amount, rounded to a millionth of a dollar. A negative amount and NaN become zero.
    #[expect(clippy::cast_possible_truncation, reason = "too large an amount saturates")]
    #[expect(clippy::cast_sign_loss, reason = "a negative amount becomes zero")]
    pub const fn new(dollars: f64) -> Self {
        // A cast saturates, and NaN and negative numbers become zero.
        Self(((dollars * 1e6 + 0.5) as u128).saturating_mul(ONE / 1_000_000))
    }

    /// The cost of tokens at a price per token in the smallest unit.
    pub(super) const fn of(tokens: u64, each: u64) -> Self {
        // The product of two `u64` always fits.
        Self(tokens as u128 * each as u128)
    }

    /// The amount that is left of this one without another one, at least zero.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Dollars {
    /// What is left of the amount; zero if the other one is higher.
    pub(crate) const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Dollars {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Dollars {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Dollars {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = f.precision().map(|places| u32::try_from(places).unwrap_or(PLACES).min(PLACES));
        let mut places = precision.unwrap_or(6);
        let mut amount = self.0.div_ceil(10_u128.pow(PLACES - places));
        while precision.is_none() && places > 2 && amount.is_multiple_of(10) {
            (amount, places) = (amount / 10, places - 1);
        }
        let whole = 10_u128.pow(places);
        write!(f, "${}", amount / whole)?;
        match places {
            0 => Ok(()),
            _ => write!(f, ".{:0width$}", amount % whole, width = places as usize),
        }
    }
}

/// The error of a text that is not an amount of [`Dollars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an amount of dollars, such as 2.50")]
pub struct ParseDollarsError;

impl FromStr for Dollars {
    type Err = ParseDollarsError;

    /// Parses digits with an optional decimal point and an optional dollar sign in front: `2`, `2.5`, `$0.05`.
    fn from_str(text: &str) -> Result<Self, ParseDollarsError> {
        let digits = text.strip_prefix('$').unwrap_or(text);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let unit = u32::try_from(part.len()).ok().and_then(|places| PLACES.checked_sub(places));
        // The part has at most `PLACES` digits, so the product is less than `ONE`.
        let part = number(part)? * 10_u128.pow(unit.ok_or(ParseDollarsError)?);
        let whole = number(whole)?.checked_mul(ONE).ok_or(ParseDollarsError)?;
        whole.checked_add(part).map(Self).ok_or(ParseDollarsError)
    }
}

fn number(digits: &str) -> Result<u128, ParseDollarsError> {
    // `parse` alone accepts a sign.
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_plain).ok_or(ParseDollarsError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_prints_with_the_necessary_places() {
        for (text, short, cents) in [
            ("0", "$0.00", "$0.00"),
            ("0.000000000001", "$0.000001", "$0.01"),
            ("0.0012340000001", "", ""),
            ("0.001234", "$0.001234", "$0.01"),
            ("0.0123", "$0.0123", "$0.02"),
            ("0.9999999", "$1.00", "$1.00"),
            ("$12.5", "$12.50", "$12.50"),
            ("1234567.89", "$1234567.89", "$1234567.89"),
        ] {
            match text.parse::<Dollars>() {
                Ok(amount) => {
                    assert_eq!((amount.to_string(), format!("{amount:.2}")), (short.into(), cents.into()));
                    assert_eq!(format!("{amount:.12}").parse(), Ok(amount));
                    assert!(!format!("{amount:.0}").contains('.'));
                }
                Err(ParseDollarsError) => assert_eq!(short, "", "{text} has 13 places"),
            }
        }
    }

    #[test]
    fn a_text_that_is_not_an_amount_is_refused() {
        let much = format!("1{}", "0".repeat(30));
        for text in
            ["", "$", ".5", "1.", "-1", "+1", "1,000", "1e3", "NaN", "1.2.3", "1.0000000000000", &much]
        {
            assert_eq!(text.parse::<Dollars>(), Err(ParseDollarsError), "{text}");
        }
    }

    #[test]
    fn a_number_is_an_amount_to_a_millionth() {
        assert_eq!(Ok(Dollars::new(0.1)), "0.1".parse());
        assert_eq!(Ok(Dollars::new(4_321.000_001)), "4321.000001".parse());
        for nothing in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(Dollars::new(nothing), Dollars::ZERO);
        }
        let most = Dollars::new(f64::INFINITY);
        assert_eq!(most + Dollars::new(1.0), most);
        assert!(most.to_string().len() > 20);
    }

    #[test]
    fn a_sum_does_not_drift() {
        let dime = Dollars::new(0.1);
        assert_eq!((0..1000).map(|_| dime).sum::<Dollars>(), Dollars::new(100.0));
    }
}
