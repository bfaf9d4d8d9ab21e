//! Positions in a flow: the cells that a subscriber has seen, as text.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::declare::Name;
use crate::run::SeenCells;
use crate::schedule::SeenSteps;

/// A position in a flow: the cells that a subscriber has seen. A position is valid in every process that opens the
/// flow.
///
/// Send the position to clients as text, such as the ID of a server-sent event. When a client returns,
/// [subscribe](super::Spawned::subscribe_from) from there: the client gets the values that it has not seen. Of the
/// cells in progress it gets all deltas again, so it discards the earlier deltas of these cells.
///
/// The text is a step, and the columns that are at other steps: `7,topics:9` is before step 9 of `topics`, and before
/// step 7 of all other columns, also of a column that is added to the flow later. A step without a value follows a `!`
/// when the position is past that step, because the cell failed and the value comes later: `7,mood:7!2!4-6` has seen no
/// value of `mood` at step 2 and at the steps 4 to 6. The text can be in an HTTP header and in the query of a URL
/// without changes. Clients may send any text: a position of another flow shows too much or too little of this flow,
/// and has no other effect.
///
/// ```
/// use columnar::service::Position;
///
/// assert_eq!(Position::START, Position::before(0));
/// assert_eq!(Position::before(7).to_string(), "7");
/// assert_eq!("7,topics:9".parse::<Position>()?.to_string(), "7,topics:9");
/// assert!("yesterday".parse::<Position>().is_err());
/// # Ok::<(), columnar::service::ParsePositionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The step before which all columns are seen that are not in the list.
    step: usize,
    columns: BTreeMap<Name, SeenSteps>,
}

impl Position {
    /// The position before step 0: nothing is seen.
    pub const START: Self = Self::before(0);

    /// The position before this step of every column.
    pub const fn before(step: usize) -> Self {
        Self { step, columns: BTreeMap::new() }
    }

    /// The position of a subscriber that has seen these cells.
    pub(super) fn new(seen: &SeenCells) -> Self {
        let step = seen.columns().map(|(_, seen)| seen.next()).min().unwrap_or(0);
        let columns = seen.columns().filter(|(_, seen)| **seen != SeenSteps::before(step));
        let columns = columns.map(|(name, seen)| (name.clone(), seen.clone()));
        Self { step, columns: columns.collect() }
    }

    /// The steps of a column that are seen.
    pub(super) fn of(&self, column: &Name) -> SeenSteps {
        self.columns.get(column).cloned().unwrap_or(SeenSteps::before(self.step))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.step)?;
        for (column, seen) in &self.columns {
            write!(f, ",{column}:{}", seen.next())?;
            for steps in seen.missing() {
                match steps.end - steps.start {
                    1 => write!(f, "!{}", steps.start)?,
                    _ => write!(f, "!{}-{}", steps.start, steps.end - 1)?,
                }
            }
        }
        Ok(())
    }
}

impl FromStr for Position {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        let mut parts = text.split(',');
        let step = number(parts.next().unwrap_or_default())?;
        let columns = parts.map(|part| {
            let (column, seen) = part.split_once(':').ok_or(ParsePositionError)?;
            let mut steps = seen.split('!');
            let next = number(steps.next().unwrap_or_default())?;
            let missing = steps.map(range).collect::<Result<_, _>>()?;
            let seen = SeenSteps::new(next, missing).ok_or(ParsePositionError)?;
            Ok((Name::new(column).map_err(|_| ParsePositionError)?, seen))
        });
        Ok(Self { step, columns: columns.collect::<Result<_, _>>()? })
    }
}

fn range(text: &str) -> Result<Range<usize>, ParsePositionError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let end = number(last)?.checked_add(1).ok_or(ParsePositionError)?;
    Ok(number(first)?..end)
}

/// Digits alone: `parse` would also accept a sign.
fn number(text: &str) -> Result<usize, ParsePositionError> {
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).ok_or(ParsePositionError)
}

/// The text is not a [`Position`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no position of a flow: pass one that a subscription has returned, or `0` for the start")]
pub struct ParsePositionError;
