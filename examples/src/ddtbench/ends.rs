//! Ends of an exchange.

/// One of the two ends of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Whence elements leave.
    Source,
    /// Where they land.
    Target,
}
