//! The names that definitions use and bind.

/// The number of type parameters that are distinguished from definitions of the same name. More are rare.
const MAX_TYPES: usize = 64;
/// The longest name of a definition, in bytes. A longer one is data.
const MAX_NAME: usize = 120;

/// The names of the definitions around a node, from the outside to the inside.
#[derive(Default)]
pub(super) struct Scope<'t> {
    /// Names, and the places where they are used.
    used: Vec<(&'t str, usize)>,
    /// Names of variables, and the places from which on they are bound.
    bound: Vec<(&'t str, usize)>,
    /// Names of parameters that are types, which also definitions further inside see.
    types: Vec<&'t str>,
    imported: Vec<&'t str>,
}

/// The numbers of names before a definition.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    used: usize,
    bound: usize,
    types: usize,
}

impl<'t> Scope<'t> {
    /// Uses a name of a value.
    pub(super) fn use_value(&mut self, name: &'t str, place: usize) {
        self.used.push((name, place + 1));
    }

    /// Uses a name that no variable hides.
    pub(super) fn use_other(&mut self, name: &'t str) {
        self.used.push((name, 0));
    }

    pub(super) fn import(&mut self, name: &'t str) {
        self.imported.push(name);
    }

    /// Binds a name for the values after a place.
    pub(super) fn bind(&mut self, name: &'t str, place: usize) {
        self.bound.push((name, place + 1));
    }

    pub(super) fn bind_type(&mut self, name: &'t str) {
        if self.types.len() < MAX_TYPES {
            self.types.push(name);
        }
    }

    /// Begins a definition.
    pub(super) fn mark(&self) -> Mark {
        Mark { used: self.used.len(), bound: self.bound.len(), types: self.types.len() }
    }

    /// Ends a definition: the names that it uses without binding them.
    pub(super) fn end(&mut self, mark: Mark, is_left_out: impl Fn(&str) -> bool) -> Vec<Box<str>> {
        let Some(used) = self.used.get_mut(mark.used..) else { return Vec::new() };
        let Some(bound) = self.bound.get_mut(mark.bound..) else { return Vec::new() };
        used.sort_unstable();
        bound.sort_unstable();
        let mut names = Vec::new();
        let mut bound = bound.iter().peekable();
        // The first place of each name is the one that a variable hides least.
        for first in used.chunk_by(|a, b| a.0 == b.0).filter_map(<[_]>::first) {
            let (name, place) = *first;
            while bound.next_if(|(other, _)| *other < name).is_some() {}
            let is_bound = bound.peek().is_some_and(|(other, from)| *other == name && *from <= place);
            if !is_bound && is_name(name) && !self.types.contains(&name) && !is_left_out(name) {
                names.push(name.into());
            }
        }
        self.used.truncate(mark.used);
        self.bound.truncate(mark.bound);
        self.types.truncate(mark.types);
        names
    }

    /// Ends the file.
    pub(super) fn end_file(&mut self, is_left_out: impl Fn(&str) -> bool) -> Vec<Box<str>> {
        self.used.extend(self.imported.drain(..).map(|name| (name, 0)));
        self.end(Mark::default(), is_left_out)
    }
}

/// Whether a text can be the name of a definition. A name of one character says nothing.
fn is_name(text: &str) -> bool {
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    text.len() <= MAX_NAME && text.chars().nth(1).is_some() && !text.contains(is_gap)
}
