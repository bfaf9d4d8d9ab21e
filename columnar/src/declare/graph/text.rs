//! Text that the compiler writes and compares, and lists that it reads: a `const fn` has no iterators.

/// A text of at most `MOST` bytes; any more are dropped, and counted.
pub(super) struct ConstText<const MOST: usize> {
    bytes: [u8; MOST],
    len: usize,
}

impl<const MOST: usize> ConstText<MOST> {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; MOST], len: 0 }
    }

    pub(super) const fn put(&mut self, text: &str) -> &mut Self {
        // A text is copied whole or not at all, so the bytes are always UTF-8.
        if let Some((_, free)) = self.bytes.split_at_mut_checked(self.len)
            && let Some((next, _)) = free.split_at_mut_checked(text.len())
        {
            next.copy_from_slice(text.as_bytes());
        }
        self.len += text.len();
        self
    }

    /// The number of bytes, with the dropped ones.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// All bytes: those that are written, and zeros after them.
    pub(super) const fn into_bytes(self) -> [u8; MOST] {
        self.bytes
    }
}

/// `==`, as the compiler can evaluate it.
pub(super) const fn is_same(one: &str, other: &str) -> bool {
    let mut one = one.as_bytes();
    let mut other = other.as_bytes();
    while let ([first, rest @ ..], [other_first, other_rest @ ..]) = (one, other) {
        if *first != *other_first {
            return false;
        }
        (one, other) = (rest, other_rest);
    }
    one.is_empty() && other.is_empty()
}

/// The element at an index, as the compiler can evaluate it.
#[expect(clippy::indexing_slicing, reason = "the index is checked")]
pub(super) const fn nth<T>(slice: &'static [T], at: usize) -> Option<&'static T> {
    if at < slice.len() { Some(&slice[at]) } else { None }
}
