//! A derived column as data, and the compute step that the data describes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::table::table;
use crate::compute::{Policy, Prompt, Step, per_minute, per_second, prompt};
use crate::context::budget::{Budget, Strategy};
use crate::declare::StepError;
use crate::declare::error::nearest;
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
        /// The name of a compute step of the program, in place of a prompt.
        pub step: Option<String>,
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
    /// A rate as data: `{ per_minute = 60 }`. With both keys, both rates hold.
    pub struct RateDeclaration {
        /// The calls per minute; see [`per_minute`].
        pub per_minute: Option<u32>,
        /// The calls per second; see [`per_second`].
        pub per_second: Option<u32>,
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

impl ColumnDeclaration {
    /// The column. Mistakes of the column are errors of the flow.
    pub(super) fn column(&self, steps: &BTreeMap<&str, Step<'static>>) -> Column {
        let views = self.views.iter().map(View::from).collect();
        let column = Column::derived(self.name.clone(), views, self.step(steps));
        match &self.was {
            Some(was) => column.was(was),
            None => column,
        }
    }

    fn step(&self, steps: &BTreeMap<&str, Step<'static>>) -> Result<Step<'static>, Vec<StepError>> {
        let mut errors = Vec::new();
        let step = match (&self.prompt, &self.step) {
            (Some(prompt), None) => Some(Step::new(self.prompt(prompt, &mut errors))),
            (Some(_), Some(_)) => {
                errors.push(StepError::Both { one: "prompt", other: "step" });
                None
            }
            (None, Some(step)) => {
                let settings = self.prompt_settings().into_iter();
                errors.extend(settings.map(|setting| StepError::OnlyOfPrompts { setting }));
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
        // The policies of a step that is missing may have mistakes as well.
        let step = step.unwrap_or_else(|| Step::new(prompt("")));
        let step = self.with_policies(step, &mut errors);
        if errors.is_empty() { Ok(step) } else { Err(errors) }
    }

    fn prompt(&self, instruction: &str, errors: &mut Vec<StepError>) -> Prompt {
        let mut prompt = prompt(instruction).stop(&self.stop);
        if let Some(model) = &self.model {
            prompt = prompt.model(model.as_str());
        }
        if let Some(backup) = &self.or_model {
            prompt = prompt.or_model(backup.as_str());
        }
        prompt = self.sampled(prompt, errors);
        if let Some(tokens) = self.max_tokens {
            prompt = prompt.max_tokens(tokens);
        }
        if self.allow_truncated {
            prompt = prompt.allow_truncated();
        }
        if self.allow_empty {
            prompt = prompt.allow_empty();
        }
        if let Some(pace) = &self.pace {
            prompt = prompt.pace(pace.pace(errors));
        }
        prompt
    }

    /// The prompt with the settings of the sampling and of the thoughts.
    #[expect(clippy::cast_possible_truncation, reason = "providers take few digits")]
    fn sampled(&self, mut prompt: Prompt, errors: &mut Vec<StepError>) -> Prompt {
        match self.effort.as_deref().map(str::parse) {
            Some(Ok(effort)) => prompt = prompt.effort(effort),
            Some(Err(ParseEffortError)) => {
                let rule = "it is one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh` and `max`";
                errors.push(StepError::OutOfRange { setting: "effort", rule });
            }
            None => {}
        }
        if let Some(temperature) = self.temperature {
            prompt = prompt.temperature(temperature as f32);
        }
        if let Some(share) = self.top_p {
            prompt = prompt.top_p(share as f32);
        }
        if let Some(seed) = self.seed {
            prompt = prompt.seed(seed);
        }
        if self.lenient {
            prompt = prompt.lenient();
        }
        if self.strip_thoughts {
            prompt = prompt.strip_thoughts();
        }
        if self.keep_thoughts {
            prompt = prompt.keep_thoughts();
        }
        prompt
    }

    /// The settings that only prompts have.
    fn prompt_settings(&self) -> Vec<&'static str> {
        let settings = [
            ("model", self.model.is_some()),
            ("or_model", self.or_model.is_some()),
            ("effort", self.effort.is_some()),
            ("temperature", self.temperature.is_some()),
            ("top_p", self.top_p.is_some()),
            ("seed", self.seed.is_some()),
            ("lenient", self.lenient),
            ("strip_thoughts", self.strip_thoughts),
            ("keep_thoughts", self.keep_thoughts),
            ("stop", !self.stop.is_empty()),
            ("max_tokens", self.max_tokens.is_some()),
            ("allow_truncated", self.allow_truncated),
            ("allow_empty", self.allow_empty),
            ("pace", self.pace.is_some()),
        ];
        settings.into_iter().filter(|(_, is_set)| *is_set).map(|(setting, _)| setting).collect()
    }

    /// The step with all policies. The policies of an attempt come first, so each attempt waits for the rate, and only
    /// then its time begins.
    fn with_policies(&self, mut step: Step<'static>, errors: &mut Vec<StepError>) -> Step<'static> {
        if let Some(limit) = seconds("timeout", self.timeout, errors) {
            step = step.timeout(limit);
        }
        if let Some(rate) = &self.rate {
            let rates = [rate.per_second.map(per_second), rate.per_minute.map(per_minute)];
            if rates.iter().all(Option::is_none) {
                let rule = "it has at least one of the keys `per_minute` and `per_second`";
                errors.push(StepError::OutOfRange { setting: "rate", rule });
            }
            step = rates.into_iter().flatten().fold(step, Policy::rate);
        }
        if let Some(times) = self.retry {
            step = step.retry(times);
        }
        if let Some(cells) = self.limit {
            step = step.limit(cells);
        }
        if let Some(steps) = self.every {
            step = step.every(steps);
        }
        match (self.or_skip, self.or_wait) {
            (true, true) => errors.push(StepError::Both { one: "or_skip", other: "or_wait" }),
            (true, false) => step = step.or_skip(),
            (false, true) => step = step.or_wait(),
            (false, false) => {}
        }
        if self.document {
            step = step.document();
        }
        if let Some(budget) = &self.budget {
            step = step.budget(budget.budget(errors));
        }
        if let Some(version) = &self.version {
            step = step.version(version);
        }
        step
    }
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
        let mut budget = Budget::new();
        if let Some(tokens) = self.tokens {
            budget = budget.tokens(tokens);
        }
        if let Some(tokens) = self.token_buffer {
            budget = budget.token_buffer(tokens);
        }
        if let Some(name) = &self.strategy {
            match Strategy::by_name(name) {
                Some(strategy) => budget = budget.strategy(strategy),
                None => errors.push(StepError::OutOfRange {
                    setting: "strategy",
                    rule: "it is `truncate_middle`, `rolling_window` or `stop_at_limit`",
                }),
            }
        }
        if let Some(turns) = self.minimum_recent {
            budget = budget.minimum_recent(turns);
        }
        match self.low_water {
            Some(share) if share > 0.0 && share <= 1.0 => budget = budget.low_water(share),
            Some(_) => errors.push(StepError::OutOfRange {
                setting: "low_water",
                rule: "it is a share of the limit, above 0 and at most 1",
            }),
            None => {}
        }
        budget
    }
}
