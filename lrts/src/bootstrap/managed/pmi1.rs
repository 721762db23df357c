//! PMI-1, the line protocol of MPICH's process managers (also Intel's, and Slurm's `pmi2` plugin): one line to ask, one line to
//! answer, words of `name=value`, over an inherited socket.
//!
//! Facts: MPICH's `src/pmi` and Slurm's `src/plugins/mpi/pmi2`.

#![expect(clippy::disallowed_methods, reason = "a process manager answers in real time")]

use super::process_manager::ProcessManager;
use crate::bootstrap::inherited;
use crate::bootstrap::wait::wait_readable;
use rustix::fd::{OwnedFd, RawFd};
use rustix::io::Errno;
use std::io;
use std::time::{Duration, Instant};

/// The longest line that is accepted, in bytes: a value of the usual limit of 1,024 and its names fit many times.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// A connection to a PMI-1 process manager.
pub(super) struct Pmi1 {
    socket: OwnedFd,
    buffered: Vec<u8>,
    patience: Duration,
    rank: u32,
    size: u32,
    name_space: String,
    text_chars_max: usize,
}

impl Pmi1 {
    /// Greets the process manager on an inherited descriptor.
    pub(super) fn connect(descriptor: RawFd, patience: Duration) -> Result<Self, String> {
        Self::over(take_socket(descriptor)?, patience)
    }

    fn over(socket: OwnedFd, patience: Duration) -> Result<Self, String> {
        let mut manager = Self {
            socket,
            buffered: Vec::new(),
            patience,
            rank: 0,
            size: 0,
            name_space: String::new(),
            text_chars_max: 0,
        };
        let deadline = Instant::now() + patience;
        manager.ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", deadline)?;
        let limits = manager.ask("cmd=get_maxes", "maxes", deadline)?;
        manager.text_chars_max = number(&limits, "vallen_max")? as usize;
        manager.name_space = word(&manager.ask("cmd=get_my_kvsname", "my_kvsname", deadline)?, "kvsname")?;
        let said = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        manager.rank = said("PMI_RANK").ok_or("PMI_RANK is no number, although PMI_FD is set")?;
        manager.size = said("PMI_SIZE").ok_or("PMI_SIZE is no number, although PMI_FD is set")?;
        Ok(manager)
    }

    /// Asks, and waits for the one answer that fits.
    fn ask(&mut self, question: &str, answer: &str, deadline: Instant) -> Result<String, String> {
        self.say(question)?;
        let line = self.hear(deadline)?;
        match word(&line, "cmd")?.as_str() {
            command if command == answer => match word(&line, "rc") {
                Ok(code) if code != "0" => Err(format!("it refused `{question}`: {line}")),
                _ => Ok(line),
            },
            _ => Err(format!("it answered `{question}` by `{line}`")),
        }
    }

    fn say(&self, line: &str) -> Result<(), String> {
        let line = format!("{line}\n");
        let mut bytes = line.as_bytes();
        while !bytes.is_empty() {
            match rustix::io::write(&self.socket, bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(cause) => return Err(format!("it cannot be reached: {cause}")),
            }
        }
        Ok(())
    }

    fn hear(&mut self, deadline: Instant) -> Result<String, String> {
        loop {
            if let Some(end) = self.buffered.iter().position(|byte| *byte == b'\n') {
                let rest = self.buffered.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.buffered, rest);
                line.truncate(end);
                return String::from_utf8(line).map_err(|_| "its answer is no text".to_owned());
            }
            if self.buffered.len() > LINE_BYTES_MAX {
                return Err(format!("its answer exceeds {LINE_BYTES_MAX} bytes"));
            }
            wait_readable(&self.socket, deadline).map_err(|cause| match cause.kind() {
                io::ErrorKind::TimedOut => {
                    let patience_s = self.patience.as_secs();
                    format!("no answer within {patience_s} s; have all processes of the job started?")
                }
                _ => format!("it cannot be waited for: {cause}"),
            })?;
            let mut bytes = [0; 4096];
            match rustix::io::read(&self.socket, &mut bytes) {
                Ok(0) => return Err("it is gone; the launcher has ended".to_owned()),
                Ok(read) => self.buffered.extend_from_slice(&bytes[..read]),
                Err(Errno::INTR) => {}
                Err(cause) => return Err(format!("it cannot be heard: {cause}")),
            }
        }
    }
}

impl ProcessManager for Pmi1 {
    fn name(&self) -> &'static str {
        "PMI-1"
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn text_chars_max(&self) -> usize {
        // The limit counts a terminating zero.
        self.text_chars_max.saturating_sub(1)
    }

    fn publish(&mut self, key: &str, text: &str) -> Result<(), String> {
        let question = format!("cmd=put kvsname={} key={key} value={text}", self.name_space);
        self.ask(&question, "put_result", Instant::now() + self.patience).map(drop)
    }

    fn fence(&mut self, deadline: Instant) -> Result<(), String> {
        self.ask("cmd=barrier_in", "barrier_out", deadline).map(drop)
    }

    fn look_up(&mut self, _rank: u32, key: &str, deadline: Instant) -> Result<String, String> {
        let question = format!("cmd=get kvsname={} key={key}", self.name_space);
        word(&self.ask(&question, "get_result", deadline)?, "value")
    }

    fn finish(&mut self) {
        // A launcher that is gone needs no goodbye.
        let _ = self.ask("cmd=finalize", "finalize_ack", Instant::now() + self.patience);
    }
}

/// The value of a name in a line of `name=value` words.
fn word(line: &str, name: &str) -> Result<String, String> {
    line.split_ascii_whitespace()
        .filter_map(|word| word.split_once('='))
        .find_map(|(known, value)| (known == name).then(|| value.to_owned()))
        .ok_or_else(|| format!("its answer `{line}` lacks `{name}`"))
}

fn number(line: &str, name: &str) -> Result<u32, String> {
    word(line, name)?.parse().map_err(|_| format!("`{name}` in its answer `{line}` is no number"))
}

/// The launcher's socket.
fn take_socket(descriptor: RawFd) -> Result<OwnedFd, String> {
    inherited::take_socket(descriptor, |_| true).ok_or_else(|| {
        format!(
            "PMI_FD is {descriptor}, where no launcher's socket is; start the program by its launcher or unset PMI_FD"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_name() {
        let line = "cmd=get_result rc=0 msg=success value=a=b.";
        assert_eq!(word(line, "value").unwrap(), "a=b.");
        assert_eq!(number(line, "rc"), Ok(0));
        assert!(word(line, "val").unwrap_err().contains("lacks `val`"));
        assert!(number(line, "msg").is_err());
    }

    #[test]
    fn a_descriptor_that_is_no_socket_is_refused() {
        assert!(take_socket(1).is_err());
        assert!(take_socket(100_000).is_err());
        let (file, _) = rustix::pipe::pipe().unwrap();
        assert!(take_socket(std::os::fd::AsRawFd::as_raw_fd(&file)).is_err());
    }
}
