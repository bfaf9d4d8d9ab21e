//! Files that somebody else may have put there: the status, and opening without following a link.

pub(crate) mod plain_file;
pub(crate) mod status;
