//! The rules of the jail as properties.
