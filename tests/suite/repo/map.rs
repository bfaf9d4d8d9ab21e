//! The entries of the map.
