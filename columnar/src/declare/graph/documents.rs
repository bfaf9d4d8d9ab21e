//! The sources of documents among the columns of other flows, which `flow!` does not know. The compiler evaluates this.

use super::constant::Graph;
use super::lookup::{At, nth};
use super::text::Text;
use super::view::View;

impl Graph {
    /// Whether the column at an index holds documents. For a source of a module that is the column that it is bound to.
    const fn is_documents(&self, column: usize) -> bool {
        match (self.at(column), self.base) {
            (At::Node(..), _) => {
                let mut rest = self.documents;
                while let [node, tail @ ..] = rest {
                    if self.first() + *node == column {
                        return true;
                    }
                    rest = tail;
                }
                false
            }
            (At::Base, Some(base)) => base.is_documents(column),
            (At::Used(module, inner), _) => match module.columns.graph.source(inner) {
                Some(source) => self.is_documents(module.input(source)),
                None => module.columns.graph.is_documents(inner),
            },
            _ => false,
        }
    }

    /// Whether any column may hold documents. Nearly all flows have none, and need no checks.
    const fn has_documents(&self) -> bool {
        if let Some(base) = self.base
            && base.has_documents()
        {
            return true;
        }
        let mut rest = self.modules;
        while let [module, tail @ ..] = rest {
            if module.columns.graph.has_documents() {
                return true;
            }
            rest = tail;
        }
        !self.documents.is_empty()
    }

    /// Checks the views of documents. `flow!` has checked those of its own sources.
    #[track_caller]
    pub(super) const fn check_views_of_documents(&self) {
        if !self.has_documents() {
            return;
        }
        let mut node = 0;
        while node < self.nodes.len() {
            let (mut at, mut first, mut is_tiered) = (0, None, false);
            // Whether there are more documents than those of the first view, and whether these are shown again.
            let (mut has_others, mut is_repeated) = (false, false);
            while let Some(view) = self.view(node, at) {
                if self.is_documents(view.column) {
                    if !view.is_whole() {
                        self.refuse_part(node, view.column);
                    }
                    match first {
                        Some(first) if first == view.column => is_repeated = true,
                        Some(_) => has_others = true,
                        None => first = Some(view.column),
                    }
                    is_tiered = is_tiered || view.tiering.is_some();
                }
                at += 1;
            }
            if is_tiered && has_others {
                self.refuse_others(node);
            }
            if let Some(documents) = first
                && is_tiered
                && is_repeated
            {
                self.refuse_twice(node, documents);
            }
            node += 1;
        }
    }

    /// Checks that sources of modules are bound to columns that hold the same.
    #[track_caller]
    pub(super) const fn check_inputs_of_documents(&self) {
        let mut rest = if self.has_documents() { self.modules } else { &[] };
        while let [module, tail @ ..] = rest {
            let graph = module.columns.graph;
            let mut column = 0;
            while column < graph.__len() {
                if let Some(source) = graph.source(column)
                    && module.is_bound(source)
                    && graph.is_documents(column) != self.is_documents(module.input(source))
                {
                    self.refuse_input(module.name, source, module.input(source), graph.is_documents(column));
                }
                column += 1;
            }
            rest = tail;
        }
    }

    const fn view(&self, node: usize, at: usize) -> Option<View> {
        match self.views(node) {
            Some(views) => views.get(at),
            None => None,
        }
    }

    #[track_caller]
    const fn refuse_part(&self, node: usize, read: usize) -> ! {
        let mut text = Text::<1024>::new();
        self.put_node(node, &mut text);
        text.put(" reads a part of `");
        self.put_name(read, &mut text);
        text.put("`, and documents are a set, which has no window\n\nhelp: read `");
        self.put_name(read, &mut text);
        text.put("` or `");
        self.put_name(read, &mut text);
        text.put(".tiered()`").panic()
    }

    #[track_caller]
    const fn refuse_twice(&self, node: usize, read: usize) -> ! {
        let mut text = Text::<1024>::new();
        self.put_node(node, &mut text);
        text.put(" reads `");
        self.put_name(read, &mut text);
        text.put("` twice, and once in tiers\n\nhelp: drop one of the two").panic()
    }

    #[track_caller]
    const fn refuse_others(&self, node: usize) -> ! {
        let mut text = Text::<1024>::new();
        self.put_node(node, &mut text);
        text.put(" has a tiered view, so it can read no other documents\n\n");
        text.put("help: put all of them into one source, or drop one of the views").panic()
    }

    #[track_caller]
    const fn refuse_input(&self, module: &str, source: &str, column: usize, is_documents: bool) -> ! {
        let (takes, holds) = if is_documents { ("documents", "text") } else { ("text", "documents") };
        let mut text = Text::<1024>::new();
        text.put("the input `")
            .put(source)
            .put("` of `")
            .put(module)
            .put("` takes ")
            .put(takes)
            .put(", and `");
        self.put_name(column, &mut text);
        text.put("` holds ").put(holds).put("\n\nhelp: bind it to ");
        text.put(if is_documents { "a source of documents" } else { "a column of text" });
        text.panic()
    }

    const fn put_node<const MOST: usize>(&self, node: usize, text: &mut Text<MOST>) {
        if let Some((name, ..)) = nth(self.nodes, node) {
            text.put("`").put(name).put("`");
        }
    }
}
