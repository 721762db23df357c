//! A command line, split: the runtime's options, and the arguments of the program.

use super::charm;
use super::error::ConfigError;
use clap::{ArgAction, Command};
use std::ffi::OsString;
use std::net::SocketAddr;

/// A command line, split: options in the spelling that clap knows, and the program's arguments.
pub(super) struct Split {
    pub(super) options: Vec<String>,
    pub(super) program_arguments: Vec<String>,
}

impl Split {
    /// # Errors
    /// An argument that is not valid UTF-8, or an option of Charm++'s launcher.
    pub(super) fn of(
        arguments: impl IntoIterator<Item = OsString>,
        command: &Command,
    ) -> Result<Self, ConfigError> {
        let mut split = Self { options: Vec::new(), program_arguments: Vec::new() };
        let mut arguments = utf8(arguments)?.into_iter().peekable();
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                split.program_arguments.push(argument);
                split.program_arguments.extend(arguments);
                break;
            }
            if let Some(instead) = argument.strip_prefix("++").and_then(charm::instead) {
                return Err(ConfigError::OfCharm { option: argument, instead });
            }
            let name =
                argument.strip_prefix('+').filter(|name| name.starts_with(|c: char| c.is_alphabetic()));
            let Some(name) = name else {
                split.program_arguments.push(argument);
                continue;
            };
            let mut option = format!("--{}", unglue(name));
            if let Some(value) = arguments.next_if(|next| takes(command, name, next)) {
                option = format!("{option}={value}");
            }
            split.options.push(option);
        }
        Ok(split)
    }
}

/// Turns `p4`, as users of Charm++ type it, into `p=4`.
fn unglue(name: &str) -> String {
    let number = name.strip_prefix(['p', 'n']).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    number.map_or_else(|| name.to_owned(), |number| format!("{}={number}", &name[..1]))
}

/// Whether an option takes the argument that follows it as its value.
fn takes(command: &Command, name: &str, next: &str) -> bool {
    let known = command.get_arguments().find(|known| known.get_long() == Some(name));
    known.is_some_and(|known| match known.get_num_args() {
        Some(values) if values.min_values() == 0 && values.takes_values() => {
            next.parse::<SocketAddr>().is_ok()
        }
        _ => !matches!(known.get_action(), ArgAction::SetTrue),
    })
}

pub(super) fn is_named(option: &str, name: &str) -> bool {
    option.strip_prefix("--").and_then(|option| option.split('=').next()) == Some(name)
}

fn utf8(arguments: impl IntoIterator<Item = OsString>) -> Result<Vec<String>, ConfigError> {
    (1..)
        .zip(arguments)
        .map(|(position, argument)| {
            argument.into_string().map_err(|argument| ConfigError::NotUtf8 {
                position,
                lossy: argument.to_string_lossy().into_owned(),
            })
        })
        .collect()
}
