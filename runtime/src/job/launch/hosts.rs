//! Hosts of a job as users list them: their names, and how many nodes each takes.
//!
//! 1. `host`, `host:4` (MPICH) and `host slots=4` (Open MPI) are understood; an IPv6 address before a number of slots stands in brackets,
//!    `[fd00::7]:4`. In a file `#` begins a comment.
//! 2. A host that is listed again, as batch systems list one for each slot, has the slots of all its lines; a line without a number has one.
//! 3. A name is the remote shell's business: nobody looks it up here, so that names which only `~/.ssh/config` knows will do.

use std::str::FromStr;
use thiserror::Error;

/// The most nodes that one host starts: each pair of them shares a socket, which grows with the square.
pub const NODES_PER_HOST_MAX: u32 = 512;

/// A host that nodes may be started on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// Its name, as the remote shell takes it.
    pub name: String,
    /// How many nodes it takes; `None`: nobody said.
    pub slots: Option<u32>,
}

/// A text that names no host. One line.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum HostError {
    /// A remote shell would take the name for one of its options, or it is empty.
    #[error("`{0}` is no name of a host")]
    Name(String),
    /// The number of slots is none.
    #[error("`{0}` names no number of slots from 1 to {NODES_PER_HOST_MAX}")]
    Slots(String),
    /// There is more on the line.
    #[error("`{0}` is not understood; a host's line is `HOST`, `HOST:SLOTS` or `HOST slots=SLOTS`")]
    Word(String),
    /// A list without a host.
    #[error("it names no host")]
    Nobody,
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        let mut words = text.split_whitespace();
        let (name, glued) = split_slots(words.next().unwrap_or_default());
        // A remote shell gets it as an argument.
        if name.is_empty() || name.starts_with('-') {
            return Err(HostError::Name(name.to_owned()));
        }
        let said = match words.next() {
            Some(word) => {
                let slots = word.strip_prefix("slots=").filter(|_| glued.is_none());
                Some(slots.ok_or_else(|| HostError::Word(word.to_owned()))?)
            }
            None => glued,
        };
        if let Some(word) = words.next() {
            return Err(HostError::Word(word.to_owned()));
        }
        let number = |slots: &str| {
            let number = slots.parse().ok().filter(|number| (1..=NODES_PER_HOST_MAX).contains(number));
            number.ok_or_else(|| HostError::Slots(text.trim().to_owned()))
        };
        Ok(Self { name: name.to_owned(), slots: said.map(number).transpose()? })
    }
}

/// A name and what follows its colon. Colons within an address are its own.
fn split_slots(word: &str) -> (&str, Option<&str>) {
    let is_whole = |name: &str| !name.contains(':') || name.ends_with(']');
    let (name, slots) = match word.rsplit_once(':') {
        Some((name, slots)) if is_whole(name) => (name, Some(slots)),
        _ => (word, None),
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    (bare.unwrap_or(name), slots)
}

impl Host {
    /// The hosts that a file's text lists, each once, in the order in which they come first.
    ///
    /// # Errors
    /// The first line that names no host, or that there is none.
    pub fn read_list(text: &str) -> Result<Vec<Self>, HostError> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let hosts = lines.filter(|line| !line.is_empty()).map(str::parse).collect::<Result<Vec<_>, _>>()?;
        if hosts.is_empty() { Err(HostError::Nobody) } else { Ok(Self::merge(hosts)) }
    }

    /// The same hosts, each once: one that is listed again has the slots of all its entries.
    pub fn merge(hosts: Vec<Self>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for host in hosts {
            match merged.iter_mut().find(|known| known.name == host.name) {
                None => merged.push(host),
                Some(known) => {
                    known.slots = Some(known.slots.unwrap_or(1).saturating_add(host.slots.unwrap_or(1)));
                }
            }
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, slots: Option<u32>) -> Host {
        Host { name: name.to_owned(), slots }
    }

    #[test]
    fn both_spellings_of_slots_are_understood() {
        for (text, name, slots) in [
            ("a", "a", None),
            ("a:4", "a", Some(4)),
            ("me@a.example:512", "me@a.example", Some(512)),
            ("  a \t slots=4 ", "a", Some(4)),
            ("fd00::7", "fd00::7", None),
            ("[fd00::7]:4", "fd00::7", Some(4)),
            ("[fd00::7]", "fd00::7", None),
        ] {
            assert_eq!(text.parse(), Ok(host(name, slots)), "{text}");
        }
    }

    #[test]
    fn what_is_no_host_is_named() {
        for (text, words) in [
            ("", "`` is no name"),
            ("-oX", "`-oX` is no name"),
            (":4", "`` is no name"),
            ("a:0", "`a:0` names no number of slots from 1 to 512"),
            ("a:513", "`a:513`"),
            ("a:x", "`a:x`"),
            ("a:", "`a:`"),
            ("a slots=-1", "`a slots=-1`"),
            ("a slots", "`slots` is not understood"),
            ("a:2 slots=2", "`slots=2` is not understood"),
            ("a slots=2 max_slots=4", "`max_slots=4` is not understood"),
        ] {
            let error = text.parse::<Host>().unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn a_list_has_comments_and_repetitions() {
        let text = "# two\na slots=2\n\nb # the other\na\nb\nc\n";
        assert_eq!(Host::read_list(text), Ok(vec![host("a", Some(3)), host("b", Some(2)), host("c", None)]));
        assert_eq!(Host::read_list("# nobody\n"), Err(HostError::Nobody));
    }
}
