//! Text that the compiler writes.

/// At most `MOST` bytes of it; what does not go in is left out.
pub(super) struct Text<const MOST: usize> {
    bytes: [u8; MOST],
    len: usize,
}

impl<const MOST: usize> Text<MOST> {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; MOST], len: 0 }
    }

    pub(super) const fn put(&mut self, text: &str) -> &mut Self {
        if let Some((_, free)) = self.bytes.split_at_mut_checked(self.len)
            && let Some((place, _)) = free.split_at_mut_checked(text.len())
        {
            place.copy_from_slice(text.as_bytes());
            self.len += text.len();
        }
        self
    }

    /// How many bytes are written.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// All bytes, also those that nothing is written to.
    pub(super) const fn into_bytes(self) -> [u8; MOST] {
        self.bytes
    }

    /// Panics with the text, which the compiler shows as an error.
    #[track_caller]
    #[expect(clippy::panic, reason = "the compiler shows it as an error")]
    pub(super) const fn panic(&self) -> ! {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("what is written piece by piece is text"),
        }
    }
}

/// `==`, as the compiler can evaluate it.
pub(super) const fn is_same(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    while let ([first, rest @ ..], [other_first, other_rest @ ..]) = (one, other) {
        if *first != *other_first {
            return false;
        }
        (one, other) = (rest, other_rest);
    }
    one.is_empty() && other.is_empty()
}
