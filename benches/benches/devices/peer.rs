//! Peer: this program again as a second process on the same device, which does what it is told by lines on its standard input.

use crate::bed::{Bed, Fallible, Kind};
use crate::filled::fill;
use crate::grid::Grid;
use chare_device::{Arena, MemoryHandle};
use rustix::fd::AsRawFd;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// Bytes of the memory that it shows, and what they are.
const SHOWN: [u8; 1000] = [7; 1000];

/// What a step of either process copies, in blocks of how many bytes.
pub(crate) const STEP: (u64, u64) = (1 << 20, 64);

/// The words that it knows, each answered by a line.
pub(crate) const ECHO: &str = "echo";
pub(crate) const ONE_STEP: &str = "step";
/// Steps without end, until the next word.
pub(crate) const BUSY: &str = "busy";
/// What its memory is: a descriptor, the length of the arena, and where in it.
const SHOW: &str = "show";

/// The other process, as this one sees it.
pub(crate) struct Peer {
    child: Child,
    /// Taken when it is to end.
    says: Option<ChildStdin>,
    hears: BufReader<ChildStdout>,
}

impl Peer {
    pub(crate) fn start(kind: Kind) -> Fallible<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--device", &kind.to_string(), "--peer"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (says, hears) = (child.stdin.take(), child.stdout.take().expect("it is piped"));
        let mut peer = Self { child, says, hears: BufReader::new(hears) };
        // It has a device now.
        peer.ask(ECHO)?;
        Ok(peer)
    }

    /// Says a word, and waits for the answer.
    pub(crate) fn ask(&mut self, word: &str) -> Fallible<String> {
        let mut says = self.says.as_ref().expect("it is taken when this is dropped");
        says.write_all(format!("{word}\n").as_bytes())?;
        let mut answer = String::new();
        if self.hears.read_line(&mut answer)? == 0 {
            return Err(format!("the other process has ended: {}", self.child.wait()?).into());
        }
        Ok(answer.trim_end().to_owned())
    }

    /// Maps its memory by the descriptor, which is taken from it as nodes of a job do, and looks at it.
    pub(crate) fn look(&mut self, bed: &Bed) -> Fallible<String> {
        let shown = self.ask(SHOW)?;
        let numbers: Vec<u64> = shown.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [descriptor, len, offset] = numbers[..] else {
            return Err(format!("not three numbers: {shown}").into());
        };
        let process = Pid::from_child(&self.child);
        let taken = pidfd_open(process, PidfdFlags::empty())
            .and_then(|process| pidfd_getfd(process, descriptor as i32, PidfdGetfdFlags::empty()));
        let taken = match taken {
            Ok(taken) => taken,
            Err(error) => {
                return Ok(format!(
                    "denied ({error}): buffers between processes are staged through the host"
                ));
            }
        };
        let arena: Arena = bed.device.import(MemoryHandle::descriptor(taken, len))?;
        let mut landed = bed.device.pinned(SHOWN.len() as u64)?;
        crate::grid::copy(bed, &arena.part(offset..offset + SHOWN.len() as u64)?, &landed.span())?;
        bed.finish()?;
        match landed.bytes().expect("the stream is past it") == SHOWN {
            true => Ok("granted; mapped, and what it wrote is there".to_owned()),
            false => Err("the other process's memory does not hold what it wrote".into()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Without its input it ends.
        self.says = None;
        let _ = self.child.wait();
    }
}

/// The steps that both processes give.
pub(crate) struct Steps {
    grid: Grid,
    from: chare_device::Block,
    to: chare_device::Block,
}

impl Steps {
    pub(crate) fn new(bed: &Bed) -> Fallible<Self> {
        let grid = Grid::new(STEP.0, STEP.1)?;
        Ok(Self { from: grid.apart(bed)?, to: bed.device.allocate(STEP.0)?, grid })
    }

    /// One, which the stream is past in the end.
    pub(crate) fn take(&self, bed: &Bed) -> Fallible {
        self.grid.pack_by_step(bed, &self.from, &self.to.span())?;
        bed.finish()
    }
}

/// Does what it is told until its input ends.
pub(crate) fn play(bed: &Bed) -> Fallible {
    let (heard, words) = channel();
    std::thread::spawn(move || {
        io::stdin().lines().map_while(Result::ok).try_for_each(|word| heard.send(word))
    });
    let steps = Steps::new(bed)?;
    let shown = bed.device.allocate(SHOWN.len() as u64)?;
    fill(bed, &shown, &SHOWN)?;
    let MemoryHandle::Descriptors(exported) = shown.arena().export()?.handle else {
        return Err("what the device allocates has a descriptor".into());
    };
    let [(descriptor, len)] = &exported[..] else { return Err("it has one".into()) };
    let mut next = words.recv().ok();
    while let Some(word) = next {
        let answer = match &word[..] {
            SHOW => format!("{} {len} {}", descriptor.as_raw_fd(), shown.offset()),
            ONE_STEP => {
                steps.take(bed)?;
                String::new()
            }
            _ => String::new(),
        };
        println!("{answer}");
        next = if word == BUSY { busy(bed, &steps, &words)? } else { words.recv().ok() };
    }
    Ok(())
}

/// Returns the next word.
fn busy(bed: &Bed, steps: &Steps, words: &Receiver<String>) -> Fallible<Option<String>> {
    loop {
        match words.try_recv() {
            Ok(word) => return Ok(Some(word)),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => steps.take(bed)?,
        }
    }
}
