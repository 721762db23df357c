//! Player chares: a buffer goes to and fro between two PEs, as an ordinary or as a nocopy argument; one way is one operation.

use chare::prelude::*;
use chare_benches::Batches;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The way in which the buffer is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// As an ordinary argument, whose sender has no use for it afterwards: the vector itself goes on and comes back.
    Given,
    /// As an ordinary argument that the sender still needs: a copy of it.
    Kept,
    /// As a nocopy argument, which the sender keeps.
    Nocopy,
}

/// What is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Play {
    pub(crate) way: Way,
    /// Bytes of the buffer.
    pub(crate) size: usize,
    /// Whether nocopy buffers live in memory that other processes may map, or on the heap.
    pub(crate) shareable: bool,
}

/// One end of the chain.
struct Player {
    partner: Option<PlayerElementProxy>,
    source: Buffer<u8>,
    began: Option<Instant>,
    done: Option<Callback<u64>>,
}

#[chare(group)]
impl Player {
    #[entry]
    fn new(size: u64, shareable: bool) -> Self {
        let size = size as usize;
        let source = if shareable { BufferMut::zeroed(size) } else { vec![0; size].into() };
        Self { partner: None, source: source.freeze(), began: None, done: None }
    }

    #[entry]
    fn meet(&mut self, players: PlayerProxy) {
        self.partner = Some(players.on(PeId((chare::my_pe().0 + 1) % chare::pes())));
    }

    /// Starts a chain of `calls` ordinary calls that ends here; `done` gets its nanoseconds.
    #[entry]
    fn start_regular(&mut self, calls: u64, is_kept: bool, done: Callback<u64>) {
        (self.began, self.done) = (Some(Instant::now()), Some(done));
        self.pass_regular(calls, is_kept, self.source.to_vec());
    }

    #[entry]
    fn pass_regular(&mut self, left: u64, is_kept: bool, data: Vec<u8>) {
        if left == 0 {
            return self.finish();
        }
        let next = if is_kept { self.source.to_vec() } else { data };
        self.partner.as_ref().expect("they met before").pass_regular(left - 1, is_kept, next);
    }

    /// As `start_regular`, with nocopy calls.
    #[entry]
    fn start_nocopy(&mut self, calls: u64, done: Callback<u64>) {
        (self.began, self.done) = (Some(Instant::now()), Some(done));
        self.send_nocopy(calls);
    }

    #[entry]
    fn pass_nocopy(&mut self, left: u64, #[nocopy] data: Received<u8>) {
        drop(data);
        if left == 0 {
            return self.finish();
        }
        self.send_nocopy(left);
    }

    fn send_nocopy(&mut self, left: u64) {
        let partner = self.partner.as_ref().expect("they met before");
        partner.pass_nocopy(left - 1, self.source.clone());
    }

    fn finish(&mut self) {
        let began = self.began.expect("an even chain ends where it started");
        self.done.take().expect("as above").send(began.elapsed().as_nanos() as u64);
    }
}

/// Measures one way of one path.
pub(crate) fn play(play: Play, batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let players = PlayerProxy::create(play.size as u64, play.shareable);
        players.meet(players.clone());
        chare::quiescence().await;
        let first = players.on(PeId(0));
        let batch = async |calls| {
            let (elapsed_ns, done) = chare::future();
            match play.way {
                Way::Given => first.start_regular(calls, false, done),
                Way::Kept => first.start_regular(calls, true, done),
                Way::Nocopy => first.start_nocopy(calls, done),
            }
            Duration::from_nanos(elapsed_ns.await)
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}
