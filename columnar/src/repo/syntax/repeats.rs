//! Definitions that a file repeats, such as those in the branches of `#if`.

use std::collections::{BTreeSet, HashMap};

use super::symbols::{Symbol, SymbolKind};

/// The kept symbol around a definition, its kind, its name, and its signature if that counts.
type Look = (Option<usize>, SymbolKind, Box<str>, Box<str>);

/// Leaves out definitions that are in the same place as an earlier one and look the same: a constant with the same name, or
/// a function with the same name and signature. The earlier one gets the names that they use.
pub(super) fn without_repeats(symbols: Vec<Symbol>) -> Vec<Symbol> {
    let mut kept: Vec<Symbol> = Vec::with_capacity(symbols.len());
    let mut first: HashMap<Look, usize> = HashMap::new();
    // The kept symbols around the current one.
    let mut around: Vec<usize> = Vec::new();
    let mut symbols = symbols.into_iter().peekable();
    while let Some(symbol) = symbols.next() {
        around.truncate(symbol.depth);
        let has_inner = symbols.peek().is_some_and(|next| next.depth > symbol.depth);
        let signature = match symbol.kind {
            SymbolKind::Constant | SymbolKind::Macro => "".into(),
            _ => symbol.signature.clone(),
        };
        let is_leaf = matches!(
            symbol.kind,
            SymbolKind::Constant | SymbolKind::Macro | SymbolKind::Function | SymbolKind::Type
        ) && !has_inner;
        if is_leaf {
            let key = (around.last().copied(), symbol.kind, symbol.name.clone(), signature);
            if let Some(first) = first.get(&key).and_then(|at| kept.get_mut(*at)) {
                let uses = std::mem::take(&mut first.uses).into_iter().chain(symbol.uses);
                first.uses = uses.collect::<BTreeSet<_>>().into_iter().collect();
                continue;
            }
            first.insert(key, kept.len());
        }
        around.push(kept.len());
        kept.push(symbol);
    }
    kept
}
