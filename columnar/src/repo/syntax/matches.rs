//! What the query of a language finds in a tree.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Node, QueryCapture, QueryCursor, StreamingIterator as _, Tree};

use super::query::SymbolQuery;
use super::symbols::SymbolKind;

/// The matches in a file.
#[derive(Default)]
pub(super) struct Matches<'n> {
    pub(super) text: &'n str,
    /// The definitions, also those that are local, each once.
    pub(super) definitions: Vec<DefinitionMatch<'n>>,
    /// The imports, in order.
    pub(super) imports: Vec<ImportMatch<'n>>,
    /// The places of the text that say something about names, in order. A place is behind those around it.
    pub(super) places: Vec<(Range<usize>, Place)>,
    /// The comments and values that signatures leave out, in order. The others are left out only if they are long.
    pub(super) gaps: Vec<(Range<usize>, bool)>,
    /// The nodes that belong to definitions, by the number of the inner node: their start, and a prefix of the signature.
    pub(super) around: HashMap<usize, (usize, Option<Node<'n>>)>,
    /// The number of bytes that the grammar does not know, and the end of the last ones.
    pub(super) stray: usize,
    stray_end: usize,
}

/// What a place says about names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// None in it is used.
    Skip,
    /// Those in it are imported.
    Import,
    /// Definitions in it are local.
    Closure,
    /// The definition with this number.
    Definition(usize),
    /// A name that is bound from a position on.
    Local(usize),
    Use,
    /// A name that is used only after a dot.
    Member,
}

/// A definition, by the nodes of a pattern.
pub(super) struct DefinitionMatch<'n> {
    /// The kind; `None` if the pattern says that there is no definition.
    pub(super) kind: Option<SymbolKind>,
    pub(super) node: Node<'n>,
    parts: Vec<(&'static str, Node<'n>)>,
    pattern: usize,
}

pub(super) struct ImportMatch<'n> {
    pub(super) source: Option<Node<'n>>,
    pub(super) texts: Vec<Node<'n>>,
    pattern: usize,
}

impl<'n> Matches<'n> {
    /// The matches in a tree.
    pub(super) fn of(
        query: &'static SymbolQuery,
        cursor: &mut QueryCursor,
        tree: &'n Tree,
        text: &'n str,
    ) -> Self {
        let mut all = Self { text, ..Self::default() };
        let names = query.query.capture_names();
        let mut walk = tree.walk();
        loop {
            let node = walk.node();
            let visit = query.visit(node.kind_id());
            if let Some(index) = visit.capture {
                all.add(0, names, &[QueryCapture { node, index }]);
            }
            if visit.is_root {
                let mut matches = cursor.matches(&query.query, node, text.as_bytes());
                while let Some(found) = matches.next() {
                    all.add(found.pattern_index, names, found.captures());
                }
            }
            if node.is_error() {
                all.add_stray(node);
            }
            if walk.goto_first_child() {
                continue;
            }
            while !walk.goto_next_sibling() {
                if !walk.goto_parent() {
                    return all.in_order();
                }
            }
        }
    }

    /// Adds an error. Nothing says what a name directly in it is.
    fn add_stray(&mut self, node: Node<'n>) {
        // An error may be inside of another one.
        self.stray += node.end_byte().saturating_sub(node.start_byte().max(self.stray_end));
        self.stray_end = self.stray_end.max(node.end_byte());
        let mut cursor = node.walk();
        let names = node.named_children(&mut cursor).filter(|child| child.child_count() == 0);
        self.places.extend(names.map(|name| (name.byte_range(), Place::Skip)));
    }

    /// Adds the nodes of a match.
    fn add(&mut self, pattern: usize, names: &[&'static str], captures: &[QueryCapture<'n>]) {
        for QueryCapture { node, index } in captures {
            let place = match names.get(*index as usize).copied().unwrap_or_default() {
                "use" => Place::Use,
                "member" => Place::Member,
                "local" => {
                    let after = captured(captures, names, "after");
                    Place::Local(after.map_or(0, |after| after.end_byte()))
                }
                "skip" => Place::Skip,
                "closure" => Place::Closure,
                "import" => {
                    let texts = captured(captures, names, "text").into_iter().collect();
                    let source = captured(captures, names, "source");
                    self.imports.push(ImportMatch { source, texts, pattern });
                    Place::Import
                }
                name @ ("comment" | "long") => {
                    self.gaps.push((node.byte_range(), name == "comment"));
                    continue;
                }
                "inner" => {
                    let around = captured(captures, names, "around").unwrap_or(*node);
                    let prefix = captured(captures, names, "prefix");
                    self.around.insert(node.id(), (around.start_byte(), prefix));
                    continue;
                }
                name => {
                    let kind = SymbolKind::named(name);
                    if kind.is_some() || name == "nothing" {
                        let parts = captures.iter();
                        let parts = parts
                            .filter_map(|part| Some((*names.get(part.index as usize)?, part.node)))
                            .collect();
                        self.definitions.push(DefinitionMatch { kind, node: *node, parts, pattern });
                    }
                    continue;
                }
            };
            self.places.push((node.byte_range(), place));
        }
    }

    /// Of several matches for one name, or one path of an import, the first pattern counts.
    fn in_order(mut self) -> Self {
        self.definitions.sort_by_key(|found| (found.name_end(), found.pattern));
        self.definitions.dedup_by_key(|found| found.name_end());
        for (number, found) in self.definitions.iter().enumerate() {
            let inner = found.node;
            let start = self.around.get(&inner.id()).map_or(inner.start_byte(), |(start, _)| *start);
            if found.kind.is_some() {
                self.places.push((start..inner.end_byte(), Place::Definition(number)));
            }
        }
        self.imports.sort_by_key(|found| (found.start(), found.pattern));
        self.imports.dedup_by(|next, first| {
            let is_same = next.start() == first.start();
            if is_same && next.pattern == first.pattern {
                first.texts.append(&mut next.texts);
            }
            is_same
        });
        self.gaps.sort_by_key(|(range, _)| range.start);
        self.places.sort_by_key(|(range, place)| (range.start, Reverse(range.end), *place));
        self
    }
}

/// The node of a match with this name.
fn captured<'n>(captures: &[QueryCapture<'n>], names: &[&str], name: &str) -> Option<Node<'n>> {
    let mut named = captures.iter().filter(|capture| names.get(capture.index as usize) == Some(&name));
    named.next().map(|capture| capture.node)
}

impl<'n> DefinitionMatch<'n> {
    pub(super) fn part(&self, name: &str) -> Option<Node<'n>> {
        self.parts.iter().find(|(part, _)| *part == name).map(|(_, node)| *node)
    }

    fn name_end(&self) -> usize {
        self.part("declarator").or(self.part("name")).map_or(0, |name| name.end_byte())
    }
}

impl ImportMatch<'_> {
    fn start(&self) -> usize {
        self.source.or(self.texts.first().copied()).map_or(0, |node| node.start_byte())
    }
}
