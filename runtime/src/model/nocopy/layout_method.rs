//! Layout methods: how what a layout selects of another process's memory comes here, as an option says it.

use std::str::FromStr;
use thiserror::Error;

/// The way in which what a layout selects of another process's memory comes to where it is wanted, as `+layouts` says it, where the
/// memory cannot be mapped, and the kernel copies it or a network reads it by itself.
///
/// | name | who has what is selected |
/// |---|---|
/// | `pack` | its owner packs it, whatever the path |
/// | `sieve` | the receiver reads all around it, and copies it from there |
/// | `vectors` | the receiver reads it, run by run |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LayoutMethod {
    /// Packed by its owner.
    Pack,
    /// Read with all that lies between.
    Sieve,
    /// Read run by run.
    Vectors,
}

/// A text that names no method.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("it is none of `pack`, `sieve` and `vectors`")]
pub struct LayoutMethodError;

impl FromStr for LayoutMethod {
    type Err = LayoutMethodError;

    fn from_str(text: &str) -> Result<Self, LayoutMethodError> {
        match text {
            "pack" => Ok(Self::Pack),
            "sieve" => Ok(Self::Sieve),
            "vectors" => Ok(Self::Vectors),
            _ => Err(LayoutMethodError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_option() {
        let parsed = ["pack", "sieve", "vectors"].map(str::parse);
        assert_eq!(parsed, [Ok(LayoutMethod::Pack), Ok(LayoutMethod::Sieve), Ok(LayoutMethod::Vectors)]);
        assert_eq!("step".parse::<LayoutMethod>(), Err(LayoutMethodError));
    }
}
