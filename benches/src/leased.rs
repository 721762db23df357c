//! The side of ours for networks with one-sided access: two nodes, two processes, the backend and nothing above it.

use crate::{Batches, processor, take_seat};
use chare::Program;
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::launched::Launched;
use chare_lrts::leased::Leased;
use chare_lrts::{
    Channel, Completion, Frame, Get, Held, Lrts, LrtsError, MemoryMut, NodeId, Posted, Put, RegionKey,
    Regions, Sink, codec,
};
use std::hint::spin_loop;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a side does.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Which of the backend's networks.
    pub network: &'a str,
    /// `message`, `put`, `get`, or `get-uncached`.
    pub what: &'a str,
    /// How often.
    pub batches: Batches,
    /// Bytes of an operation.
    pub bytes: usize,
}

/// Opens the backend to one other node.
pub type Open = fn(&mut dyn Bootstrap, NodeId, Arc<Regions>, Task<'_>) -> Result<Leased, LrtsError>;

/// How long nodes wait for each other.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What was heard last.
#[derive(Default)]
struct Heard {
    frames: u64,
    last: Vec<u8>,
    completion: Option<Completion>,
    is_over: bool,
}

impl Sink for Heard {
    fn frame(&mut self, _: NodeId, _: Channel, bytes: &[u8]) {
        self.frames += 1;
        self.is_over |= bytes.is_empty();
        if bytes.len() > 8 {
            self.last = bytes.to_vec();
        }
    }

    fn completion(&mut self, completion: Completion) {
        self.completion = Some(completion);
    }

    fn peer_closed(&mut self, _: NodeId) {
        self.is_over = true;
    }

    fn peer_lost(&mut self, error: LrtsError) {
        eprintln!("{error}");
        self.is_over = true;
    }
}

/// The program that a launcher starts twice, and the launcher.
pub fn play(task: Task<'_>, open: Open) -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    if !program.is_launched() {
        return program.run(|_| async {});
    }
    match take_part(task, open) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn take_part(task: Task<'_>, open: Open) -> Result<(), LrtsError> {
    let missing = || LrtsError::Bootstrap("no launcher".to_owned());
    let mut launched = Launched::from_environment()?.ok_or_else(missing)?;
    let node = launched.node();
    take_seat(processor(node.index()));
    let regions = Arc::new(Regions::new(node)?);
    let other = NodeId(1 - node.0);
    let network = open(&mut launched, other, Arc::clone(&regions), task)?;
    let mut heard = Heard::default();
    match node {
        NodeId(0) => lead(task, &network, &mut heard),
        _ => follow(task, &network, &regions, &mut heard),
    }
    network.shutdown();
    while !network.is_closed() {
        network.progress(&mut heard);
    }
    launched.into_control().finished(0);
    Ok(())
}

fn lead(task: Task<'_>, network: &Leased, heard: &mut Heard) {
    let other = NodeId(1);
    match task.what {
        "message" => task.batches.run(|frames| {
            let began = Instant::now();
            for _ in 0..frames / 2 {
                send(network, other, &[7; 8]);
                hear(network, heard);
            }
            began.elapsed()
        }),
        what => {
            hear(network, heard);
            let key: RegionKey = codec::decode(&heard.last).expect("the other node tells its region");
            let mut local = Some(written(task.bytes));
            task.batches.run(|transfers| {
                let began = Instant::now();
                for _ in 0..transfers {
                    let memory = local.take().expect("it came back");
                    local = Some(if what == "put" {
                        put(network, heard, key, memory)
                    } else {
                        get(network, heard, key, memory)
                    });
                }
                began.elapsed()
            });
        }
    }
    send(network, other, &[]);
}

fn follow(task: Task<'_>, network: &Leased, regions: &Regions, heard: &mut Heard) {
    let other = NodeId(0);
    if task.what != "message" {
        let held = Held::Target(written(task.bytes));
        let key = regions.register(held).expect("the board has room");
        let mut bytes = Vec::new();
        codec::encode_into(&key, &mut bytes).expect("a key is always encoded");
        send(network, other, &bytes);
    }
    loop {
        hear(network, heard);
        if heard.is_over {
            return;
        }
        send(network, other, &[7; 8]);
    }
}

/// Not zero: untouched memory would be one page of zeroes, read from the nearest cache.
fn written(len: usize) -> MemoryMut {
    let mut memory = MemoryMut::heap_zeroed(len);
    memory.as_mut_slice().fill(7);
    memory
}

fn get(network: &Leased, heard: &mut Heard, key: RegionKey, into: MemoryMut) -> MemoryMut {
    let len = into.len();
    let posted = network.get(Get { key, offset: 0, into, len, token: 0 });
    let completion = complete(network, heard, posted.expect("there is room for one operation"));
    completion.memory.expect("a get's memory comes back")
}

fn put(network: &Leased, heard: &mut Heard, key: RegionKey, from: MemoryMut) -> MemoryMut {
    let from = from.freeze();
    let posted = network.put(Put { key, offset: 0, from: from.clone(), token: 0 });
    complete(network, heard, posted.expect("there is room for one operation"));
    from.thaw().expect("nobody else holds it")
}

fn complete(network: &Leased, heard: &mut Heard, posted: Posted) -> Completion {
    let completion = match posted {
        Posted::Done(completion) => completion,
        Posted::Pending => loop {
            if let Some(completion) = heard.completion.take() {
                break completion;
            }
            if !network.progress(heard) {
                spin_loop();
            }
        },
    };
    assert!(completion.result.is_ok(), "{:?}", completion.result);
    completion
}

fn send(network: &Leased, target: NodeId, bytes: &[u8]) {
    let mut heard = Heard::default();
    while network.send(target, Frame::runtime(bytes)).is_err() {
        network.progress(&mut heard);
    }
    assert_eq!(heard.frames, 0, "the other node waits for this frame");
}

/// Waits for one more frame, or the end.
fn hear(network: &Leased, heard: &mut Heard) {
    let before = heard.frames;
    while heard.frames == before && !heard.is_over {
        if !network.progress(heard) {
            spin_loop();
        }
    }
}
