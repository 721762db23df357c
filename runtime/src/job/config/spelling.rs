//! Spellings of options as environment variables.

/// The prefix of the environment variables of this family.
pub(super) const PREFIX: &str = "CHARE_";

/// The variable that is an option's twin.
pub(super) fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.to_uppercase())
}
