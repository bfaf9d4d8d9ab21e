//! Files that somebody else may have put there: opened without following a link, and their status.

pub(crate) mod plain_file;
pub(crate) mod status;
