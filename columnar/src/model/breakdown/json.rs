//! The JSON form of a breakdown. Programs depend on the names of the fields, so these names are independent of the
//! types.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::{Breakdown, ColumnBreakdown, DocumentBreakdown, TierBreakdown, hit_rate, longest_reply};
use crate::context::budget::Report;
use crate::context::tiers::{Move, Moves, Tier};
use crate::model::cache::{Mark, Position, Reason};
use crate::model::usage::{Receipt, Total};

/// Writes a struct field by field.
macro_rules! write_fields {
    ($serializer:expr, $name:literal, { $($field:literal: $value:expr,)* }) => {{
        let fields: &[&str] = &[$($field),*];
        let mut fields = $serializer.serialize_struct($name, fields.len())?;
        $(fields.serialize_field($field, &$value)?;)*
        fields.end()
    }};
}

impl Serialize for Breakdown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_fields!(serializer, "Breakdown", {
            "column": self.column,
            "step": self.step,
            "tokens": self.tokens,
            "instruction": self.instruction,
            "flow": self.flow,
            "notes": self.notes,
            "instructions": self.instructions,
            "tiers": self.tiers,
            "columns": self.columns,
            "omitted": self.omitted,
            "moves": self.moves.as_ref().map(MovesJson),
            "budget": self.budget.as_ref().map(ReportJson),
            "marks": self.plan.as_ref().map(|plan| plan.marks.iter().copied().map(MarkJson).collect::<Vec<_>>()),
            "last_request": self.receipt.as_ref().map(ReceiptJson),
            "session": self.total.map(TotalJson),
        })
    }
}

impl Serialize for TierBreakdown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_fields!(serializer, "TierBreakdown", {
            "tier": Text(self.tier),
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

impl Serialize for DocumentBreakdown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_fields!(serializer, "DocumentBreakdown", {
            "kind": Text(self.key.kind()),
            "key": Text(&self.key),
            "tokens": self.tokens,
            "n": self.n,
            "next": self.next,
            "progress": self.progress(),
        })
    }
}

impl Serialize for ColumnBreakdown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_fields!(serializer, "ColumnBreakdown", {
            "column": self.column,
            "values": self.values,
            "hidden": self.hidden,
            "tokens": self.tokens,
        })
    }
}

struct MovesJson<'m>(&'m Moves);

impl Serialize for MovesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let moves = |moves: &'_ [Move]| -> Vec<MoveJson> { moves.iter().cloned().map(MoveJson).collect() };
        let tiers = |tiers: &[Tier]| -> Vec<Text<Tier>> { tiers.iter().copied().map(Text).collect() };
        write_fields!(serializer, "Moves", {
            "promotions": moves(self.0.promotions()),
            "demotions": moves(self.0.demotions()),
            "broken": tiers(self.0.broken()),
            "empty": tiers(self.0.empty()),
        })
    }
}

struct MoveJson(Move);

impl Serialize for MoveJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_fields!(serializer, "Move", {
            "item": Text(&self.0.item),
            "from": Text(self.0.from),
            "to": Text(self.0.to),
        })
    }
}

struct ReportJson<'r>(&'r Report);

impl Serialize for ReportJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Report { strategy, limit, before, after, turns, kept_fewer } = self.0;
        write_fields!(serializer, "Report", {
            "strategy": Text(strategy),
            "limit": limit,
            "before": before,
            "after": after,
            "turns": turns,
            "kept_fewer": kept_fewer,
            "over_limit": self.0.is_over_limit(),
        })
    }
}

struct MarkJson(Mark);

impl Serialize for MarkJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Mark { position, lifetime, reason } = self.0;
        write_fields!(serializer, "Mark", {
            "after": match position { Position::System => None, Position::Part(at) => Some(at) },
            "tier": match reason { Reason::Tier(tier) => Some(Text(tier)), _ => None },
            "lifetime": Text(lifetime),
        })
    }
}

struct ReceiptJson<'r>(&'r Receipt);

impl Serialize for ReceiptJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let usage = &self.0.usage;
        write_fields!(serializer, "LastRequest", {
            "model": self.0.model.as_deref(),
            "input": usage.input,
            "output": usage.output,
            "cache_read": usage.cache_read,
            "cache_write": usage.cache_write,
            "hit_rate": hit_rate(usage),
            "longest_reply": longest_reply(self.0),
        })
    }
}

struct TotalJson(Total);

impl Serialize for TotalJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Total { calls, unreported, unpriced, ref usage, cost, .. } = self.0;
        write_fields!(serializer, "Session", {
            "calls": calls,
            "unreported": unreported,
            "unpriced": unpriced,
            "input": usage.input,
            "output": usage.output,
            "cache_read": usage.cache_read,
            "cache_write": usage.cache_write,
            "hit_rate": hit_rate(usage),
            "cost": Text(cost),
        })
    }
}

/// A value that serializes as the text that it prints.
struct Text<T>(T);

impl<T: std::fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
