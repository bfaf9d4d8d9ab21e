//! The order of the columns where the compiler must find it: in flows with modules, whose columns `flow!` does not know.
#![expect(clippy::indexing_slicing, reason = "an index is that of a column of the same graph")]

use super::constant::Graph;
use super::lookup::GraphPlace;
use super::text::{ConstText, is_same, nth};

/// The end of a name in a text of names.
const END: &str = "\n";

impl Graph {
    /// Whether no cycle goes through one of these modules. If there are several cycles, it finds one of them.
    ///
    /// # Panics
    ///
    /// When there are more than `MOST` columns.
    #[doc(hidden)]
    pub const fn __is_acyclic<const MOST: usize>(&self, modules: &[&str]) -> bool {
        // The compiler cannot allocate: the arrays have the capacity `MOST`, the slices the length.
        let mut order = [0; MOST];
        let mut waits = [0; MOST];
        let mut is_sorted = [false; MOST];
        let count = self.__len() - self.first();
        assert!(count <= MOST, "a flow with parameters that it shares with a module has too many columns");
        let is_sorted = is_sorted.split_at_mut(count).0;
        if self.sort(order.split_at_mut(count).0, waits.split_at_mut(count).0, is_sorted) {
            return true;
        }
        let cycle = self.module_in_cycle(is_sorted);
        let mut rest = modules;
        while let [module, tail @ ..] = rest {
            if is_same(module, cycle) {
                return false;
            }
            rest = tail;
        }
        true
    }

    /// Sorts the columns that the base does not have, counted from the first of them: each after those that it reads,
    /// ties by index. `false` if there is a cycle; `is_sorted` then marks the columns that neither are in one nor read
    /// one. `waits` has room for a column that each waits for.
    pub(super) const fn sort(
        &self,
        order: &mut [usize],
        waits: &mut [usize],
        is_sorted: &mut [bool],
    ) -> bool {
        let mut count = 0;
        let mut first = 0;
        while count < order.len() {
            // Unknown yet: as if each waited for itself, which is not sorted before it.
            waits[count] = count;
            count += 1;
        }
        count = 0;
        while count < order.len() {
            // Without modules `flow!` has found the order, and the compiler need not search for it again.
            let next =
                if self.modules.is_empty() { self.order[count] } else { self.next(first, waits, is_sorted) };
            if next == order.len() {
                return false;
            }
            (order[count], is_sorted[next]) = (next, true);
            count += 1;
            // A search that starts at the first unsorted column is short where columns are in order.
            while first < order.len() && is_sorted[first] {
                first += 1;
            }
        }
        true
    }

    /// The first column from `at` on that waits for no other. A search in the views goes through all modules around a
    /// column, so there is none while the column of the last search is not sorted.
    const fn next(&self, mut at: usize, waits: &mut [usize], is_sorted: &[bool]) -> usize {
        while at < is_sorted.len() {
            let is_known = waits[at] != at && !is_sorted[waits[at]];
            if !is_sorted[at] && !is_known {
                let column = self.waits_for(at, is_sorted);
                if column == is_sorted.len() {
                    break;
                }
                waits[at] = column;
            }
            at += 1;
        }
        at
    }

    /// The first column that the column at `at` waits for.
    const fn waits_for(&self, at: usize, is_sorted: &[bool]) -> usize {
        let first = self.first();
        let mut view = 0;
        while let Some(read) = self.read(first + at, view) {
            // The self history and the columns of the base are computed before.
            let can_wait = read >= first && read - first < is_sorted.len() && read != first + at;
            if can_wait && !is_sorted[read - first] {
                return read - first;
            }
            view += 1;
        }
        is_sorted.len()
    }

    /// The name of a module in a cycle. `flow!` has refused a cycle without one.
    const fn module_in_cycle(&self, is_sorted: &[bool]) -> &'static str {
        let mut at = 0;
        let mut steps = 0;
        while is_sorted[at] {
            at += 1;
        }
        // An unsorted column waits for another unsorted one, so this walk has no end. After as many steps as there are
        // columns it is inside the cycle, and after twice as many it has seen all of it.
        while steps < 2 * is_sorted.len() {
            if steps >= is_sorted.len()
                && let GraphPlace::Used(module, _) = self.at(self.first() + at)
            {
                return module.name;
            }
            at = self.waits_for(at, is_sorted);
            steps += 1;
        }
        ""
    }

    /// Whether the column at this index is a source of a module.
    const fn is_input(&self, column: usize) -> bool {
        match self.at(column) {
            GraphPlace::Used(module, inner) => {
                let graph = module.columns.graph;
                // A source in the graph of a module is an input here: the flow around it binds it.
                graph.is_input(inner) || graph.source(inner).is_some()
            }
            _ => false,
        }
    }

    /// The number of bytes of [`__text`](Self::__text).
    #[doc(hidden)]
    pub const fn __text_len(&self) -> usize {
        let mut column = 0;
        let mut text = ConstText::<0>::new();
        while column < self.__len() {
            self.put_line(column, &mut text);
            column += 1;
        }
        text.len()
    }

    /// The names of the columns in topological order, for [`__names`](Self::__names).
    ///
    /// # Panics
    ///
    /// When there are more than `MOST` columns, or more than `BYTES` bytes.
    #[doc(hidden)]
    pub const fn __text<const MOST: usize, const BYTES: usize>(&self) -> [u8; BYTES] {
        assert!(
            self.__len() <= MOST && self.__text_len() <= BYTES,
            "a flow with parameters that it shares with another has too many columns for `ORDER`"
        );
        let mut text = ConstText::new();
        self.put_order::<MOST, BYTES>(&mut text);
        text.into_bytes()
    }

    const fn put_order<const MOST: usize, const BYTES: usize>(&self, text: &mut ConstText<BYTES>) {
        if let Some(base) = self.base {
            base.put_order::<MOST, BYTES>(text);
        }
        let mut order = [0; MOST];
        let mut waits = [0; MOST];
        let mut is_sorted = [false; MOST];
        let first = self.first();
        let count = self.__len() - first;
        let order = order.split_at_mut(count).0;
        // The result is not needed: `flow!` refuses a cycle, or `__is_acyclic` is false.
        self.sort(order, waits.split_at_mut(count).0, is_sorted.split_at_mut(count).0);
        let mut rest: &[usize] = order;
        while let [at, tail @ ..] = rest {
            self.put_line(first + *at, text);
            rest = tail;
        }
    }

    /// The names in a text, and empty ones after them.
    #[doc(hidden)]
    pub const fn __names<const MOST: usize>(text: &'static [u8]) -> [&'static str; MOST] {
        let mut names = [""; MOST];
        let mut count = 0;
        let mut rest = text;
        // No name contains a zero byte, so the first one is the end of the names.
        while !rest.is_empty() && rest[0] != 0 {
            let mut len = 0;
            while rest[len] != END.as_bytes()[0] {
                len += 1;
            }
            let (name, after) = rest.split_at(len);
            // Names are ASCII, so every one is valid UTF-8.
            if let Ok(name) = std::str::from_utf8(name) {
                names[count] = name;
            }
            (count, rest) = (count + 1, after.split_at(END.len()).1);
        }
        names
    }

    /// The result of [`__names`](Self::__names) without the empty names.
    #[doc(hidden)]
    pub const fn __names_slice(names: &'static [&'static str]) -> &'static [&'static str] {
        let mut count = 0;
        while let Some(name) = nth(names, count)
            && !name.is_empty()
        {
            count += 1;
        }
        names.split_at(count).0
    }

    /// Writes the name of a column, unless the column is a source of a module.
    const fn put_line<const BYTES: usize>(&self, column: usize, text: &mut ConstText<BYTES>) {
        if !self.is_input(column) {
            self.put_name(column, text);
            text.put(END);
        }
    }

    const fn put_name<const BYTES: usize>(&self, column: usize, text: &mut ConstText<BYTES>) {
        match self.at(column) {
            GraphPlace::Node(name, _) => {
                text.put(name);
            }
            GraphPlace::Used(module, inner) => {
                text.put(module.name).put(".");
                module.columns.graph.put_name(inner, text);
            }
            GraphPlace::Nowhere => {}
        }
    }
}
