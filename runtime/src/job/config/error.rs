//! Errors of options and their environment variables, in one line and in the runtime's spelling.

use super::charm;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::collections::BTreeMap;
use thiserror::Error;

/// The prefix of the environment variables of this family.
pub(super) const PREFIX: &str = "CHARE_";

/// The variable that is an option's twin.
pub(super) fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.to_uppercase())
}

/// A command line or environment that cannot be followed. The error is one line, with the right spelling where there is one.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// An argument is not valid UTF-8.
    #[error("argument {position} is not valid UTF-8: {lossy:?}")]
    NotUtf8 {
        /// The position of the argument, counted from 1.
        position: usize,
        /// The argument as far as it can be shown.
        lossy: String,
    },
    /// There is no such option.
    #[error("unknown option `{option}`{hint}; `+help` lists all, and what follows `--` is the program's own")]
    UnknownOption {
        /// The option as it was typed.
        option: String,
        /// Empty, or the option that was probably meant, as a clause.
        hint: String,
    },
    /// It is an option of Charm++.
    #[error(
        "`{option}` is an option of Charm++; here, {instead}; `+help` lists all, and what follows `--` is the program's own"
    )]
    OfCharm {
        /// The option as it was typed.
        option: String,
        /// What stands in its place, or that nothing does.
        instead: &'static str,
    },
    /// There is no such variable.
    #[error("unknown environment variable `{variable}`{hint}; `+help` lists all")]
    UnknownVariable {
        /// The variable as it was set.
        variable: String,
        /// Empty, or the variable that was probably meant, as a clause.
        hint: String,
    },
    /// A value is missing, malformed or out of range.
    #[error("{0}; see `+help`")]
    Value(String),
}

/// The name of the option that was probably meant.
pub(super) fn suggestion(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(known)) => Some(known.trim_start_matches('-').to_owned()),
        _ => None,
    }
}

/// clap's error as one line in our spelling; `from_environment` tells where an option came from.
pub(super) fn explain(error: &clap::Error, from_environment: &BTreeMap<String, String>) -> ConfigError {
    let subject = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(subject)) => subject.trim_start_matches('-').to_owned(),
        _ => String::new(),
    };
    if error.kind() == ErrorKind::UnknownArgument {
        if let Some(instead) = charm::instead(subject.split('=').next().unwrap_or_default()) {
            return ConfigError::OfCharm { option: format!("+{subject}"), instead };
        }
        let hint = suggestion(error).map_or_else(String::new, |known| format!(" (did you mean `+{known}`?)"));
        return ConfigError::UnknownOption { option: format!("+{subject}"), hint };
    }
    if error.kind() == ErrorKind::MissingRequiredArgument
        && let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg)
    {
        let missing = missing.iter().map(|one| format!("`+{}`", one.trim_start_matches('-')));
        let missing = missing.collect::<Vec<_>>().join(", ");
        return ConfigError::Value(format!("an option that was given needs {missing}, too"));
    }
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line).replace("'--", "'+");
    let name = subject.split([' ', '=']).next().unwrap_or_default();
    match from_environment.contains_key(name) {
        true => ConfigError::Value(format!("{line} (from `{}`)", variable_of(name))),
        false => ConfigError::Value(line),
    }
}
