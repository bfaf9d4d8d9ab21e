//! A derived column as data, and the compute step that the data describes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::table::table;
use crate::compute::{Policy, Prompt, Rate, Step, external, per_minute, per_second, prompt};
use crate::context::budget::{Budget, Strategy};
use crate::declare::error::nearest;
use crate::declare::{FileOrigin, StepError};
use crate::flow::{Column, View};
use crate::model::ParseEffortError;
use crate::model::cache::Pace;

table! {
    /// A computed column, as data: the views, the prompt or compute step, and all settings. Each setting has the name
    /// of the method that sets it in a program.
    pub struct ColumnDeclaration {
        /// The name of the column. This key is required.
        pub name: String,
        /// The earlier name of the column; see [`Column::was`].
        pub was: Option<String>,
        /// The views of the column, as in `flow!`: `user.latest`, `topics.window(3).as("subjects")`, `self`. Each view
        /// is a separate text.
        pub views: Vec<String>,
        /// The instruction of a [`prompt`].
        pub prompt: Option<String>,
        /// Whether the instruction stands behind the messages; see [`Prompt::after`].
        pub after: bool,
        /// The name of a compute step of the program, in place of a prompt.
        pub step: Option<String>,
        /// Whether the values come from outside, in place of a prompt; see [`external`].
        pub external: bool,
        /// The name of the model; see [`Prompt::model`].
        pub model: Option<String>,
        /// The name of the model that is called if the first one fails; see [`Prompt::or_model`].
        pub or_model: Option<String>,
        /// The word of an effort, such as `high`; see [`Prompt::effort`].
        pub effort: Option<String>,
        /// The sampling temperature; see [`Prompt::temperature`].
        pub temperature: Option<f64>,
        /// The share of probability; see [`Prompt::top_p`].
        pub top_p: Option<f64>,
        /// The seed of the sampling; see [`Prompt::seed`].
        pub seed: Option<u64>,
        /// The key that leads requests to one cache; see [`Prompt::cache_key`].
        pub cache_key: Option<String>,
        /// Whether settings that the model does not take are left out; see [`Prompt::lenient`].
        pub lenient: bool,
        /// Whether thoughts in the text are left out; see [`Prompt::strip_thoughts`].
        pub strip_thoughts: bool,
        /// Whether the receipt keeps the thoughts; see [`Prompt::keep_thoughts`].
        pub keep_thoughts: bool,
        /// The stop sequences; see [`Prompt::stop`].
        pub stop: Vec<String>,
        /// The most tokens of a reply; see [`Prompt::max_tokens`].
        pub max_tokens: Option<u32>,
        /// Whether a reply that was cut off is stored; see [`Prompt::allow_truncated`].
        pub allow_truncated: bool,
        /// Whether a reply without text is stored; see [`Prompt::allow_empty`].
        pub allow_empty: bool,
        /// The usual time between two requests; see [`Prompt::pace`].
        pub pace: Option<PaceDeclaration>,
        /// The seconds of each attempt; see [`Policy::timeout`].
        pub timeout: Option<f64>,
        /// The limit on how often attempts begin; see [`Policy::rate`].
        pub rate: Option<RateDeclaration>,
        /// The number of further attempts; see [`Policy::retry`].
        pub retry: Option<usize>,
        /// The most cells that are computed at once; see [`Policy::limit`].
        pub limit: Option<usize>,
        /// The interval of the computed steps; see [`Policy::every`].
        pub every: Option<usize>,
        /// Whether a failed cell is skipped; see [`Policy::or_skip`].
        pub or_skip: bool,
        /// Whether a failed cell waits for the next run; see [`Policy::or_wait`].
        pub or_wait: bool,
        /// Whether the context is one text; see [`Policy::document`].
        pub document: bool,
        /// The budget of a request; see [`Policy::budget`].
        pub budget: Option<BudgetDeclaration>,
        /// The version of the step; see [`Policy::version`].
        pub version: Option<String>,
    }
    required: "name";
}

table! {
    /// A rate as data: `{ per_minute = 60 }`. With several keys, all of them hold.
    pub struct RateDeclaration {
        /// The calls per minute; see [`per_minute`].
        pub per_minute: Option<u32>,
        /// The calls per second; see [`per_second`].
        pub per_second: Option<u32>,
        /// The tokens per minute, beside one of the other keys; see [`Rate::tokens_per_minute`].
        pub tokens_per_minute: Option<u32>,
    }
}

table! {
    /// A pace as data: `{ think = 75 }`, with one of the two keys.
    pub struct PaceDeclaration {
        /// The time between two requests, in seconds; see [`Pace::every`].
        pub every: Option<f64>,
        /// The median pause of a person, in seconds; see [`Pace::think`].
        pub think: Option<f64>,
    }
}

table! {
    /// A budget as data: a number of tokens alone, or a table. Each key is a method of [`Budget`].
    pub struct BudgetDeclaration {
        /// The most tokens of a request; see [`Budget::tokens`].
        pub tokens: Option<usize>,
        /// The tokens that are reserved for the reply; see [`Budget::token_buffer`].
        pub token_buffer: Option<usize>,
        /// The strategy: `truncate_middle`, `rolling_window` or `stop_at_limit`; see [`Strategy`].
        pub strategy: Option<String>,
        /// The newest turns that are kept before older ones; see [`Budget::minimum_recent`].
        pub minimum_recent: Option<usize>,
        /// The low-water mark, as a share of the limit; see [`Budget::low_water`].
        pub low_water: Option<f64>,
    }
    number: |tokens| Self { tokens: Some(tokens), ..Self::default() };
}

/// The settings that only prompts have.
const ONLY_OF_PROMPTS: &str = "model or_model effort temperature top_p seed cache_key lenient strip_thoughts keep_thoughts \
                                stop max_tokens allow_truncated allow_empty pace after";

impl ColumnDeclaration {
    /// The column. Mistakes of the column are errors of the flow.
    pub(super) fn column(&self, steps: &BTreeMap<&str, Step<'static>>) -> Column {
        // Nothing is checked here: a second checker would word the errors in another way.
        let views = self.views.iter().map(View::from).collect();
        let column = Column::derived(self.name.clone(), views, self.step(steps)).in_file(self.origin());
        with(column, self.was.as_ref(), Column::was)
    }

    /// The entry of the column, with the keys of the tables in it.
    fn origin(&self) -> FileOrigin {
        let mut origin = (*self.file.0).clone();
        let inner = [
            self.rate.as_ref().map(|rate| &rate.file),
            self.pace.as_ref().map(|pace| &pace.file),
            self.budget.as_ref().map(|budget| &budget.file),
        ];
        origin.keys.extend(inner.into_iter().flatten().flat_map(|file| file.0.keys.iter().copied()));
        origin
    }

    fn step(&self, steps: &BTreeMap<&str, Step<'static>>) -> Result<Step<'static>, Vec<StepError>> {
        let mut errors = Vec::new();
        let step = match (&self.prompt, &self.step) {
            (prompt, step) if self.external => {
                let others = [prompt.as_ref().map(|_| "prompt"), step.as_ref().map(|_| "step")];
                let others = others.into_iter().flatten();
                errors.extend(others.map(|one| StepError::Both { one, other: "external" }));
                self.check_no_prompt(&mut errors);
                Some(Step::new(external()))
            }
            (Some(prompt), None) => Some(Step::new(self.prompt(prompt, &mut errors))),
            (Some(_), Some(_)) => {
                errors.push(StepError::Both { one: "prompt", other: "step" });
                None
            }
            (None, Some(step)) => {
                self.check_no_prompt(&mut errors);
                let found = steps.get(step.as_str()).cloned();
                if found.is_none() {
                    errors.push(unknown(step, steps));
                }
                found
            }
            (None, None) => {
                errors.push(StepError::Missing);
                None
            }
        };
        errors.extend(self.out_of_range().map(|(setting, rule)| StepError::OutOfRange { setting, rule }));
        // The policies of a step that is missing may have mistakes as well.
        let step = step.unwrap_or_else(|| Step::new(prompt("")));
        let step = self.with_policies(step, &mut errors);
        errors.extend(step.settings.check_place().err());
        if errors.is_empty() { Ok(step) } else { Err(errors) }
    }

    /// Checks that no setting of prompts is set.
    fn check_no_prompt(&self, errors: &mut Vec<StepError>) {
        // As data, the declaration has the settings that are set.
        let data = serde_json::to_value(self).unwrap_or_default();
        let settings = ONLY_OF_PROMPTS.split(' ').filter(|setting| data.get(setting).is_some());
        errors.extend(settings.map(|setting| StepError::OnlyOfPrompts { setting }));
    }

    /// The settings with values that nobody means, each with the rule. People who do not program write them.
    fn out_of_range(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let rate = self.rate.clone().unwrap_or_default();
        let zeros = [
            ("max_tokens", self.max_tokens == Some(0)),
            ("limit", self.limit == Some(0)),
            ("every", self.every == Some(0)),
            ("per_minute", rate.per_minute == Some(0)),
            ("per_second", rate.per_second == Some(0)),
            ("tokens_per_minute", rate.tokens_per_minute == Some(0)),
            ("tokens", self.budget.as_ref().is_some_and(|budget| budget.tokens == Some(0))),
        ];
        let zeros = zeros.into_iter().filter(|(_, is_zero)| *is_zero);
        let zeros = zeros.map(|(setting, _)| (setting, "it is a whole number above 0"));
        // A document may go on without an instruction.
        let is_blank = self.prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) && !self.document;
        let blank = is_blank.then_some(("prompt", "it is a text that is not blank"));
        let is_mild = self.temperature.is_none_or(|temperature| (0.0..=2.0).contains(&temperature));
        let hot = (!is_mild).then_some(("temperature", "it is a number from 0 to 2"));
        let is_share = self.top_p.is_none_or(|share| share > 0.0 && share <= 1.0);
        let share = (!is_share).then_some(("top_p", "it is a share above 0 and at most 1"));
        zeros.chain(blank).chain(hot).chain(share)
    }

    fn prompt(&self, instruction: &str, errors: &mut Vec<StepError>) -> Prompt {
        let prompt = when(prompt(instruction).stop(&self.stop), self.after, Prompt::after);
        let prompt = with(prompt, self.model.as_deref(), Prompt::model);
        let prompt = with(prompt, self.or_model.as_deref(), Prompt::or_model);
        let prompt = self.sampled(prompt, errors);
        let prompt = with(prompt, self.max_tokens, Prompt::max_tokens);
        let prompt = when(prompt, self.allow_truncated, Prompt::allow_truncated);
        let prompt = when(prompt, self.allow_empty, Prompt::allow_empty);
        with(prompt, self.pace.as_ref().map(|pace| pace.pace(errors)), Prompt::pace)
    }

    /// The prompt with the settings of the sampling and of the thoughts.
    #[expect(clippy::cast_possible_truncation, reason = "providers take few digits")]
    fn sampled(&self, prompt: Prompt, errors: &mut Vec<StepError>) -> Prompt {
        let effort = self.effort.as_deref().map(str::parse);
        if let Some(Err(ParseEffortError)) = effort {
            let rule = "it is one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh` and `max`";
            errors.push(StepError::OutOfRange { setting: "effort", rule });
        }
        let prompt = with(prompt, effort.and_then(Result::ok), Prompt::effort);
        let prompt = with(prompt, self.temperature.map(|number| number as f32), Prompt::temperature);
        let prompt = with(prompt, self.top_p.map(|share| share as f32), Prompt::top_p);
        let prompt = with(prompt, self.seed, Prompt::seed);
        let prompt = with(prompt, self.cache_key.as_deref(), Prompt::cache_key);
        let prompt = when(prompt, self.lenient, Prompt::lenient);
        let prompt = when(prompt, self.strip_thoughts, Prompt::strip_thoughts);
        when(prompt, self.keep_thoughts, Prompt::keep_thoughts)
    }

    /// The step with all policies. The policies of an attempt come first, so each attempt waits for the rate, and its time
    /// begins then.
    fn with_policies(&self, step: Step<'static>, errors: &mut Vec<StepError>) -> Step<'static> {
        let mut step = with(step, seconds("timeout", self.timeout, errors), Policy::timeout);
        if let Some(rate) = &self.rate {
            let rates = [rate.per_second.map(per_second), rate.per_minute.map(per_minute)];
            let mut rates: Vec<Rate> = rates.into_iter().flatten().collect();
            match rates.pop() {
                // Under one of the rates, as each would count the tokens of each call.
                Some(last) => rates.push(with(last, rate.tokens_per_minute, Rate::tokens_per_minute)),
                None => {
                    let rule = "it has at least one of the keys `per_minute` and `per_second`";
                    errors.push(StepError::OutOfRange { setting: "rate", rule });
                }
            }
            step = rates.into_iter().fold(step, Policy::rate);
        }
        let step = with(step, self.retry, Policy::retry);
        let step = with(step, self.limit, Policy::limit);
        let step = with(step, self.every, Policy::every);
        if self.or_skip && self.or_wait {
            errors.push(StepError::Both { one: "or_skip", other: "or_wait" });
        }
        let step = when(step, self.or_skip, Policy::or_skip);
        let step = when(step, self.or_wait, Policy::or_wait);
        let step = when(step, self.document, Policy::document);
        let step = with(step, self.budget.as_ref().map(|budget| budget.budget(errors)), Policy::budget);
        with(step, self.version.as_deref(), Policy::version)
    }
}

/// Applies a setting that has a value.
pub(super) fn with<T, V>(target: T, value: Option<V>, set: impl FnOnce(T, V) -> T) -> T {
    match value {
        Some(value) => set(target, value),
        None => target,
    }
}

/// Applies a setting that is on or off.
fn when<T>(target: T, is_set: bool, set: impl FnOnce(T) -> T) -> T {
    if is_set { set(target) } else { target }
}

/// A setting that is a number of seconds.
fn seconds(setting: &'static str, value: Option<f64>, errors: &mut Vec<StepError>) -> Option<Duration> {
    let duration = Duration::try_from_secs_f64(value?);
    if duration.is_err() {
        errors.push(StepError::OutOfRange { setting, rule: "it is a number of seconds, 0 or more" });
    }
    duration.ok()
}

fn unknown(step: &str, steps: &BTreeMap<&str, Step<'static>>) -> StepError {
    let known: Vec<&str> = steps.keys().copied().collect();
    StepError::Unknown {
        step: step.to_owned(),
        suggestion: nearest(step, &known).map(|name| (*name).to_owned()),
        steps: known.into_iter().map(str::to_owned).collect(),
    }
}

impl PaceDeclaration {
    fn pace(&self, errors: &mut Vec<StepError>) -> Pace {
        let rule = "it has one of the keys `every` and `think`";
        let pace = match (self.every, self.think) {
            (every @ Some(_), None) => seconds("pace", every, errors).map(Pace::every),
            (None, think @ Some(_)) => seconds("pace", think, errors).map(Pace::think),
            _ => {
                errors.push(StepError::OutOfRange { setting: "pace", rule });
                None
            }
        };
        pace.unwrap_or_default()
    }
}

impl BudgetDeclaration {
    fn budget(&self, errors: &mut Vec<StepError>) -> Budget {
        let strategy = self.strategy.as_deref().map(Strategy::by_name);
        if strategy == Some(None) {
            let rule = "it is `truncate_middle`, `rolling_window` or `stop_at_limit`";
            errors.push(StepError::OutOfRange { setting: "strategy", rule });
        }
        let low_water = self.low_water.filter(|share| *share > 0.0 && *share <= 1.0);
        if low_water != self.low_water {
            let rule = "it is a share of the limit, above 0 and at most 1";
            errors.push(StepError::OutOfRange { setting: "low_water", rule });
        }
        let budget = with(Budget::new(), self.tokens, Budget::tokens);
        let budget = with(budget, self.token_buffer, Budget::token_buffer);
        let budget = with(budget, strategy.flatten(), Budget::strategy);
        let budget = with(budget, self.minimum_recent, Budget::minimum_recent);
        with(budget, low_water, Budget::low_water)
    }
}
