//! The other sides: what the machine can do at best on each path.

use chare_benches::{Batches, processor, take_seat};
use crossbeam::utils::CachePadded;
use std::hint::{black_box, spin_loop};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What ends a chain's other end.
const STOP: u64 = u64::MAX;

/// Two pinned threads that spin: one word to and fro.
pub(crate) fn cache_line(batches: Batches) {
    // Odd: the other thread's turn. Written in turn; each release store pairs with the other's acquire load.
    let word = CachePadded::new(AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            take_seat(processor(1));
            loop {
                match word.load(Ordering::Acquire) {
                    STOP => break,
                    turn if turn % 2 == 1 => word.store(turn + 1, Ordering::Release),
                    _ => spin_loop(),
                }
            }
        });
        take_seat(processor(0));
        let mut turn = 0;
        batches.run(|passes| {
            let began = Instant::now();
            for _ in 0..passes / 2 {
                word.store(turn + 1, Ordering::Release);
                turn += 2;
                while word.load(Ordering::Acquire) != turn {
                    spin_loop();
                }
            }
            began.elapsed()
        });
        word.store(STOP, Ordering::Release);
    });
}

/// Two pinned processes, eight bytes to and fro over loopback; both sides block, or both spin.
pub(crate) fn socket(batches: Batches, manner: &str) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port().to_string();
    let mut echo = Command::new(std::env::current_exe()?).args(["side", "echo", &port, manner]).spawn()?;
    let (mut stream, _) = listener.accept()?;
    prepare(&stream, manner == "spinning")?;
    take_seat(processor(0));
    let mut result = Ok(());
    batches.run(|messages| {
        let began = Instant::now();
        result = (0..messages / 2).try_for_each(|_| round_trip(&mut stream));
        if result.is_ok() { began.elapsed() } else { Duration::ZERO }
    });
    drop(stream);
    echo.wait()?;
    result
}

fn prepare(stream: &TcpStream, spins: bool) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(spins)
}

fn round_trip(stream: &mut TcpStream) -> io::Result<()> {
    let mut message = black_box([7; 8]);
    stream.write_all(&message)?;
    read_message(stream, &mut message)
}

/// Reads a whole message; spins where the stream does not block.
fn read_message(stream: &mut TcpStream, message: &mut [u8]) -> io::Result<()> {
    let mut have = 0;
    while have < message.len() {
        match stream.read(&mut message[have..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => have += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => spin_loop(),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The other process: sends back what comes, until the connection ends.
pub(crate) fn echo(port: u16, spins: bool) -> io::Result<()> {
    take_seat(processor(1));
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    prepare(&stream, spins)?;
    let mut message = [0; 8];
    loop {
        match read_message(&mut stream, &mut message) {
            Ok(()) => stream.write_all(&message)?,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
