//! Guest jobs: their output as it comes, and their end.

use super::machine::Guest;
use std::fs::File;
use std::io::{self, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two looks at a guest's files.
const INTERVAL: Duration = Duration::from_millis(50);

/// A file that grows, and what of it was shown.
struct Stream {
    file: File,
    rest: Vec<u8>,
}

impl Stream {
    fn open(guest: &Guest, name: &str) -> io::Result<Self> {
        Ok(Self { file: File::open(guest.control.join(name))?, rest: Vec::new() })
    }

    /// Shows whole lines; at the end also the last one. Returns whether anything had come.
    fn show(&mut self, to: &mut dyn Write, is_over: bool) -> io::Result<bool> {
        let grown = self.file.read_to_end(&mut self.rest)?;
        let whole = match is_over {
            true => self.rest.len(),
            false => self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
        };
        to.write_all(&self.rest.drain(..whole).collect::<Vec<u8>>())?;
        to.flush()?;
        Ok(grown > 0)
    }
}

/// Shows what the first guest says until it has ended. Returns its exit status: 124 when it says nothing for longer than `patience`,
/// 125 when a guest dies.
///
/// # Errors
/// The file system's.
pub(super) fn follow(guests: &mut [Guest], patience: Duration) -> io::Result<i32> {
    let mut spoke = Instant::now();
    let mut out = Stream::open(&guests[0], "out")?;
    let mut err = Stream::open(&guests[0], "err")?;
    loop {
        let death = guests.iter_mut().find_map(Guest::death);
        let status = guests[0].status().or(death.is_some().then_some(125));
        let status = status.or((spoke.elapsed() >= patience).then_some(124));
        if out.show(&mut io::stdout(), status.is_some())? | err.show(&mut io::stderr(), status.is_some())? {
            spoke = Instant::now();
        }
        if let Some(status) = status {
            death.into_iter().for_each(|death| eprintln!("{death}"));
            guests.iter().flat_map(Guest::complaints).for_each(|line| eprintln!("a guest's kernel: {line}"));
            return Ok(status);
        }
        thread::sleep(INTERVAL);
    }
}
