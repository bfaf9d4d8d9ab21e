//! Limits on spending: each call reserves the highest cost beforehand.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::{Dollars, Price, Usage};
use crate::declare::error::chain;

/// A limit on the cost of a flow's calls, from [`set_spend_limit`](crate::flow::LiveFlow::set_spend_limit) on. A call
/// that could exceed the limit is not made: the run ends with a [`SpendLimitError`], all paid values are stored, and
/// with another limit the next run continues from there.
///
/// Clones share one limit, and so can flows.
///
/// The highest cost of a call is reserved before it begins: the request by the
/// [counter](crate::flow::LiveFlow::set_counter) of the flow, and a reply of the greatest length. When the call ends,
/// the reported usage replaces the reservation. A call without a reported usage, because it broke off, counts in full.
/// If the reservation fits only without the reservations of other calls in flight, the call waits for these. So the
/// limit is as exact as the counter. Tokens that a call writes to the provider's cache are reserved and counted at the
/// higher price, so a limit in dollars may be reached a little before the [bill](crate::usage::Bill) shows that
/// amount.
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
    shared: Arc<SharedLimit>,
    unit: Unit,
}

struct SharedLimit {
    account: Mutex<Account>,
    /// The notification that a reservation is settled.
    settled: Notify,
}

/// The amounts of a limit in the smallest part of the unit.
struct Account {
    most: u128,
    spent: u128,
    /// The reservations of the calls in flight.
    reserved: u128,
}

/// The unit of a limit.
#[derive(Clone, Copy)]
enum Unit {
    Tokens,
    /// US dollars, with the price for models without a known price.
    Dollars(Option<Price>),
}

impl SpendLimit {
    /// A limit on the tokens of requests and replies together, cached ones included.
    pub fn tokens(most: u64) -> Self {
        Self::new(Unit::Tokens, most.into())
    }

    /// A limit in US dollars, by the known [prices](Price). A column whose model has no price is an error before the
    /// run computes anything.
    pub fn dollars(most: f64) -> Self {
        Self::new(Unit::Dollars(None), Dollars::new(most).0)
    }

    /// The same limit, with a price for models without a known price.
    #[must_use]
    pub fn priced(self, price: Price) -> Self {
        match self.unit {
            Unit::Tokens => self,
            Unit::Dollars(_) => Self { unit: Unit::Dollars(Some(price)), ..self },
        }
    }

    fn new(unit: Unit, most: u128) -> Self {
        let account = Mutex::new(Account { most, spent: 0, reserved: 0 });
        Self { shared: Arc::new(SharedLimit { account, settled: Notify::new() }), unit }
    }

    /// Checks that a call of this model can be limited.
    pub(crate) fn check(&self, model: &str) -> Result<(), SpendLimitError> {
        self.unit.of(model, &Usage::default()).map(drop)
    }

    /// Reserves the cost of a call with at most these tokens, as soon as there is room.
    pub(crate) async fn reserve(
        &self,
        model: &str,
        input: u64,
        output: u64,
    ) -> Result<Reservation, SpendLimitError> {
        // The provider may write the request to the cache, so the higher cost counts.
        let plain = Usage::new(input, output);
        let kept = Usage::new(input, output).cached(0, input);
        let amount = self.unit.of(model, &plain)?.max(self.unit.of(model, &kept)?);
        loop {
            // Created before the check, so that no settlement is missed.
            let settled = self.shared.settled.notified();
            {
                let mut account = self.lock();
                // A call may have cost more than reserved, so `spent` may exceed the limit.
                let free = account.most.saturating_sub(account.spent);
                // Calls in flight may only add to `spent`, so this call need not wait for them.
                if amount > free {
                    let [needed, spent, limit] =
                        [amount, account.spent, account.most].map(|amount| self.unit.spend(amount));
                    return Err(SpendLimitError::Reached { needed, spent, limit });
                }
                if amount <= free.saturating_sub(account.reserved) {
                    // The sum is at most `most`, and does not overflow.
                    account.reserved += amount;
                    let limit = self.clone();
                    return Ok(Reservation { limit, model: model.into(), amount, cost: amount });
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

/// The amount spent and the limit, as in `$0.02 of $5.00`.
impl fmt::Display for SpendLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Account { spent, most, .. } = *self.lock();
        write!(f, "{} of {}", self.unit.spend(spent), self.unit.spend(most))
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
            Self::Dollars(fallback) => match Price::by_model(model).or(fallback.as_ref()) {
                Some(price) => Ok(price.at_most(usage).0),
                None => Err(SpendLimitError::NoPrice { model: model.to_owned() }),
            },
        }
    }

    fn spend(self, amount: u128) -> Spend {
        match self {
            Self::Tokens => Spend::Tokens(amount),
            Self::Dollars(_) => Spend::Dollars(Dollars(amount)),
        }
    }
}

/// An amount in the unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spend {
    /// US dollars.
    Dollars(Dollars),
    /// Tokens of requests and replies.
    Tokens(u128),
}

impl fmt::Display for Spend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dollars(amount) => amount.fmt(f),
            Self::Tokens(amount) => write!(f, "{amount} tokens"),
        }
    }
}

/// The reservation of one call. Dropping the reservation books the cost.
pub(crate) struct Reservation {
    limit: SpendLimit,
    model: Arc<str>,
    amount: u128,
    /// The cost that a drop books.
    cost: u128,
}

impl Reservation {
    /// Replaces the cost with the reported cost, which may be higher than the reservation.
    /// The reservation of a call that comes by a batch is higher than the cost.
    pub(crate) fn settle(&mut self, usage: &Usage, is_batch: bool) {
        // The price was known when the call was reserved, so the fallback is never used.
        let cost = self.limit.unit.of(&self.model, usage).unwrap_or(self.amount);
        self.cost = match self.limit.unit {
            Unit::Dollars(fallback) if is_batch => {
                let price = Price::by_model(&self.model).or(fallback.as_ref()).and_then(Price::batch);
                price.map_or(cost, |price| price.at_most(usage).0)
            }
            _ => cost,
        };
    }

    /// Makes the call free, since it was not answered.
    pub(crate) fn cancel(&mut self) {
        self.cost = 0;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut account = self.limit.lock();
        account.reserved = account.reserved.saturating_sub(self.amount);
        account.spent = account.spent.saturating_add(self.cost);
        // Otherwise the calls that wake up would wait for the lock.
        drop(account);
        self.limit.shared.settled.notify_waiters();
    }
}

/// The reason why a call was not made. This error ends the run, under any failure policy of the column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpendLimitError {
    /// The call could exceed the limit.
    #[error(
        "another call could cost {needed}, and {spent} of {limit} are spent: set another limit with `set_spend_limit` and run the flow again, or lower the `max_tokens` of the prompt, as a reply of that length is reserved"
    )]
    Reached {
        /// The highest cost of the call.
        needed: Spend,
        /// The amount spent.
        spent: Spend,
        /// The limit.
        limit: Spend,
    },
    /// The price of the model is not known.
    #[error(
        "no price is known for `{model}`, so it cannot be limited in dollars: set one with `SpendLimit::priced`, or limit the tokens"
    )]
    NoPrice {
        /// The name of the model.
        model: String,
    },
}

impl SpendLimitError {
    /// Finds the first `SpendLimitError` among an error and its sources.
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}
