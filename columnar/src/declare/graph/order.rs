//! The order of columns, where the compiler has to find it: in flows that use others, of whose columns `flow!` knows
//! nothing.
#![expect(clippy::indexing_slicing, reason = "an index is a place of the graph that it came from")]

use super::constant::Graph;
use super::lookup::{At, nth};
use super::text::Text;

/// What stands behind a name among others.
const END: &str = "\n";

impl Graph {
    /// Nothing, if no column waits for itself.
    ///
    /// # Panics
    ///
    /// With a drawing of the cycle, or when there are more columns than places.
    #[doc(hidden)]
    #[track_caller]
    pub const fn __sorted<const PLACES: usize>(&self) {
        let (mut order, mut is_sorted) = ([0; PLACES], [false; PLACES]);
        let own = self.__len() - self.first();
        assert!(own <= PLACES, "a flow with parameters that it shares with a module has too many columns");
        let (order, is_sorted) = (order.split_at_mut(own).0, is_sorted.split_at_mut(own).0);
        if !self.sort(order, is_sorted) {
            self.draw_cycle(is_sorted);
        }
    }

    /// Sorts the own places, counted from the first of them: each after those that it reads, ties by place.
    /// `false` if there is a cycle; `is_sorted` then tells what is no part of one and reads none.
    pub(super) const fn sort(&self, order: &mut [usize], is_sorted: &mut [bool]) -> bool {
        let (mut count, mut first) = (0, 0);
        while count < order.len() {
            let next = if self.modules.is_empty() { self.order[count] } else { self.next(first, is_sorted) };
            if next == order.len() {
                return false;
            }
            (order[count], is_sorted[next]) = (next, true);
            count += 1;
            while first < order.len() && is_sorted[first] {
                first += 1;
            }
        }
        true
    }

    /// The first place from `at` on that waits for nothing.
    const fn next(&self, mut at: usize, is_sorted: &[bool]) -> usize {
        while at < is_sorted.len() && (is_sorted[at] || self.waits_for(at, is_sorted) < is_sorted.len()) {
            at += 1;
        }
        at
    }

    /// The first place that the column at `at` waits for.
    const fn waits_for(&self, at: usize, is_sorted: &[bool]) -> usize {
        let (first, mut view) = (self.first(), 0);
        while let Some(read) = self.read(first + at, view) {
            // The own past is there already, and so is what this extends.
            let is_own = read >= first && read - first < is_sorted.len() && read != first + at;
            if is_own && !is_sorted[read - first] {
                return read - first;
            }
            view += 1;
        }
        is_sorted.len()
    }

    #[track_caller]
    const fn draw_cycle(&self, is_sorted: &[bool]) -> ! {
        let mut at = 0;
        while is_sorted[at] {
            at += 1;
        }
        // Whoever goes on for long enough is in the cycle. It begins with a column of this flow, if it has any.
        let (mut steps, enough) = (0, is_sorted.len());
        while steps < enough
            || steps < 2 * enough && at >= self.nodes.len()
            || self.is_input(self.first() + at)
        {
            at = self.waits_for(at, is_sorted);
            steps += 1;
        }
        let mut text = Text::<4096>::new();
        text.put("these columns wait for each other, so none of them can run first\n\n");
        let width = self.width(at, is_sorted);
        let (first, mut arrow) = (at, "  ┌→ ");
        loop {
            let reader = at;
            at = self.waits_for_column(at, is_sorted);
            text.put(arrow);
            let begin = text.len();
            self.put_name(self.first() + reader, &mut text);
            while text.len() < begin + width {
                text.put(" ");
            }
            text.put("  reads `");
            self.put_name(self.first() + at, &mut text);
            text.put("`\n");
            arrow = "  │  ";
            if at == first {
                break;
            }
        }
        text.put("  └─┘\n\nhelp: drop one of these reads, or read what was said a step before: `");
        self.put_name(self.first() + self.waits_for_column(first, is_sorted), &mut text);
        text.put(".prev`");
        text.panic()
    }

    /// The length of the longest name in a cycle.
    const fn width(&self, first: usize, is_sorted: &[bool]) -> usize {
        let (mut at, mut width) = (first, 0);
        loop {
            let len = self.name_len(self.first() + at);
            if len > width {
                width = len;
            }
            at = self.waits_for_column(at, is_sorted);
            if at == first {
                return width;
            }
        }
    }

    /// The first column that the column at `at` waits for. An input of a module is what it is bound to.
    const fn waits_for_column(&self, at: usize, is_sorted: &[bool]) -> usize {
        let mut at = self.waits_for(at, is_sorted);
        while self.is_input(self.first() + at) {
            at = self.waits_for(at, is_sorted);
        }
        at
    }

    /// Whether a source of a module stands there.
    const fn is_input(&self, column: usize) -> bool {
        match (self.at(column), self.base) {
            (At::Used(module, inner), _) => {
                let graph = module.place.graph;
                graph.is_input(inner) || graph.source(inner).is_some()
            }
            (At::Base, Some(base)) => base.is_input(column),
            _ => false,
        }
    }

    /// How many bytes [`__text`](Self::__text) has.
    #[doc(hidden)]
    #[must_use]
    pub const fn __text_len(&self) -> usize {
        let (mut column, mut len) = (0, 0);
        while column < self.__len() {
            if !self.is_input(column) {
                len += self.name_len(column) + END.len();
            }
            column += 1;
        }
        len
    }

    /// The names of the columns in topological order, for [`__names`](Self::__names).
    ///
    /// # Panics
    ///
    /// When there are more columns than places, or more text than bytes.
    #[doc(hidden)]
    #[must_use]
    pub const fn __text<const PLACES: usize, const BYTES: usize>(&self) -> [u8; BYTES] {
        assert!(
            self.__len() <= PLACES && self.__text_len() <= BYTES,
            "a flow with parameters that it shares with another has too many columns for `ORDER`"
        );
        let mut text = Text::new();
        self.put_order::<PLACES, BYTES>(&mut text);
        text.into_bytes()
    }

    const fn put_order<const PLACES: usize, const BYTES: usize>(&self, text: &mut Text<BYTES>) {
        if let Some(base) = self.base {
            base.put_order::<PLACES, BYTES>(text);
        }
        let (first, mut order, mut is_sorted) = (self.first(), [0; PLACES], [false; PLACES]);
        let own = self.__len() - first;
        let (order, is_sorted) = (order.split_at_mut(own).0, is_sorted.split_at_mut(own).0);
        self.sort(order, is_sorted);
        let mut rest: &[usize] = order;
        while let [at, tail @ ..] = rest {
            if !self.is_input(first + *at) {
                self.put_name(first + *at, text);
                text.put(END);
            }
            rest = tail;
        }
    }

    /// The names in a text, and nothing in the places that are left.
    #[doc(hidden)]
    #[must_use]
    pub const fn __names<const PLACES: usize>(text: &'static [u8]) -> [&'static str; PLACES] {
        let (mut names, mut count, mut rest) = ([""; PLACES], 0, text);
        while !rest.is_empty() && rest[0] != 0 {
            let mut len = 0;
            while rest[len] != END.as_bytes()[0] {
                len += 1;
            }
            let (name, behind) = rest.split_at(len);
            if let Ok(name) = std::str::from_utf8(name) {
                names[count] = name;
            }
            (count, rest) = (count + 1, behind.split_at(END.len()).1);
        }
        names
    }

    /// The places that are taken, of those that [`__names`](Self::__names) has filled.
    #[doc(hidden)]
    #[must_use]
    pub const fn __names_slice(names: &'static [&'static str]) -> &'static [&'static str] {
        let mut count = 0;
        while let Some(name) = nth(names, count)
            && !name.is_empty()
        {
            count += 1;
        }
        names.split_at(count).0
    }

    const fn name_len(&self, column: usize) -> usize {
        match (self.at(column), self.base) {
            (At::Node(name, _), _) => name.len(),
            (At::Used(module, inner), _) => module.name.len() + 1 + module.place.graph.name_len(inner),
            (At::Base, Some(base)) => base.name_len(column),
            _ => 0,
        }
    }

    const fn put_name<const MOST: usize>(&self, column: usize, text: &mut Text<MOST>) {
        match (self.at(column), self.base) {
            (At::Node(name, _), _) => {
                text.put(name);
            }
            (At::Used(module, inner), _) => {
                text.put(module.name).put(".");
                module.place.graph.put_name(inner, text);
            }
            (At::Base, Some(base)) => base.put_name(column, text),
            _ => {}
        }
    }
}
