//! The JSON form of a breakdown. Programs depend on the names of the fields, so these names are independent of the
//! types.

use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use super::{
    Breakdown, ColumnBreakdown, DocumentBreakdown, ExchangeBreakdown, TierBreakdown, hit_rate, longest_reply,
};
use crate::context::budget::Report;
use crate::context::tiers::{Move, Moves, Tier};
use crate::model::cache::{Mark, Position, Reason};
use crate::model::usage::{Receipt, Total};

/// Serializes types as their JSON.
macro_rules! serialize_as_json {
    ($($Type:ty),*) => {
        $(impl Serialize for $Type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.json().serialize(serializer)
            }
        })*
    };
}

serialize_as_json!(Breakdown, TierBreakdown, DocumentBreakdown, ExchangeBreakdown, ColumnBreakdown);

impl Breakdown {
    fn json(&self) -> Json {
        json!({
            "column": self.column,
            "step": self.step,
            "tokens": self.tokens,
            "instruction": self.instruction,
            "flow": self.flow,
            "notes": self.notes,
            "instructions": self.instructions,
            "thread": self.thread,
            "tiers": self.tiers,
            "columns": self.columns,
            "omitted": self.omitted,
            "map": self.map_tokens(),
            "moves": self.moves.as_ref().map(moves),
            "budget": self.budget.as_ref().map(report),
            "marks": self.plan.as_ref().map(|plan| plan.marks.iter().map(mark).collect::<Vec<_>>()),
            "last_request": self.receipt.as_ref().map(last_request),
            "session": self.total.as_ref().map(session),
            "window": self.window.map(|window| window.most_input),
            "empty_tiers": self.empty_tiers,
        })
    }
}

impl TierBreakdown {
    fn json(&self) -> Json {
        json!({
            "tier": self.tier.to_string(),
            "cached": self.tier.is_cached(),
            "marked": self.marked,
            "tokens": self.tokens,
            "documents": self.documents,
            "legend": self.legend,
            "tree": self.tree,
            "exchanges": self.exchanges,
            "history": self.history,
            "prompt": self.prompt,
            "titles": self.titles,
            "acknowledgements": self.acknowledgements,
        })
    }
}

impl DocumentBreakdown {
    fn json(&self) -> Json {
        json!({
            "kind": self.key.kind().to_string(),
            "key": self.key.to_string(),
            "tokens": self.tokens,
            "n": self.n,
            "next": self.next,
            "progress": self.progress(),
        })
    }
}

impl ExchangeBreakdown {
    fn json(&self) -> Json {
        json!({
            "step": self.step,
            "tokens": self.tokens,
            "n": self.n,
            "next": self.next,
            "progress": self.progress(),
        })
    }
}

impl ColumnBreakdown {
    fn json(&self) -> Json {
        json!({ "column": self.column, "values": self.values, "hidden": self.hidden, "tokens": self.tokens })
    }
}

fn moves(moves: &Moves) -> Json {
    json!({
        "promotions": moved(moves.promotions()),
        "demotions": moved(moves.demotions()),
        "broken": moves.broken().iter().map(Tier::to_string).collect::<Vec<_>>(),
        "empty": moves.empty().iter().map(Tier::to_string).collect::<Vec<_>>(),
    })
}

fn moved(moves: &[Move]) -> Json {
    let moves = moves.iter().map(|Move { item, from, to, .. }| {
        json!({ "item": item.to_string(), "from": from.to_string(), "to": to.to_string() })
    });
    moves.collect()
}

fn report(report: &Report) -> Json {
    let Report { strategy, limit, before, after, turns, kept_fewer } = report;
    json!({
        "strategy": strategy.to_string(),
        "limit": limit,
        "before": before,
        "after": after,
        "turns": turns,
        "kept_fewer": kept_fewer,
        "over_limit": report.is_over_limit(),
    })
}

fn mark(Mark { position, lifetime, reason }: &Mark) -> Json {
    let after = match position {
        Position::System => None,
        Position::Part(at) => Some(at),
    };
    let tier = match reason {
        Reason::Tier(tier) => Some(tier.to_string()),
        _ => None,
    };
    json!({ "after": after, "tier": tier, "lifetime": lifetime.to_string() })
}

fn last_request(receipt: &Receipt) -> Json {
    let usage = &receipt.usage;
    json!({
        "model": receipt.model.as_deref(),
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "hit_rate": hit_rate(usage),
        "longest_reply": longest_reply(receipt),
    })
}

fn session(total: &Total) -> Json {
    let Total { calls, unreported, unpriced, usage, cost, .. } = total;
    json!({
        "calls": calls,
        "unreported": unreported,
        "unpriced": unpriced,
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "hit_rate": hit_rate(usage),
        "cost": cost.to_string(),
    })
}
