//! Clusters: files that refer to each other in both directions, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Index;
use super::names::FileNumber;

impl Index {
    /// The number of the cluster of each file, by path, and the number of files that refer to it.
    pub(in crate::repo) fn clusters(&self) -> BTreeMap<Arc<str>, (u32, u32)> {
        let mut clusters: BTreeMap<FileNumber, u32> = BTreeMap::new();
        for (number, start) in (0..).zip(self.ids.values()) {
            if clusters.contains_key(start) {
                continue;
            }
            let mut open = vec![*start];
            clusters.insert(*start, number);
            while let Some(id) = open.pop() {
                for neighbour in self.mutual(id) {
                    clusters.entry(neighbour).or_insert_with(|| {
                        open.push(neighbour);
                        number
                    });
                }
            }
        }
        let numbered = self.files.iter().filter_map(|(id, file)| {
            let references = u32::try_from(file.references).unwrap_or(u32::MAX);
            Some((Arc::clone(&file.path), (*clusters.get(id)?, references)))
        });
        numbered.collect()
    }

    /// The files that refer to a file, and it to them.
    fn mutual(&self, id: FileNumber) -> impl Iterator<Item = FileNumber> {
        let file = self.files.get(&id);
        let targets = file.into_iter().flat_map(|file| file.links.values().flatten());
        let targets: BTreeSet<FileNumber> = targets.copied().collect();
        targets.into_iter().filter(move |target| file.is_some_and(|file| file.referrers.contains_key(target)))
    }
}
