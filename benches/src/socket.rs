//! TCP limit: eight bytes go to and fro between two processes, over loopback.

use crate::sample::Batches;
use crate::seat::{processor, take_seat};
use std::hint::{black_box, spin_loop};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

/// How both processes wait for the next message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// Asleep in the kernel.
    Blocking,
    /// Asking again and again.
    Spinning,
}

impl Manner {
    /// As it is told to the other process.
    fn word(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Spinning => "spinning",
        }
    }
}

/// Two pinned processes, eight bytes to and fro. The other one is this program as `side echo PORT MANNER`, which must call [`echo`].
///
/// # Errors
/// Those of the sockets, and of the start of the other process.
pub fn socket(batches: Batches, manner: Manner) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port().to_string();
    let mut echo =
        Command::new(std::env::current_exe()?).args(["side", "echo", &port, manner.word()]).spawn()?;
    let (mut stream, _) = listener.accept()?;
    prepare(&stream, manner)?;
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

/// The other process of [`socket`]: sends back what comes, until the connection ends.
///
/// # Errors
/// Those of the socket, and a manner that has no such name.
pub fn echo(port: u16, manner: &str) -> io::Result<()> {
    let manner = [Manner::Blocking, Manner::Spinning].into_iter().find(|known| known.word() == manner);
    take_seat(processor(1));
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    prepare(&stream, manner.ok_or(io::ErrorKind::InvalidInput)?)?;
    let mut message = [0; 8];
    loop {
        match read_message(&mut stream, &mut message) {
            Ok(()) => stream.write_all(&message)?,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

fn prepare(stream: &TcpStream, manner: Manner) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(manner == Manner::Spinning)
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
