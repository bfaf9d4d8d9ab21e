//! The form of each part of a flow.
