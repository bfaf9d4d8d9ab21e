//! Names as numbers, and the files that define and use each.

use std::collections::{BTreeSet, HashMap};

/// A file, for as long as the index exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::repo) struct FileNumber(pub(super) usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NameId(usize);

/// A name that was seen once keeps its number.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    ids: HashMap<Box<str>, NameId>,
    mentions: Vec<Mentions>,
}

#[derive(Debug, Default)]
struct Mentions {
    definers: BTreeSet<FileNumber>,
    users: BTreeSet<FileNumber>,
}

impl NameTable {
    pub(super) fn get(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    pub(super) fn add(&mut self, name: &str) -> NameId {
        if let Some(id) = self.get(name) {
            return id;
        }
        let id = NameId(self.mentions.len());
        self.mentions.push(Mentions::default());
        self.ids.insert(name.into(), id);
        id
    }

    pub(super) fn definers(&self, name: NameId) -> Option<&BTreeSet<FileNumber>> {
        Some(&self.mentions.get(name.0)?.definers)
    }

    pub(super) fn users(&self, name: NameId) -> impl Iterator<Item = FileNumber> {
        self.mentions.get(name.0).into_iter().flat_map(|mentions| mentions.users.iter().copied())
    }

    pub(super) fn set_definer(&mut self, name: NameId, file: FileNumber, is_definer: bool) {
        if let Some(mentions) = self.mentions.get_mut(name.0) {
            set(&mut mentions.definers, file, is_definer);
        }
    }

    pub(super) fn set_user(&mut self, name: NameId, file: FileNumber, is_user: bool) {
        if let Some(mentions) = self.mentions.get_mut(name.0) {
            set(&mut mentions.users, file, is_user);
        }
    }
}

fn set(files: &mut BTreeSet<FileNumber>, file: FileNumber, is_member: bool) {
    if is_member {
        files.insert(file);
    } else {
        files.remove(&file);
    }
}
