//! Nodes of our sides, for messages and for memory: a launcher starts two, which exchange frames.

use chare::{Program, ReachOptions};
use chare_benches::{processor, take_seat};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::launched::Launched;
use chare_lrts::reach::Reach;
use chare_lrts::{Channel, Completion, Frame, Lrts, LrtsError, NodeId, Sink};
use std::collections::VecDeque;
use std::hint::spin_loop;
use std::process::ExitCode;

/// One of two nodes, on a processor of its own.
pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) reach: Reach,
    heard: Heard,
}

/// News of the backend that have not been looked at.
#[derive(Default)]
struct Heard {
    frame: Option<Vec<u8>>,
    completions: VecDeque<Completion>,
    is_over: bool,
}

impl Sink for Heard {
    fn frame(&mut self, _: NodeId, _: Channel, bytes: &[u8]) {
        self.frame = Some(bytes.to_vec());
    }

    fn completion(&mut self, completion: Completion) {
        self.completions.push_back(completion);
    }

    fn peer_closed(&mut self, _: NodeId) {
        self.is_over = true;
    }

    fn peer_lost(&mut self, _: LrtsError) {
        self.is_over = true;
    }
}

/// The program that a launcher starts twice, and the launcher. `play` is what each node does.
pub(crate) fn run(
    backend: &str,
    play: impl FnOnce(&mut Node) -> Result<(), chare_lrts::TransferError>,
) -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    if !program.is_launched() {
        return program.run(|_| async {});
    }
    let outcome = open(backend).map_err(|error| error.to_string()).and_then(|(launched, mut node)| {
        play(&mut node).map_err(|error| error.to_string())?;
        node.close();
        launched.into_control().finished(0);
        Ok(())
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn open(backend: &str) -> Result<(Launched, Node), LrtsError> {
    let missing = || LrtsError::Bootstrap("no launcher".to_owned());
    let mut launched = Launched::from_environment()?.ok_or_else(missing)?;
    let reach = Reach::open(&mut launched, &options(backend))?;
    let id = launched.node();
    take_seat(processor(id.index()));
    Ok((launched, Node { id, reach, heard: Heard::default() }))
}

/// The options that a side's word for a path stands for.
fn options(backend: &str) -> ReachOptions {
    let named = |name: &str| ReachOptions { lrts: Some(name.to_owned()), ..ReachOptions::default() };
    match backend {
        // Without CMA, or TCP would not carry the data.
        "tcp" => ReachOptions { nocma: true, ..named("tcp") },
        "tags" => ReachOptions { nolocal: true, ..named("tcp") },
        "seals" => ReachOptions { nolocal: true, encrypt: true, ..named("tcp") },
        other => named(other),
    }
}

impl Node {
    /// The other one.
    pub(crate) fn peer(&self) -> NodeId {
        NodeId(1 - self.id.0)
    }

    pub(crate) fn send(&self, bytes: &[u8]) {
        while self.reach.send(self.peer(), Frame::runtime(bytes)).is_err() {}
    }

    /// Waits for the next frame; `None`: the other node said goodbye.
    pub(crate) fn hear(&mut self) -> Option<Vec<u8>> {
        while self.heard.frame.is_none() && !self.heard.is_over {
            self.look();
        }
        self.heard.frame.take()
    }

    /// Waits for the completion of a transfer under way.
    pub(crate) fn complete(&mut self) -> Completion {
        loop {
            if let Some(completion) = self.heard.completions.pop_front() {
                return completion;
            }
            self.look();
        }
    }

    fn look(&mut self) {
        if !self.reach.progress(&mut self.heard) {
            spin_loop();
        }
    }

    fn close(&mut self) {
        self.reach.shutdown();
        while !self.reach.is_closed() {
            self.look();
        }
    }
}
