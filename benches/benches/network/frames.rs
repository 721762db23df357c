//! The side of ours: two nodes, two processes, frames through the trait and nothing above it.

use chare::{Program, ReachOptions};
use chare_benches::{Batches, processor, take_seat};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::launched::Launched;
use chare_lrts::reach::Reach;
use chare_lrts::{Channel, Completion, Frame, Lrts, LrtsError, NodeId, Sink};
use std::hint::spin_loop;
use std::process::ExitCode;
use std::time::Instant;

/// Counts frames.
#[derive(Default)]
struct Heard {
    frames: u64,
    is_over: bool,
}

impl Sink for Heard {
    fn frame(&mut self, _: NodeId, _: Channel, bytes: &[u8]) {
        self.frames += 1;
        self.is_over |= bytes.is_empty();
    }

    fn completion(&mut self, completion: Completion) {
        unreachable!("no transfer was posted: {completion:?}");
    }

    fn peer_closed(&mut self, _: NodeId) {
        self.is_over = true;
    }

    fn peer_lost(&mut self, _: LrtsError) {
        self.is_over = true;
    }
}

/// The program that a launcher starts twice, and the launcher.
pub(crate) fn to_and_fro(batches: Batches, backend: &str) -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    if !program.is_launched() {
        return program.run(|_| async {});
    }
    match play(batches, backend) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn play(batches: Batches, backend: &str) -> Result<(), LrtsError> {
    let missing = || LrtsError::Bootstrap("no launcher".to_owned());
    let mut launched = Launched::from_environment()?.ok_or_else(missing)?;
    let options = ReachOptions { lrts: Some(backend.to_owned()), ..ReachOptions::default() };
    let reach = Reach::open(&mut launched, &options)?;
    let node = launched.node();
    take_seat(processor(node.index()));
    let mut heard = Heard::default();
    if node == NodeId(0) {
        batches.run(|frames| {
            let began = Instant::now();
            for _ in 0..frames / 2 {
                send(&reach, NodeId(1), &[7; 8]);
                hear(&reach, &mut heard);
            }
            began.elapsed()
        });
        send(&reach, NodeId(1), &[]);
    } else {
        loop {
            hear(&reach, &mut heard);
            if heard.is_over {
                break;
            }
            send(&reach, NodeId(0), &[7; 8]);
        }
    }
    reach.shutdown();
    while !reach.is_closed() {
        reach.progress(&mut heard);
    }
    launched.into_control().finished(0);
    Ok(())
}

fn send(reach: &Reach, target: NodeId, bytes: &[u8]) {
    while reach.send(target, Frame::runtime(bytes)).is_err() {}
}

/// Waits for one more frame, or the end.
fn hear(reach: &Reach, heard: &mut Heard) {
    let before = heard.frames;
    while heard.frames == before && !heard.is_over {
        if !reach.progress(heard) {
            spin_loop();
        }
    }
}
