//! Scripts of guests: the command, as a shell of theirs reads it.

use super::options::Machine;

/// A word as a shell reads it.
pub(super) fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The script of the guest: the command, in the same directory.
pub(super) fn script(machine: &Machine) -> String {
    let mut script = String::new();
    for variable in &machine.environment {
        let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
        script += &format!("export {name}={}\n", quote(value));
    }
    let directory = std::env::current_dir().unwrap_or_default();
    script += &format!("cd {} 2>/dev/null\n", quote(&directory.to_string_lossy()));
    let words: Vec<String> = machine.command.iter().map(|word| quote(word)).collect();
    script + &format!("exec {}\n", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::quote;
    use std::process::Command;

    #[test]
    fn words_survive_a_shell() {
        for word in ["/a b/c", "it's", "$HOME;x", ""] {
            let echo = Command::new("sh").args(["-c", &format!("printf %s {}", quote(word))]).output();
            assert_eq!(echo.expect("there is a shell").stdout, word.as_bytes());
        }
    }
}
