//! Software device: a thread that does what a DSA does with descriptors: late, out of order, with no room, with pages that are not there,
//! as drawn from a seed.

#![expect(clippy::disallowed_methods, reason = "the device works beside those who use it")]
#![expect(unsafe_code, reason = "copies between the addresses in descriptors, as the device would")]

use super::Dsa;
use super::portal::Portal;
use super::words::{CompletionRecord, Descriptor};
use super::work_queue::WorkQueue;
use parking_lot::Mutex;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// The work queue of a device that is done with all it took when the queue is closed.
struct SoftwareDevice {
    chance: Mutex<ChaCha8Rng>,
    /// `None` only once it is being closed.
    queue: Option<Sender<Descriptor>>,
    device: Option<JoinHandle<()>>,
}

impl SoftwareDevice {
    fn new(seed: u64) -> Self {
        let (queue, descriptors) = channel();
        let device = std::thread::spawn(move || run(&descriptors, ChaCha8Rng::seed_from_u64(seed)));
        let chance = Mutex::new(ChaCha8Rng::seed_from_u64(seed ^ 1));
        Self { chance, queue: Some(queue), device: Some(device) }
    }
}

impl Portal for SoftwareDevice {
    fn submit(&self, descriptor: &Descriptor) -> bool {
        let has_room = !self.chance.lock().random_ratio(1, 8);
        let queue = self.queue.as_ref().expect("it is open");
        has_room && queue.send(*descriptor).is_ok()
    }
}

impl Drop for SoftwareDevice {
    fn drop(&mut self) {
        self.queue = None;
        self.device.take().expect("closed once").join().expect("the device works");
    }
}

/// What the device does until its queue is closed and empty.
fn run(descriptors: &Receiver<Descriptor>, mut chance: ChaCha8Rng) {
    let mut taken: Vec<Descriptor> = Vec::new();
    loop {
        taken.extend(descriptors.try_iter());
        if taken.is_empty() {
            match descriptors.recv() {
                Ok(descriptor) => taken.push(descriptor),
                Err(_) => return,
            }
        }
        let next = taken.swap_remove(chance.random_range(0..taken.len()));
        carry_out(&next, &mut chance);
    }
}

fn carry_out(descriptor: &Descriptor, chance: &mut ChaCha8Rng) {
    let word = |at: usize| {
        let bytes = &bytemuck::bytes_of(descriptor)[at..at + 8];
        u64::from_le_bytes(bytes.try_into().expect("eight bytes")) as usize
    };
    let (operation, len) = (word(0) >> 56, word(32) & 0xffff_ffff);
    let (status, moved) = match (operation, chance.random_range(0..6)) {
        (0, _) => (0x01, 0),
        (3, 0) => (0x83, chance.random_range(0..=len)),
        (3, 1) => (0x03, chance.random_range(0..=len)),
        (3, 2) => (0x1a, 0),
        (3, _) => (0x01, len),
        _ => (0x10, 0),
    };
    let source = std::ptr::with_exposed_provenance::<u8>(word(16));
    let target = std::ptr::with_exposed_provenance_mut::<u8>(word(24));
    // SAFETY: whoever handed the descriptor over promised that both ends, `len` bytes long, stay until the record is filled.
    unsafe { std::ptr::copy(source, target, moved) };
    let record = std::ptr::with_exposed_provenance::<CompletionRecord>(word(8));
    // SAFETY: as above, for the record.
    unsafe { &*record }.fill(status, 0, moved as u32);
}

impl Dsa {
    /// The engine on one or more queues of devices of software.
    pub(in crate::engine) fn software(seed: u64) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let queue = |number| {
            let (depth, bytes_max) = (chance.random_range(1..5), chance.random_range(1..100_000));
            let portal = Box::new(SoftwareDevice::new(seed + number));
            WorkQueue { portal, depth, bytes_max, description: "DSA in software".to_owned() }
        };
        Self::on((0..1 + seed % 3).map(queue).collect()).expect("it works")
    }
}
