//! The peers for memory: one copy within a process, out of a mapping, by the kernel, or through a socket.

#![expect(unsafe_code, reason = "the raw limits of moving memory between processes are raw calls")]

use chare_benches::{Batches, processor, take_seat};
use chare_lrts::mapping::Mapping;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Within one process.
pub(crate) fn memcpy(batches: Batches, len: usize) {
    take_seat(processor(0));
    let (from, mut into) = (vec![7_u8; len], vec![1_u8; len]);
    batches.run(|copies| {
        let began = Instant::now();
        for _ in 0..copies {
            black_box(&mut into).copy_from_slice(black_box(&from));
        }
        began.elapsed()
    });
}

/// Out of memory that another process made and filled.
pub(crate) fn mapping(batches: Batches, len: usize) -> io::Result<()> {
    let owner = Owner::start(len)?;
    let descriptor = OwnedFd::from(File::options().read(true).write(true).open(format!(
        "/proc/{}/fd/{}",
        owner.pid(),
        owner.number
    ))?);
    let mapped = Mapping::open(&descriptor, len)?;
    let mut into = vec![1_u8; len];
    batches.run(|copies| {
        let began = Instant::now();
        for _ in 0..copies {
            // SAFETY: both sides have `len` bytes; the owner has filled its own and does nothing any more.
            unsafe { std::ptr::copy_nonoverlapping(black_box(mapped.address()), into.as_mut_ptr(), len) };
            black_box(&mut into);
        }
        began.elapsed()
    });
    owner.end()
}

/// By the kernel, from another process's memory.
pub(crate) fn kernel_copy(batches: Batches, len: usize) -> io::Result<()> {
    let owner = Owner::start(len)?;
    let mut into = vec![1_u8; len];
    let pid = libc::pid_t::try_from(owner.pid()).map_err(io::Error::other)?;
    let mut result = Ok(());
    batches.run(|copies| {
        let began = Instant::now();
        for _ in 0..copies {
            let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: len };
            let remote =
                libc::iovec { iov_base: std::ptr::without_provenance_mut(owner.address), iov_len: len };
            // SAFETY: one vector each; the local one is ours, the kernel checks the other.
            let moved = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
            if usize::try_from(moved) != Ok(len) {
                result = Err(io::Error::last_os_error());
            }
        }
        began.elapsed()
    });
    owner.end().and(result)
}

/// A process that has a buffer and waits.
struct Owner {
    child: Child,
    /// Its end is the owner's.
    lifeline: ChildStdin,
    number: i32,
    address: usize,
}

impl Owner {
    fn start(len: usize) -> io::Result<Self> {
        take_seat(processor(0));
        let mut child = Command::new(std::env::current_exe()?)
            .args(["side", "owner", &len.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let silent = || io::Error::other("the owner says nothing");
        let lifeline = child.stdin.take().ok_or_else(silent)?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or_else(silent)?).read_line(&mut line)?;
        let mut words = line.split_whitespace();
        let number = words.next().and_then(|word| word.parse().ok()).ok_or_else(silent)?;
        let address = words.next().and_then(|word| word.parse().ok()).ok_or_else(silent)?;
        Ok(Self { child, lifeline, number, address })
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn end(mut self) -> io::Result<()> {
        drop(self.lifeline);
        self.child.wait().map(drop)
    }
}

/// The other process: makes and fills a buffer, says where it is, and waits for its end.
pub(crate) fn own(len: usize) -> io::Result<()> {
    take_seat(processor(1));
    // Anybody of this user may copy it.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
    let (mapping, descriptor) = Mapping::create("owner", len)?;
    // SAFETY: the mapping has `len` bytes, and nobody else knows of it yet.
    unsafe { mapping.address().write_bytes(7, len) };
    println!("{} {}", descriptor.as_raw_fd(), mapping.address().addr());
    io::stdin().read_to_end(&mut Vec::new()).map(drop)
}

/// Through a socket: the other process writes for ever, this one reads blocks of `len` bytes into so many buffers in turn.
pub(crate) fn stream(batches: Batches, len: usize, buffers: usize) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port().to_string();
    let mut writer = Command::new(std::env::current_exe()?).args(["side", "pour", &port]).spawn()?;
    let (mut stream, _) = listener.accept()?;
    take_seat(processor(0));
    let mut blocks = vec![vec![1; len]; buffers];
    let mut result = Ok(());
    batches.run(|reads| {
        let began = Instant::now();
        result = (0..reads as usize).try_for_each(|read| stream.read_exact(&mut blocks[read % buffers]));
        if result.is_ok() { began.elapsed() } else { Duration::ZERO }
    });
    drop(stream);
    writer.wait()?;
    result
}

/// The other process: writes until nobody reads.
pub(crate) fn pour(port: u16) -> io::Result<()> {
    take_seat(processor(1));
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    // The same rule as the backend's: the default of some kernels holds back what it need not.
    rustix::net::sockopt::set_tcp_congestion(&stream, "reno")?;
    let block = vec![7; 1 << 20];
    while stream.write_all(&block).is_ok() {}
    Ok(())
}
