//! A budget as JSON, for a store.

use serde_json::{Map, Value as Json};

use super::{Budget, Strategy};

impl Budget {
    /// An object with the fields that the budget sets.
    pub(crate) fn to_json(&self) -> Json {
        let numbers = [
            ("tokens", self.tokens),
            ("token_buffer", self.token_buffer),
            ("minimum_recent", self.minimum_recent),
        ];
        let mut fields: Map<String, Json> =
            numbers.into_iter().filter_map(|(key, number)| Some((key.into(), number?.into()))).collect();
        fields.extend(self.strategy.map(|strategy| ("strategy".into(), strategy.to_string().into())));
        fields.extend(self.low_water.map(|share| ("low_water".into(), share.into())));
        // Stored budgets have always been written in this order.
        fields.sort_keys();
        fields.into()
    }

    /// Reads the object; `None` if it is none, or has an unknown or wrong field.
    pub(crate) fn from_json(json: &Json) -> Option<Self> {
        let mut budget = Self::new();
        for (key, value) in json.as_object()? {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            budget = match key.as_str() {
                "tokens" => budget.tokens(number?),
                "token_buffer" => budget.token_buffer(number?),
                "minimum_recent" => budget.minimum_recent(number?),
                "strategy" => budget.strategy(Strategy::by_name(value.as_str()?)?),
                "low_water" => {
                    budget.low_water(value.as_f64().filter(|share| *share > 0.0 && *share <= 1.0)?)
                }
                _ => return None,
            };
        }
        Some(budget)
    }
}

impl Strategy {
    /// The strategy that prints as this name.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        let all = [Self::TruncateMiddle, Self::RollingWindow, Self::StopAtLimit];
        all.into_iter().find(|strategy| strategy.to_string() == name)
    }
}
