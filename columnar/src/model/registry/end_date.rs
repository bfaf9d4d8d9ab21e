//! The ends of models.

use std::time::{Duration, SystemTime};

/// The day on which a provider ends a model, with source and date. Later requests are refused.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use columnar::model::EndDate;
///
/// let end = EndDate::by_model("openai/gpt-5-mini").expect("it is announced");
/// assert_eq!((end.day, end.source), ("2026-12-11", "https://developers.openai.com/api/docs/deprecations"));
///
/// let november_26 = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_651_200);
/// assert_eq!((end.is_past(november_26), end.days_left(november_26)), (false, 15));
///
/// assert_eq!(EndDate::by_model("openai/gpt-6-luna"), None); // none is announced
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndDate {
    /// The last day, as `YYYY-MM-DD`. The model may end within that day.
    pub day: &'static str,
    /// The page of the provider that announces the end.
    pub source: &'static str,
    /// A day on which the page is known to have announced the end, as `YYYY-MM-DD`.
    pub date: &'static str,
}

impl EndDate {
    /// Whether the last day is over at this time, by UTC.
    pub fn is_past(&self, now: SystemTime) -> bool {
        self.days_left(now) < 0
    }

    /// The number of days from this time to the last day, by UTC: 0 on that day, and negative afterwards.
    pub fn days_left(&self, now: SystemTime) -> i64 {
        let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let today = i64::try_from(since_epoch.as_secs() / DAY).unwrap_or(i64::MAX);
        days_since_epoch(self.day).saturating_sub(today)
    }
}

/// A day in seconds.
const DAY: u64 = 24 * 60 * 60;

/// The number of days from 1970-01-01 to a day of the registry, by the rule of Gregorian leap years.
fn days_since_epoch(day: &str) -> i64 {
    let parts: Vec<i64> = day.split('-').map(|part| part.parse().unwrap_or(0)).collect();
    let [year, month, day] = parts[..] else { return 0 };
    // A year that begins in March has the leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // March of the year 0 was 719,468 days before 1970.
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_by_the_calendar() {
        for (day, days) in [
            ("1970-01-01", 0),
            ("1970-03-01", 59),
            ("2000-02-29", 11_016),
            ("2000-03-01", 11_017),
            ("2026-11-26", 20_783),
            ("2026-12-31", 20_818),
            ("2027-01-01", 20_819),
        ] {
            assert_eq!(days_since_epoch(day), days, "{day}");
        }
    }

    #[test]
    fn a_model_is_served_on_its_last_day() {
        let end = EndDate::by_model("anthropic/claude-sonnet-4-5-20250929").expect("it is announced");
        let midnight = SystemTime::UNIX_EPOCH + Duration::from_secs(20_788 * DAY);
        assert_eq!(end.days_left(midnight), -1, "it is the first of December");
        assert!(end.is_past(midnight));
        assert!(!end.is_past(midnight - Duration::from_secs(1)));
        assert_eq!(end.days_left(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), 20_787);
    }
}
