//! Pairs of nodes over one backend and nothing above it: one leads, one follows. A node that waits looks without a pause, as
//! the libraries of the other side do.

use crate::sample::Batches;
use chare_lrts::{
    Channel, Completion, Frame, Get, Held, Lrts, LrtsError, MemoryMut, NodeId, Posted, Put, RegionKey,
    Regions, Sink, codec,
};
use std::time::Instant;

/// What the leader times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// Frames of 8 bytes, one way.
    Message,
    /// Gets of so many bytes.
    Get(usize),
    /// Puts of so many bytes.
    Put(usize),
}

/// Plays node 0 or 1 to its end, which is an orderly one.
pub fn play_pair(lrts: &dyn Lrts, regions: &Regions, deed: Deed, batches: Batches) {
    let mut heard = Heard::default();
    match regions.node() {
        NodeId(0) => lead(deed, batches, lrts, &mut heard),
        _ => follow(deed, lrts, regions, &mut heard),
    }
    lrts.shutdown();
    while !lrts.is_closed() {
        lrts.progress(&mut heard);
    }
}

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

fn lead(deed: Deed, batches: Batches, lrts: &dyn Lrts, heard: &mut Heard) {
    let other = NodeId(1);
    let (len, is_put) = match deed {
        Deed::Get(len) => (len, false),
        Deed::Put(len) => (len, true),
        Deed::Message => {
            batches.run(|frames| {
                let began = Instant::now();
                for _ in 0..frames / 2 {
                    send(lrts, other, &[7; 8]);
                    hear(lrts, heard);
                }
                began.elapsed()
            });
            return send(lrts, other, &[]);
        }
    };
    hear(lrts, heard);
    let key: RegionKey = codec::decode(&heard.last).expect("the other node tells its region");
    let mut local = Some(written(len));
    batches.run(|transfers| {
        let began = Instant::now();
        for _ in 0..transfers {
            let memory = local.take().expect("it came back");
            local = Some(if is_put { put(lrts, heard, key, memory) } else { get(lrts, heard, key, memory) });
        }
        began.elapsed()
    });
    send(lrts, other, &[]);
}

fn follow(deed: Deed, lrts: &dyn Lrts, regions: &Regions, heard: &mut Heard) {
    let other = NodeId(0);
    if let Deed::Get(len) | Deed::Put(len) = deed {
        let held = Held::Target(written(len));
        let key = regions.register(held).expect("the board has room");
        let mut bytes = Vec::new();
        codec::encode_into(&key, &mut bytes).expect("a key is always encoded");
        send(lrts, other, &bytes);
    }
    loop {
        hear(lrts, heard);
        if heard.is_over {
            return;
        }
        send(lrts, other, &[7; 8]);
    }
}

/// Not zero: untouched memory would be one page of zeroes, read from the nearest cache.
fn written(len: usize) -> MemoryMut {
    let mut memory = MemoryMut::heap_zeroed(len);
    memory.as_mut_slice().fill(7);
    memory
}

fn get(lrts: &dyn Lrts, heard: &mut Heard, key: RegionKey, into: MemoryMut) -> MemoryMut {
    let len = into.len();
    let posted = lrts.get(Get { key, offset: 0, into, len, token: 0 });
    let completion = complete(lrts, heard, posted.expect("there is room for one operation"));
    completion.memory.expect("a get's memory comes back")
}

fn put(lrts: &dyn Lrts, heard: &mut Heard, key: RegionKey, from: MemoryMut) -> MemoryMut {
    let from = from.freeze();
    let posted = lrts.put(Put { key, offset: 0, from: from.clone(), token: 0 });
    complete(lrts, heard, posted.expect("there is room for one operation"));
    from.thaw().expect("nobody else holds it")
}

fn complete(lrts: &dyn Lrts, heard: &mut Heard, posted: Posted) -> Completion {
    let completion = match posted {
        Posted::Done(completion) => completion,
        Posted::Pending => loop {
            if let Some(completion) = heard.completion.take() {
                break completion;
            }
            lrts.progress(heard);
        },
    };
    assert!(completion.result.is_ok(), "{:?}", completion.result);
    completion
}

fn send(lrts: &dyn Lrts, target: NodeId, bytes: &[u8]) {
    let mut heard = Heard::default();
    while lrts.send(target, Frame::runtime(bytes)).is_err() {
        lrts.progress(&mut heard);
    }
    assert_eq!(heard.frames, 0, "the other node waits for this frame");
}

/// Waits for one more frame, or the end.
fn hear(lrts: &dyn Lrts, heard: &mut Heard) {
    let before = heard.frames;
    while heard.frames == before && !heard.is_over {
        lrts.progress(heard);
    }
}
