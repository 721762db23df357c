//! Spellings of options as environment variables.

/// What the environment variables of this family begin with.
pub(super) const PREFIX: &str = "CHARE_";

/// The variable that is an option's twin.
pub(super) fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.to_uppercase())
}
