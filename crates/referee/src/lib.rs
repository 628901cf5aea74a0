//! Who runs matches.
