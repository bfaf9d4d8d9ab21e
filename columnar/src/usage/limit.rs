//! What calls may cost, all together.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::{Dollars, Price, Usage};
use crate::error::chain;

/// What the calls of a flow may cost, from when it is [set](crate::flow::LiveFlow::set_spend_limit). A call that could take
/// it above the limit is not made: the run ends with a [`SpendLimitError`], what was paid for is stored, and with another
/// limit the next run goes on from there.
///
/// Clones are one limit: flows that are given the same share it.
///
/// Before a call, its request is counted as contexts are (see
/// [`set_counter`](crate::flow::LiveFlow::set_counter)), and its reply is taken to be as long as it may be. So much is
/// reserved, and becomes what the call says that it cost. A call that does not say, because it broke off half way,
/// counts as what was put aside. While others are on their way, a call that might be too much waits for them. So the
/// limit is kept as well as the flow counts, and once it is reached nobody is asked. What a call writes to its
/// provider's cache is taken to be kept for the dearer time, so a limit in dollars may be reached a little before the
/// [bill](crate::usage::Bill) says so.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::usage::{SpendLimit, SpendLimitError};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column assistant(user, self) = prompt("You are a helpful assistant.").max_tokens(100);
/// };
/// chat.set_spend_limit(SpendLimit::tokens(150));
/// for text in ["hello", "goodbye"] {
///     chat.user.push(text).await?;
/// }
/// let error = chat.run().await.expect_err("two replies may have 200 tokens");
/// assert!(SpendLimitError::of(&error).is_some());
/// assert_eq!(chat.steps(), 1);
///
/// chat.set_spend_limit(SpendLimit::tokens(150));
/// chat.run().await?;
/// assert_eq!(chat.steps(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct SpendLimit {
    shared: Arc<Shared>,
    unit: Unit,
}

struct Shared {
    account: Mutex<Account>,
    /// Told when what was put aside is settled.
    settled: Notify,
}

/// In the smallest parts of the unit.
struct Account {
    most: u128,
    spent: u128,
    /// By calls that are on their way.
    reserved: u128,
}

/// What is limited.
#[derive(Clone, Copy)]
enum Unit {
    Tokens,
    /// With the price of models that are not in the table.
    Dollars(Option<Price>),
}

impl SpendLimit {
    /// So many tokens, of requests and replies together, wherever they come from.
    pub fn tokens(most: u64) -> Self {
        Self::new(Unit::Tokens, most.into())
    }

    /// So many US dollars, by the [prices](Price) that are known. Where a column asks a model without one, the run
    /// says so before it computes anything.
    pub fn dollars(most: f64) -> Self {
        Self::new(Unit::Dollars(None), Dollars::new(most).parts())
    }

    /// The same limit, with a price for the models whose price is not known.
    #[must_use]
    pub fn priced(self, price: Price) -> Self {
        match self.unit {
            Unit::Tokens => self,
            Unit::Dollars(_) => Self { unit: Unit::Dollars(Some(price)), ..self },
        }
    }

    fn new(unit: Unit, most: u128) -> Self {
        let account = Mutex::new(Account { most, spent: 0, reserved: 0 });
        Self { shared: Arc::new(Shared { account, settled: Notify::new() }), unit }
    }

    /// Whether a call of this model can be limited.
    pub(crate) fn check(&self, model: &str) -> Result<(), SpendLimitError> {
        self.unit.of(model, &Usage::default()).map(drop)
    }

    /// Puts aside what a call costs that has so many tokens at the most, as soon as there is room for it.
    pub(crate) async fn reserve(
        &self,
        model: &str,
        input: u64,
        output: u64,
    ) -> Result<Reservation, SpendLimitError> {
        let (plain, kept) = (Usage::new(input, output), Usage::new(input, output).cached(0, input));
        let amount = self.unit.of(model, &plain)?.max(self.unit.of(model, &kept)?);
        loop {
            // From here on it is woken by whoever settles.
            let settled = self.shared.settled.notified();
            {
                let mut account = self.lock();
                let free = account.most.saturating_sub(account.spent);
                if amount > free {
                    let shown = |amount| self.unit.shown(amount);
                    let (wanted, spent, most) = (shown(amount), shown(account.spent), shown(account.most));
                    return Err(SpendLimitError::Reached { wanted, spent, most });
                }
                if amount <= free.saturating_sub(account.reserved) {
                    account.reserved += amount;
                    return Ok(Reservation {
                        limit: self.clone(),
                        model: model.into(),
                        amount,
                        cost: amount,
                    });
                }
            }
            settled.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Account> {
        self.shared.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<&SpendLimit> for SpendLimit {
    fn from(limit: &SpendLimit) -> Self {
        limit.clone()
    }
}

/// What is spent of how much, as in `$0.02 of $5.00`.
impl fmt::Display for SpendLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (spent, most) = {
            let account = self.lock();
            (account.spent, account.most)
        };
        write!(f, "{} of {}", self.unit.shown(spent), self.unit.shown(most))
    }
}

impl fmt::Debug for SpendLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpendLimit({self})")
    }
}

impl Unit {
    fn of(self, model: &str, usage: &Usage) -> Result<u128, SpendLimitError> {
        match self {
            Self::Tokens => Ok(u128::from(usage.input) + u128::from(usage.output)),
            Self::Dollars(own) => match Price::of(model).or(own.as_ref()) {
                Some(price) => Ok(price.at_most(usage).parts()),
                None => Err(SpendLimitError::NoPrice { model: model.to_owned() }),
            },
        }
    }

    fn shown(self, amount: u128) -> String {
        match self {
            Self::Tokens => format!("{amount} tokens"),
            Self::Dollars(_) => Dollars::from_parts(amount).to_string(),
        }
    }
}

/// What is put aside for one call. When it is dropped, it is spent.
pub(crate) struct Reservation {
    limit: SpendLimit,
    model: Arc<str>,
    amount: u128,
    /// What is known to be spent of it.
    cost: u128,
}

impl Reservation {
    /// The call says what it cost, which may be more than it was taken to.
    pub(crate) fn settle(&mut self, usage: &Usage) {
        self.cost = self.limit.unit.of(&self.model, usage).unwrap_or(self.amount);
    }

    /// The call was not answered, so it cost nothing.
    pub(crate) fn cancel(&mut self) {
        self.cost = 0;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut account = self.limit.lock();
        account.reserved = account.reserved.saturating_sub(self.amount);
        account.spent = account.spent.saturating_add(self.cost);
        drop(account);
        self.limit.shared.settled.notify_waiters();
    }
}

/// Why a call was not made. It ends the run, whatever its column says of failures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpendLimitError {
    /// It could cost more than there is left.
    #[error(
        "another call could cost {wanted}, and {spent} of {most} are spent: give the flow another limit, and run it again"
    )]
    Reached {
        /// What the call could cost, as text.
        wanted: String,
        /// What is spent.
        spent: String,
        /// What may be spent.
        most: String,
    },
    /// Nobody knows what it costs.
    #[error(
        "no price is known for `{model}`, so it cannot be limited in dollars: say it with `Limit::priced`, or limit the tokens"
    )]
    NoPrice {
        /// The name of the model.
        model: String,
    },
}

impl SpendLimitError {
    /// The first one among an error and its sources.
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}
