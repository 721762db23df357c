//! Hosts behind a remote shell: one shell process per host, which runs `chare-run --agent` there.
//!
//! 1. The shell's standard input and output carry the messages of `message`, nothing else: no port is opened, and the
//!    job's key appears in no command line and no environment. Its standard error is the launcher's.
//! 2. The end of either pipe is the end of the other side: agents end their nodes, launchers their job.
//! 3. Pipes are read and written by threads, since a remote shell may hand out any kind of descriptor.

#![expect(clippy::disallowed_methods, reason = "shells are processes, each with threads of the machine's")]

use super::control_thread::block_on;
use super::exit::Exit;
use super::message::{FromAgent, ToAgent, read_message, write_message};
use super::{agent, process};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// How long a shell whose pipes are closed has to end, so that its exit code can be told.
const SHELL_END: Duration = Duration::from_secs(1);

/// Starts `shell`, an argument list, for `host`; the shell lives as long as its task in `tasks`. The messages of the agent there go to
/// `events`, and last the reason why no more come; the messages from `orders` go to the agent.
pub(super) fn start(
    shell: &[String],
    host: &str,
    orders: UnboundedReceiver<ToAgent>,
    events: impl Fn(Result<FromAgent, String>) + Clone + Send + 'static,
    tasks: &mut JoinSet<()>,
) -> io::Result<()> {
    let (program, arguments) = shell.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
    let agent = std::env::current_exe()?;
    let agent = agent.to_str().ok_or_else(|| io::Error::other("the path of chare-run is not valid UTF-8"))?;
    let mut command = Command::new(program);
    command.args(arguments).args([host, &quote(agent), "--agent"]).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    process::die_with_launcher(&mut command);
    let mut child = tokio::process::Command::from(command).kill_on_drop(true).spawn()?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("it has no pipes"));
    };
    let (input, output) = (File::from(input.into_owned_fd()?), File::from(output.into_owned_fd()?));
    let (closed, is_closed) = oneshot::channel();
    let pass_on = events.clone();
    spawn_thread("chare-orders", move || push(orders, input))?;
    spawn_thread("chare-events", move || {
        // The task below may be gone: then nobody waits for the result.
        let _ = closed.send(pull(output, |event| pass_on(Ok(event))));
    })?;
    tasks.spawn_local(async move {
        let end = is_closed.await;
        let shell = match tokio::time::timeout(SHELL_END, child.wait()).await {
            Ok(Ok(status)) => format!("its remote shell {}", Exit::of(status)),
            _ => "its remote shell closed the connection".into(),
        };
        events(Err(match end {
            Ok(Err(cause)) => format!("what came from there is no agent's ({cause}), and {shell}"),
            _ => shell,
        }));
    });
    Ok(())
}

/// Serves a launcher at the other end of standard input and output: what `chare-run --agent` does.
///
/// # Errors
/// When the system grants no thread or descriptor.
pub fn serve_agent() -> io::Result<ExitCode> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (order, orders) = unbounded_channel();
    let (event, events) = unbounded_channel::<FromAgent>();
    spawn_thread("chare-orders", move || {
        // However the stream ends, dropping `order` tells the agent that the launcher is gone.
        let _ = pull(input, |message| drop(order.send(message)));
    })?;
    let pusher = spawn_thread("chare-events", move || push(events, output))?;
    process::keep_inheritance()?;
    block_on(agent::run(orders, event))?;
    // The last message must leave before the process ends. The thread does not panic.
    let _ = pusher.join();
    Ok(ExitCode::SUCCESS)
}

fn spawn_thread(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(run)
}

/// Writes messages until there are no more or nobody reads them.
fn push<T: Serialize>(mut messages: UnboundedReceiver<T>, mut to: impl Write) {
    while let Some(message) = messages.blocking_recv() {
        if write_message(&mut to, &message).is_err() {
            return;
        }
    }
}

/// Reads messages to the end of the stream.
fn pull<T: DeserializeOwned>(mut from: impl Read, take: impl Fn(T)) -> io::Result<()> {
    while let Some(message) = read_message(&mut from)? {
        take(message);
    }
    Ok(())
}

/// A word as a shell reads it: remote shells hand their arguments to one. Plain words stay as they are, so that a
/// remote shell which executes them directly serves, too.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quote("/usr/bin/chare-run"), "/usr/bin/chare-run");
        for word in ["/home/a b/run", "it's", "$HOME;x", "ü"] {
            let echoed = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {}", quote(word))])
                .output()
                .unwrap();
            assert_eq!(echoed.stdout, word.as_bytes());
        }
    }
}
