//! The prices of models.

use std::sync::LazyLock;

use super::{Dollars, Receipt, Usage};
use crate::model::cache::Lifetime;
use crate::model::registry::{self, ByLifetimes, Family, Price, Rebate, UnitRates, dollars, rate};

impl Price {
    /// The user's own price, in dollars for a million tokens of the request and of the reply. Tokens that are read
    /// from a cache or written to it cost as much as others of the request.
    pub const fn new(input: f64, output: f64) -> Self {
        let input = rate(input);
        let output = rate(output);
        let rates = UnitRates { input, output, read: input, write: input, long_write: None };
        Self { rates, beyond: None, batch: None, flex: None, source: "", date: "" }
    }

    /// The same price, with dollars for a million tokens that are read from the provider's cache, and written to it.
    #[must_use]
    pub const fn cached(self, read: f64, write: f64) -> Self {
        Self { rates: UnitRates { read: rate(read), write: rate(write), ..self.rates }, ..self }
    }

    /// The same price, with another price for all tokens of a request with more than `tokens` tokens.
    ///
    /// ```
    /// use columnar::usage::{Price, Usage};
    ///
    /// let price = Price::new(1.0, 5.0).beyond(200_000, Price::new(2.0, 10.0));
    /// assert_eq!(price.cost(&Usage::new(200_000, 0)).to_string(), "$0.20");
    /// assert_eq!(price.cost(&Usage::new(200_001, 0)).to_string(), "$0.400002");
    /// ```
    #[must_use]
    pub const fn beyond(self, tokens: u64, price: Self) -> Self {
        Self { beyond: Some((tokens, price.rates)), ..self }
    }

    /// The price of a model, by its name as in `COLUMNAR_MODEL`, if the registry has it. A version of a model, with a
    /// number of three digits or more, has the price of the model: `anthropic/claude-haiku-4-5-20251001` costs as much
    /// as `anthropic/claude-haiku-4-5`. The price of a model with a merely similar name is not guessed. A model on
    /// this machine is free.
    pub fn by_model(model: &str) -> Option<&'static Self> {
        Some(PRICES.get(registry::family(model)?)?.as_ref()?.of(model))
    }

    /// All prices of the registry, by the names of the models without versions. A name that ends in `/` is for all models
    /// of a provider.
    ///
    /// ```
    /// use columnar::usage::{Dollars, Price};
    ///
    /// let cheap = Price::all().filter(|(_, price)| price.output() > Dollars::ZERO);
    /// let cheap = cheap.filter(|(_, price)| price.output() <= Dollars::new(0.5));
    /// assert!(cheap.map(|(model, _)| model).any(|model| model == "openai/gpt-6-luna"));
    /// ```
    pub fn all() -> impl Iterator<Item = (&'static str, &'static Self)> {
        let families = registry::families().zip(PRICES.iter());
        families.flat_map(|(family, price)| {
            let names = family.names.split_ascii_whitespace();
            names.filter_map(move |name| Some((name, price.as_ref()?.of(name))))
        })
    }

    fn from_family(family: &Family) -> Option<ByLifetimes<Self>> {
        let price = family.price()?;
        let (short, long) = family.write_factors();
        Some(ByLifetimes { all: price.written(short, long), short: price.written(short, None) })
    }

    /// The same price, with the rates of writes by these factors.
    fn written(self, short: f64, long: Option<f64>) -> Self {
        self.map(|rates| {
            let input = dollars(rates.input);
            UnitRates { write: rate(short * input), long_write: long.map(|long| rate(long * input)), ..rates }
        })
    }

    /// The same price with other rates, also for long requests.
    fn map(self, change: impl Fn(UnitRates) -> UnitRates) -> Self {
        let beyond = self.beyond.map(|(tokens, rates)| (tokens, change(rates)));
        Self { rates: change(self.rates), beyond, ..self }
    }

    /// The price of a million uncached tokens of the request.
    pub const fn input(&self) -> Dollars {
        Dollars::of(MILLION, self.rates.input)
    }

    /// The price of a million tokens of the reply, reasoning included.
    pub const fn output(&self) -> Dollars {
        Dollars::of(MILLION, self.rates.output)
    }

    /// The price of a million tokens that are read from the provider's cache.
    pub const fn cache_read(&self) -> Dollars {
        Dollars::of(MILLION, self.rates.read)
    }

    /// The price of a million tokens that are written to the provider's cache, if it offers this lifetime.
    pub fn cache_write(&self, lifetime: Lifetime) -> Option<Dollars> {
        let each = match lifetime {
            Lifetime::Short => Some(self.rates.write),
            Lifetime::Long => self.rates.long_write,
        };
        each.map(|each| Dollars::of(MILLION, each))
    }

    /// The number of tokens of a request above which another price applies to the whole request and the reply, and
    /// that price.
    pub fn long_request(&self) -> Option<(u64, Self)> {
        self.beyond.map(|(tokens, rates)| (tokens, Self { rates, beyond: None, ..*self }))
    }

    /// The price of a request in a [batch](crate::guide::batches), whose replies may take a day, if known.
    ///
    /// ```
    /// use columnar::usage::{Dollars, Price};
    ///
    /// let sol = Price::by_model("openai/gpt-6.1-sol").expect("it has a price");
    /// let batch = sol.batch().expect("it takes batches");
    /// assert_eq!((sol.input(), batch.input()), (Dollars::new(2.0), Dollars::new(1.0)));
    /// assert_eq!(batch.batch(), None); // there is no discount on the discount
    /// ```
    #[must_use]
    pub fn batch(&self) -> Option<Self> {
        self.batch.map(|rebate| self.rebated(rebate))
    }

    /// The price of a request that the provider may let wait for minutes, or refuse, if known. The library sends no
    /// such requests: this price is for estimates.
    ///
    /// ```
    /// use columnar::usage::{Dollars, Price};
    ///
    /// let flash = Price::by_model("gemini/gemini-3.5-flash").expect("it has a price");
    /// assert_eq!(flash.flex().map(|flex| flex.output()), Some(Dollars::new(4.5)));
    ///
    /// let opus = Price::by_model("anthropic/claude-opus-5-5").expect("it has a price");
    /// assert_eq!(opus.flex(), None); // it has batches alone
    /// ```
    #[must_use]
    pub fn flex(&self) -> Option<Self> {
        self.flex.map(|rebate| self.rebated(rebate))
    }

    /// The price of a model's calls by batches, if the library can send them.
    pub(crate) fn by_batch(model: &str) -> Option<Self> {
        let provider = registry::provider(model.split('/').next()?)?;
        Self::by_model(model).filter(|_| provider.batches.is_some())?.batch()
    }

    /// The price of the calls of a receipt: by a batch, if the last one was.
    pub(super) fn of(&self, receipt: &Receipt) -> Self {
        Some(*self).filter(|_| receipt.batch).and_then(|price| price.batch()).unwrap_or(*self)
    }

    fn rebated(self, Rebate { percent, cached_percent }: Rebate) -> Self {
        let rebated = self.map(|rates| rates.percent(percent, cached_percent, percent));
        Self { batch: None, flex: None, ..rebated }
    }

    /// The page of the provider with this price; empty for the user's own price, and for free models.
    pub const fn source(&self) -> &'static str {
        self.source
    }

    /// A day on which the page is known to have had this price, as `YYYY-MM-DD`; empty without a source.
    pub const fn date(&self) -> &'static str {
        self.date
    }

    /// The cost of a call.
    ///
    /// Compute the cost of each call: the sum of several usages may look like one long request with a higher price.
    pub fn cost(&self, usage: &Usage) -> Dollars {
        self.for_call(usage).rates.cost(usage)
    }

    /// The highest cost of a call: written tokens are assumed to have the more expensive lifetime.
    pub(super) fn at_most(&self, usage: &Usage) -> Dollars {
        let rates = self.for_call(usage).rates;
        // A provider without a long lifetime has no such price, and the short one counts.
        UnitRates { write: rates.long_write.unwrap_or(0).max(rates.write), ..rates }.cost(usage)
    }

    /// The price of a call with these tokens, which may be a long request.
    pub(crate) fn for_call(&self, usage: &Usage) -> Self {
        match self.long_request() {
            Some((tokens, long)) if usage.input > tokens => long,
            _ => *self,
        }
    }
}

impl UnitRates {
    fn cost(&self, usage: &Usage) -> Dollars {
        // A provider may report more cached tokens than the request has; all are billed as reported.
        let new = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        Dollars::of(new, self.input)
            + Dollars::of(usage.cache_read, self.read)
            + Dollars::of(usage.cache_write.saturating_sub(usage.cache_write_long), self.write)
            + Dollars::of(usage.cache_write_long, self.long_write.unwrap_or(self.write).max(self.write))
            + Dollars::of(usage.output, self.output)
    }
}

/// The prices in the order of the registry; `None` for families without a price.
static PRICES: LazyLock<Vec<Option<ByLifetimes<Price>>>> =
    LazyLock::new(|| registry::families().map(Price::from_family).collect());

impl Receipt {
    /// The cost of the calls that reported a usage, if the price of the model is known. A cell that called no model is
    /// free.
    ///
    /// ```
    /// use columnar::usage::Receipt;
    ///
    /// let text = r#"{"model":"openai/gpt-6-luna","calls":1,"input":1000,"output":100}"#;
    /// assert_eq!(text.parse::<Receipt>()?.cost().expect("it is known").to_string(), "$0.00015");
    /// # Ok::<(), columnar::usage::ParseReceiptError>(())
    /// ```
    pub fn cost(&self) -> Option<Dollars> {
        match &self.model {
            _ if self.calls == 0 => Some(Dollars::ZERO),
            // A receipt has the sum of all attempts, which may look like one long request: the cost may then be too
            // high.
            Some(model) => Price::by_model(model).map(|price| price.of(self).cost(&self.usage)),
            None => None,
        }
    }
}

const MILLION: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(model: &str, usage: Usage) -> Option<String> {
        Some(Price::by_model(model)?.cost(&usage).to_string())
    }

    #[test]
    fn a_cost_is_that_of_the_providers_bill() {
        let usage = Usage::new(100_000, 1_000).cached(90_000, 5_000);
        for (model, bill) in [
            // 5,000 × $2 + 90,000 × $0.10 + 5,000 × $2.50 + 1,000 × $10, for a million each
            ("anthropic/claude-sonnet-5-5", "$0.0415"),
            ("anthropic/claude-opus-5-5", "$0.083"),
            ("openai/gpt-5.4-mini", "$0.01875"),
            ("openai_resp/gpt-6.1-sol", "$0.0415"),
            ("gemini/gemini-3.8-flash", "$0.036"),
            ("deepseek/deepseek-flash", "$0.00474"),
            ("groq/llama-3.3-70b-versatile", "$0.05979"),
            ("offline", "$0.00"),
            ("ollama/llama3.2", "$0.00"),
        ] {
            assert_eq!(cost(model, usage).as_deref(), Some(bill), "{model}");
        }
    }

    #[test]
    fn the_highest_cost_has_the_long_lifetime() {
        let usage = Usage::new(100_000, 0).cached(0, 100_000);
        for (model, cost, most) in [
            ("anthropic/claude-sonnet-5-5", "$0.25", "$0.40"),
            ("openai_resp/gpt-6.1-sol", "$0.25", "$0.50"),
            ("openai/gpt-6.1-sol", "$0.25", "$0.25"),
            ("openai/gpt-5.4-mini", "$0.075", "$0.075"),
        ] {
            let price = Price::by_model(model).expect("it is in the table");
            let both = [price.cost(&usage), price.at_most(&usage)].map(|cost| cost.to_string());
            assert_eq!(both, [cost, most], "{model}");
        }
    }

    #[test]
    fn a_long_request_has_another_price_for_all_its_tokens() {
        let long = |tokens| Usage::new(tokens, 1_000_000);
        assert_eq!(cost("anthropic/claude-haiku-5-5", long(100_000)).as_deref(), Some("$0.51"));
        assert_eq!(cost("anthropic/claude-haiku-5-5", long(100_001)).as_deref(), Some("$2.550001"));
        assert_eq!(cost("gemini/gemini-3.1-pro", long(200_001)).as_deref(), Some("$18.800004"));
        assert_eq!(cost("openai/gpt-5.5", long(272_001).cached(1, 0)).as_deref(), Some("$47.720001"));
        // Here the other price applies from 200,000 tokens on, not above.
        assert_eq!(cost("xai/grok-4.7", long(200_000)).as_deref(), Some("$12.80"));
    }

    #[test]
    fn a_rebate_is_for_all_tokens_also_of_long_requests() {
        let usage = Usage::new(300_000, 1_000).cached(290_000, 5_000);
        for (model, plain, batch, flex) in [
            // Twice 5,000 × $2 + 290,000 × $0.10 + 5,000 × $2.50, and half as much again of 1,000 × $10
            ("openai/gpt-6.1-sol", "$0.118", Some("$0.059"), Some("$0.059")),
            // Cached tokens cost as much as ever.
            ("gemini/gemini-3-flash", "$0.0225", Some("$0.0185"), Some("$0.0185")),
            ("xai/grok-4.7", "$0.342", Some("$0.2736"), None),
            ("deepseek/deepseek-flash", "$0.00594", None, None),
        ] {
            let price = Price::by_model(model).expect("it is in the table");
            let cost = |price: Price| price.cost(&usage).to_string();
            assert_eq!(cost(*price), plain, "{model}");
            assert_eq!(price.batch().map(cost).as_deref(), batch, "{model}");
            assert_eq!(price.flex().map(cost).as_deref(), flex, "{model}");
        }
    }

    #[test]
    fn implausible_usage_and_prices_saturate() {
        let price = Price::new(3.0, 15.0).cached(0.3, 3.75);
        assert_eq!(price.cost(&Usage::new(10, 0).cached(1_000_000, 1_000_000)).to_string(), "$4.05");
        let most = Usage::new(u64::MAX, u64::MAX).cached(u64::MAX, u64::MAX);
        let highest = Price::new(f64::INFINITY, f64::INFINITY).cached(f64::INFINITY, f64::INFINITY);
        assert_eq!(highest.cost(&most), highest.cost(&most) + Dollars::new(1.0));
        let nothing = Price::new(f64::NAN, -1.0);
        assert_eq!(nothing.cost(&most), Dollars::ZERO);
    }

    #[test]
    fn the_cost_of_a_sum_is_the_sum_of_the_costs() {
        let usages = |seed: u64| {
            let next = |state: u64| state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            std::iter::successors(Some(seed), move |state| Some(next(*state))).take(100).map(|state| {
                let input = state >> 50;
                let read = input * (state >> 20 & 3) / 4;
                Usage::new(input, state & 0xfff).cached(read, (input - read) / 3)
            })
        };
        for (_, price) in Price::all().filter(|(_, price)| price.beyond.is_none()) {
            for seed in 0..20 {
                let one_by_one: Dollars = usages(seed).map(|usage| price.cost(&usage)).sum();
                let together = usages(seed).fold(Usage::default(), std::ops::Add::add);
                assert_eq!(price.cost(&together), one_by_one, "{price:?}");
            }
        }
    }

    #[test]
    fn a_version_of_a_model_is_that_model() {
        for (version, model) in [
            ("anthropic/claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"),
            ("anthropic/claude-opus-4-5-20251101", "anthropic/claude-opus-4-5"),
            ("anthropic/claude-opus-4-20250514", "anthropic/claude-opus-4-1"),
            ("anthropic/claude-3-7-sonnet-latest", "anthropic/claude-sonnet-4-6"),
            ("openai/gpt-4o-2024-08-06", "openai/gpt-4o"),
            ("openai_resp/gpt-5-codex", "openai/gpt-5"),
            ("openai_resp/gpt-6.1-sol-2026-09-29", "openai_resp/gpt-6.1-sol"),
            ("gemini/gemini-2.0-flash-001", "gemini/gemini-2.0-flash"),
            ("gemini/gemini-3.1-pro-preview", "gemini/gemini-3.1-pro"),
        ] {
            let price = Price::by_model(version);
            let expected = Price::by_model(model);
            assert!(price.is_some(), "{version}");
            assert_eq!(price.map(|price| price.rates), expected.map(|price| price.rates), "{version}");
        }
        let old = Price::by_model("openai/gpt-4o-2024-05-13").map(Price::input);
        assert_eq!(old, Some(Dollars::new(5.0)), "the longest name is the closest");
    }

    #[test]
    fn no_price_is_guessed() {
        for model in [
            "",
            "openai",
            "openai/",
            "openai_resp/",
            "ollama/",
            "ollama_cloud/gpt-oss:120b",
            "offline-2",
            "gpt-4o",
            "openai/gpt-4o-audio-preview",
            "openai/gpt-4o-minimal-2",
            "openai/gpt-5.7",
            "openai/gpt-55",
            "openai/gpt-5-",
            "openai/gpt-5-turbo",
            "openai/gpt-5-high",
            "openai/gpt-5.4-mini-none",
            "moonshot/kimi-k3",
            "openai/gpt-6",
            "openai_resp/openai/gpt-5",
            "anthropic/claude-opus-5-6",
            "anthropic/claude-opus-4-9",
            "anthropic/claude-opus-4-5-1",
            "anthropic/claude-sonnet-6",
            "gemini/gemini-2.5-flash-image",
            "gemini/gemini-2.5-flash-preview-tts",
            "mistral/mistral-large-latest",
            "open_router/anthropic/claude-sonnet-5-5",
        ] {
            assert_eq!(Price::by_model(model), None, "{model}");
        }
    }

    #[test]
    fn a_cell_without_calls_is_free_and_an_unknown_model_has_no_cost() {
        let receipt = |text: &str| text.parse::<Receipt>().expect("a receipt");
        assert_eq!(receipt(r#"{"calls":0,"ms":3}"#).cost(), Some(Dollars::ZERO));
        assert_eq!(receipt(r#"{"calls":1,"input":5}"#).cost(), None);
        assert_eq!(receipt(r#"{"model":"parrot","calls":1,"input":5}"#).cost(), None);
    }
}
