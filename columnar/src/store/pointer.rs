//! Stores behind pointers, so that a running program can select one.

use std::ops::Range;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::{Entry, Put, Store, StoreError, StoredSteps};
use crate::declare::Name;

macro_rules! store_behind {
    ($($pointer:ident)*) => {$(
        // A message about a type that is no store has no use for these.
        #[diagnostic::do_not_recommend]
        impl<S: Store + ?Sized> Store for $pointer<S> {
            fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
                (**self).open()
            }

            fn define(&self, definition: String) -> BoxFuture<'static, Result<(), StoreError>> {
                (**self).define(definition)
            }

            fn stored_steps(&self, column: Name) -> BoxFuture<'static, Result<StoredSteps, StoreError>> {
                (**self).stored_steps(column)
            }

            fn load(
                &self,
                column: Name,
                steps: Range<usize>,
            ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
                (**self).load(column, steps)
            }

            fn put(
                &self,
                column: Name,
                step: usize,
                entry: Entry,
            ) -> BoxFuture<'static, Result<Put, StoreError>> {
                (**self).put(column, step, entry)
            }

            fn delete(&self) -> BoxFuture<'static, Result<(), StoreError>> {
                (**self).delete()
            }
        }
    )*};
}

store_behind!(Arc Box);
