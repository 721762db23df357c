//! Environment variables: each option has one as its twin.

use super::error::{ConfigError, PREFIX, suggestion, variable_of};
use crate::job::build;
use crate::job::patience::TIMEOUT_VARIABLE;
use clap::{ArgAction, Command};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Variables of the family that are no twins: those of launchers and nodes. Tests may use those with the prefix below as they like.
const OTHER_VARIABLES: [&str; 4] = [
    chare_lrts::bootstrap::launched::VARIABLE,
    chare_lrts::bootstrap::launchers::TAKEN,
    TIMEOUT_VARIABLE,
    build::VARIABLE,
];
const TEST_PREFIX: &str = "CHARE_TEST_";

/// The processors that Slurm gave to each task, if they are several and this process is the first task, or the only one.
pub(super) fn processors_of_task(environment: &[(OsString, OsString)]) -> Option<u32> {
    let number = |name: &str| {
        let (_, value) = environment.iter().find(|(variable, _)| variable == name)?;
        value.to_str()?.parse::<u32>().ok()
    };
    let is_first = number("SLURM_PROCID").is_none_or(|task| task == 0);
    number("SLURM_CPUS_PER_TASK").filter(|processors| is_first && *processors > 1)
}

/// The options that the environment sets, by their names.
pub(super) fn twins(
    environment: Vec<(OsString, OsString)>,
    command: &Command,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut twins = BTreeMap::new();
    for (variable, value) in environment {
        let Some(variable) = variable.to_str().filter(|variable| variable.starts_with(PREFIX)) else {
            continue;
        };
        if OTHER_VARIABLES.contains(&variable) || variable.starts_with(TEST_PREFIX) || value.is_empty() {
            continue;
        }
        let name = variable[PREFIX.len()..].to_lowercase();
        let known = command.get_arguments().find(|known| known.get_long() == Some(&name));
        let Some(known) = known.filter(|_| variable_of(&name) == variable) else {
            return Err(unknown_variable(variable, command));
        };
        let value = value
            .into_string()
            .map_err(|value| ConfigError::Value(format!("`{variable}` is not valid UTF-8: {value:?}")))?;
        if !matches!(known.get_action(), ArgAction::SetTrue) {
            twins.insert(name.clone(), format!("--{name}={value}"));
        } else if is_on(variable, &value)? {
            twins.insert(name.clone(), format!("--{name}"));
        }
    }
    Ok(twins)
}

fn is_on(variable: &str, value: &str) -> Result<bool, ConfigError> {
    match value.to_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(ConfigError::Value(format!("`{variable}` is `{value}`; it takes 1 or 0"))),
    }
}

/// An error for an unknown variable; the suggestion is clap's, for an option of that name.
fn unknown_variable(variable: &str, command: &Command) -> ConfigError {
    let option = format!("--{}", variable[PREFIX.len()..].to_lowercase());
    let error = command.clone().try_get_matches_from([option]).err();
    let suggestion = error.as_ref().and_then(suggestion).map(|name| variable_of(&name));
    let hint = suggestion.map_or_else(String::new, |known| format!(" (did you mean `{known}`?)"));
    ConfigError::UnknownVariable { variable: variable.to_owned(), hint }
}
