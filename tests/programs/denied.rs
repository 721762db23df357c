//! The program of the denial tests: every PE reads and writes registered memory of the next one, again and again; half-way, a process loses the
//! means by which processes reach each other's memory, as its surroundings may take them at any time.
//!
//! Everything read is compared with what it must be. The program prints `right` and ends with 0, or panics.

use chare::prelude::*;
use chare::{Layout, Program, RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput};
use chare_lrts::bootstrap::launched;
use clap::{Parser, ValueEnum};
use rustix::process::{Resource, Rlimit};
use rustix::thread::CapabilitySet;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde::{Deserialize, Serialize};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Too long to travel with a message on any path.
const LEN: usize = 20_000;

/// More than the memory that is shared from the start.
const LONG: usize = 1 << 20;

/// The users that nodes become, by their process.
const USERS_FROM: u32 = 200_000;

#[derive(Parser, Clone)]
#[command(no_binary_name = true)]
struct Options {
    /// Reads and writes before the denial, and after it
    #[arg(long, default_value_t = 500)]
    rounds: u64,
    /// What the kernel is told half-way
    #[arg(long, value_enum, requires = "on")]
    deny: Option<Denial>,
    /// Which PE's process tells it
    #[arg(long)]
    on: Option<u32>,
    /// Neighbours can map the memory, of which more is needed in the second half
    #[arg(long)]
    shareable: bool,
    /// Sends every other element as an argument, too
    #[arg(long)]
    laid_out: bool,
    /// No process has the right to pin more than its limit says, and at first there is none
    #[arg(long)]
    pin_within_limits: bool,
    /// Every node becomes a user of its own first, if this one may do that
    #[arg(long)]
    users: bool,
}

struct Peer {
    registered: Option<(RegisteredSource<u64>, RegisteredTarget<u64>)>,
}

/// The memory that a PE reads and writes.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Memory {
    len: usize,
    is_shareable: bool,
    is_laid_out: bool,
}

impl Memory {
    fn full_of(self, value: u64) -> BufferMut<u64> {
        if self.is_shareable { BufferMut::from_fn(self.len, |_| value) } else { vec![value; self.len].into() }
    }
}

type Handles = (SourceHandle<u64>, TargetHandle<u64>);

#[chare(group)]
impl Peer {
    #[entry]
    fn new() -> Self {
        Self { registered: None }
    }

    #[entry]
    fn register(&mut self, memory: Memory, to: Callback<Handles>) {
        let source = RegisteredSource::register(memory.full_of(7));
        let target = RegisteredTarget::register(memory.full_of(0));
        to.send((source.handle(), target.handle()));
        self.registered = Some((source, target));
    }

    #[entry]
    fn take(&mut self, #[nocopy] values: Received<u64>, to: Callback<u64>) {
        to.send(values.iter().sum());
    }

    #[entry]
    fn look(&mut self, #[nocopy] values: ReceivedView<u64>, to: Callback<u64>) {
        to.send(values.iter().sum());
    }

    #[entry]
    fn deny(&mut self, denial: Denial, done: Callback<()>) {
        denial.impose();
        done.send(());
    }

    #[entry]
    async fn exchange(this: This<Self>, memory: Memory, rounds: u64, over: Callback<()>) {
        let next = PeId((chare::my_pe().0 + 1) % chare::pes());
        let (handles, to_handles) = chare::future();
        this.this_collection().on(next).register(memory, to_handles);
        let (source, target) = handles.await;
        for round in 1..=rounds {
            let ((read, on_read), (written, on_written)) = (chare::future(), chare::future());
            rget(&source, memory.full_of(0), on_read).expect("it is as long");
            assert!(read.await.iter().all(|value| *value == 7), "round {round}");
            rput(memory.full_of(round), &target, on_written).expect("it is as long");
            let _: Buffer<u64> = written.await;
            if memory.is_laid_out {
                let count = memory.len as u64 / 2;
                let every_other = Layout::vector(count, 1, 2).expect("it fits");
                let values: Buffer<u64> = memory.full_of(round).into();
                let ((taken, on_taken), (seen, on_seen)) = (chare::future(), chare::future());
                this.this_collection()
                    .on(next)
                    .take(SendBuffer::from(values.clone()).only(&every_other), on_taken);
                this.this_collection().on(next).look(SendBuffer::from(values).only(&every_other), on_seen);
                assert_eq!((taken.await, seen.await), (count * round, count * round), "round {round}");
            }
        }
        let (back, on_back) = chare::future();
        rget(&target.as_source(), memory.full_of(0), on_back).expect("it is as long");
        assert!(back.await.iter().all(|value| *value == rounds), "the last round was written");
        this.contribute(barrier(), over);
    }
}

async fn run(options: Options) {
    let peers = PeerProxy::create();
    for half in 0..2 {
        let (over, done) = chare::future();
        let len = if options.shareable && half == 1 { LONG } else { LEN };
        let memory = Memory { len, is_shareable: options.shareable, is_laid_out: options.laid_out };
        peers.exchange(memory, options.rounds, done);
        over.await;
        if let (0, Some(denial), Some(pe)) = (half, options.deny, options.on) {
            let (denied, done) = chare::future();
            peers.on(PeId(pe)).deny(denial, done);
            denied.await;
        }
    }
    println!("right");
}

/// Starts this program again as another user. Only a program that starts anew may be looked at by its user.
fn become_somebody() -> std::io::Error {
    let user = USERS_FROM + std::process::id();
    let program = std::env::current_exe().expect("this program has a file");
    Command::new(program).args(std::env::args_os().skip(1)).uid(user).gid(user).exec()
}

fn main() -> ExitCode {
    let is_node = std::env::var_os(launched::VARIABLE).is_some();
    let wants_users = std::env::args().any(|argument| argument == "--users");
    if is_node && wants_users && rustix::process::geteuid().is_root() {
        eprintln!("denied: not started as another user: {}", become_somebody());
        return ExitCode::FAILURE;
    }
    if std::env::args().any(|argument| argument == "--pin-within-limits") {
        pin_within_limits();
    }
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options = Options::parse_from(program.arguments());
    program.run(|_arguments| run(options))
}

/// The means that are taken away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
enum Denial {
    /// A filter answers `EPERM` to the calls that copy; for the process that would copy.
    Sandbox,
    /// The process may not be looked at; for the process that would be copied from and to.
    Undumpable,
    /// No more memory may be pinned for network cards; for a process that has called [`pin_within_limits`].
    Unpinnable,
    /// No more files may be opened, made or received.
    Descriptors,
}

/// Lets this process pin as much as it likes, but only because of its limit: not by the right to exceed it. To be called before there are threads,
/// or devices are open, which know who opened them.
///
/// # Panics
/// If the kernel refuses: that needs root.
fn pin_within_limits() {
    let unlimited = Rlimit { current: None, maximum: None };
    rustix::process::setrlimit(Resource::Memlock, unlimited).expect("root may have any limit");
    let mut sets = rustix::thread::capabilities(None).expect("anybody may look");
    for set in [&mut sets.effective, &mut sets.permitted] {
        set.remove(CapabilitySet::IPC_LOCK);
    }
    rustix::thread::set_capabilities(None, sets).expect("anybody may give up rights");
}

impl Denial {
    /// Does it, for all threads of this process. It cannot be undone.
    ///
    /// # Panics
    /// If the kernel refuses.
    fn impose(self) {
        match self {
            Self::Sandbox => seccompiler::apply_filter_all_threads(&sandbox()).expect("filters are allowed"),
            Self::Undumpable => {
                let behavior = rustix::process::DumpableBehavior::NotDumpable;
                rustix::process::set_dumpable_behavior(behavior).expect("anybody may hide");
            }
            Self::Descriptors => {
                // The lowest number that is free: all below are taken.
                let null = std::fs::File::open("/dev/null").expect("there was room so far");
                let taken = u64::try_from(null.as_raw_fd()).expect("it is open");
                let nothing = Rlimit { current: Some(taken), maximum: Some(taken) };
                rustix::process::setrlimit(Resource::Nofile, nothing).expect("anybody may want less");
            }
            Self::Unpinnable => {
                let nothing = Rlimit { current: Some(0), maximum: Some(0) };
                rustix::process::setrlimit(Resource::Memlock, nothing).expect("anybody may want less");
            }
        }
    }
}

fn sandbox() -> BpfProgram {
    let copies = [libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];
    let rules = copies.map(|call| (call, Vec::new())).into();
    let architecture = std::env::consts::ARCH.try_into().expect("it has filters");
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture);
    filter.and_then(TryInto::try_into).expect("two calls are a small filter")
}
