//! Process families: ends a process and all that it started together. A step that hangs is seldom the program that was started,
//! but one of its children.

use std::fs;
use std::process::Command;

/// Ends a process and its descendants.
pub(crate) fn end(process: u32) {
    // Found before anything is ended: orphans get another parent.
    let mut family = vec![process];
    let mut next = 0;
    while let Some(&member) = family.get(next) {
        family.extend(children(member));
        next += 1;
    }
    for member in family {
        // One that is over already needs no more.
        let _ = Command::new("kill").args(["-KILL", &member.to_string()]).status();
    }
}

/// The processes that the threads of a process started.
fn children(process: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|child| child.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::end;
    use std::io::Read;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_of_a_child_is_ended() {
        let script = "sleep 1000 & echo started; wait";
        let mut shell = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = shell.stdout.take().unwrap();
        output.read_exact(&mut [0; 8]).unwrap();
        end(shell.id());
        // The pipe ends only when both are gone.
        output.read_to_end(&mut Vec::new()).unwrap();
        assert!(!shell.wait().unwrap().success());
    }
}
