//! Stores that are another store, or have one.

use std::sync::Arc;

use super::Store;

/// The methods of [`Store`], by the same methods of a part of the store. There is no blanket implementation, since
/// compiler messages would not list the covered stores.
macro_rules! delegate_store {
    ($store:ident => $part:expr) => {
        fn open(&self) -> $crate::store::StoreFuture<Option<String>> {
            let $store = self;
            $part.open()
        }

        fn open_to_read(&self) -> $crate::store::StoreFuture<Option<String>> {
            let $store = self;
            $part.open_to_read()
        }

        fn define(&self, definition: String) -> $crate::store::StoreFuture<()> {
            let $store = self;
            $part.define(definition)
        }

        fn stored_steps(
            &self,
            column: $crate::Name,
        ) -> $crate::store::StoreFuture<$crate::store::StoredSteps> {
            let $store = self;
            $part.stored_steps(column)
        }

        fn load(
            &self,
            column: $crate::Name,
            steps: std::ops::Range<usize>,
        ) -> $crate::store::StoreFuture<$crate::store::StepEntries> {
            let $store = self;
            $part.load(column, steps)
        }

        fn put(
            &self,
            column: $crate::Name,
            step: usize,
            entry: $crate::store::Entry,
        ) -> $crate::store::StoreFuture<$crate::store::Put> {
            let $store = self;
            $part.put(column, step, entry)
        }

        fn put_blob(&self, digest: String, bytes: std::sync::Arc<[u8]>) -> $crate::store::StoreFuture<()> {
            let $store = self;
            $part.put_blob(digest, bytes)
        }

        fn load_blob(&self, digest: String) -> $crate::store::StoreFuture<Option<std::sync::Arc<[u8]>>> {
            let $store = self;
            $part.load_blob(digest)
        }

        fn keeps_order(&self) -> bool {
            let $store = self;
            $part.keeps_order()
        }

        fn changed(&self) -> Option<futures::future::BoxFuture<'static, ()>> {
            let $store = self;
            $part.changed()
        }

        fn delete(&self) -> $crate::store::StoreFuture<()> {
            let $store = self;
            $part.delete()
        }
    };
}
pub(super) use delegate_store;

// A message about a type that is no store has no use for these two.
#[diagnostic::do_not_recommend]
impl<S: Store + ?Sized> Store for Arc<S> {
    delegate_store!(store => (**store));
}

#[diagnostic::do_not_recommend]
impl<S: Store + ?Sized> Store for Box<S> {
    delegate_store!(store => (**store));
}
