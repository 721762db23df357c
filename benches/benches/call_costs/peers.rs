//! The peers: each does what its path needs at least, with nothing around it.

use chare_benches::{Batches, processor, take_seat};
use crossbeam::queue::{ArrayQueue, SegQueue};
use crossbeam::utils::CachePadded;
use std::collections::VecDeque;
use std::hint::{black_box, spin_loop};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What ends a chain's other end.
const STOP: u64 = u64::MAX;

/// A message as small as they come: it knows what to call.
trait Message {
    fn run(self: Box<Self>, queue: &mut Queue);
}

type Queue = VecDeque<Box<dyn Message>>;

struct Pass {
    left: u64,
}

impl Message for Pass {
    fn run(self: Box<Self>, queue: &mut Queue) {
        if self.left > 0 {
            queue.push_back(Box::new(Self { left: self.left - 1 }));
        }
    }
}

/// One thread: push a boxed message, pop it, call it.
pub(crate) fn virtual_call(batches: Batches) {
    take_seat(processor(0));
    let mut queue: Queue = VecDeque::with_capacity(64);
    batches.run(|calls| {
        let began = Instant::now();
        queue.push_back(black_box(Box::new(Pass { left: calls })));
        while let Some(message) = queue.pop_front() {
            message.run(&mut queue);
        }
        began.elapsed()
    });
}

/// A boxed message to and fro over unbounded queues.
pub(crate) fn segment_queue(batches: Batches) {
    let (there, back) = (SegQueue::new(), SegQueue::new());
    let (push_there, push_back) = (|message| there.push(message), |message| back.push(message));
    pass_boxes(batches, (push_there, || there.pop()), (push_back, || back.pop()));
}

/// A boxed message to and fro over bounded queues.
pub(crate) fn array_queue(batches: Batches) {
    let (there, back) = (ArrayQueue::new(64), ArrayQueue::new(64));
    let push =
        |queue: &ArrayQueue<_>, message| assert!(queue.push(message).is_ok(), "one message is under way");
    let (push_there, push_back) = (|message| push(&there, message), |message| push(&back, message));
    pass_boxes(batches, (push_there, || there.pop()), (push_back, || back.pop()));
}

/// Two pinned threads that spin: a boxed message to and fro, each way over a queue's push and pop.
fn pass_boxes(
    batches: Batches,
    there: (impl Fn(Box<u64>) + Sync, impl Fn() -> Option<Box<u64>> + Sync),
    back: (impl Fn(Box<u64>) + Sync, impl Fn() -> Option<Box<u64>> + Sync),
) {
    fn wait(pop: &impl Fn() -> Option<Box<u64>>) -> u64 {
        loop {
            match pop() {
                Some(message) => break *message,
                None => spin_loop(),
            }
        }
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            take_seat(processor(1));
            loop {
                match wait(&there.1) {
                    STOP => break,
                    left => (back.0)(Box::new(left - 1)),
                }
            }
        });
        take_seat(processor(0));
        batches.run(|messages| {
            let began = Instant::now();
            let mut left = messages;
            while left > 0 {
                (there.0)(Box::new(left - 1));
                left = wait(&back.1);
            }
            began.elapsed()
        });
        (there.0)(Box::new(STOP));
    });
}

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

/// Two pinned processes that block: eight bytes to and fro over loopback.
pub(crate) fn socket(batches: Batches) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port().to_string();
    let mut echo = Command::new(std::env::current_exe()?).args(["side", "socket-echo", &port]).spawn()?;
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
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

fn round_trip(stream: &mut TcpStream) -> io::Result<()> {
    let mut message = black_box([7; 8]);
    stream.write_all(&message)?;
    stream.read_exact(&mut message)
}

/// The other process: sends back what comes, until the connection ends.
pub(crate) fn socket_echo(port: u16) -> io::Result<()> {
    take_seat(processor(1));
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_nodelay(true)?;
    let mut message = [0; 8];
    loop {
        match stream.read_exact(&mut message) {
            Ok(()) => stream.write_all(&message)?,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
