//! Port of Charm++'s test `zerocopy/zerocopy_with_qd`: quiescence must not come before every transfer is over.
//!
//! Six stages, each begun and then waited for by quiescence alone: large readonly values, gets, sends, posted receives, a broadcast
//! that is received, a broadcast that is posted. In each, pairs (or element 0 and all) transfer three buffers of odd sizes; what
//! was told to callbacks by then must be exactly what was started.
//!
//! ```text
//! cargo run -p chare-tests --bin zerocopy_with_qd -- 20 +p 2 +n 2
//! ```

use chare::prelude::*;
use chare::{RegisteredSource, SourceHandle, rget};
use chare_examples::ports::{self, assert_constant, assert_indices, indices};
use clap::Parser;
use std::process::ExitCode;

/// Bytes of the three buffers.
const SIZES: [usize; 3] = [2001, 67, 4578];

/// Detects quiescence around zero-copy transfers of every kind.
#[derive(Parser)]
#[command(name = "zerocopy_with_qd", no_binary_name = true)]
struct Options {
    /// Elements of the array, an even number
    #[arg(value_parser = ports::parse_even)]
    elements: u64,
    /// Numbers of each readonly value
    #[arg(long, default_value_t = 2_000_000)]
    readonly: usize,
}

struct Element {
    partner: u64,
    sources: Vec<RegisteredSource<u8>>,
    /// Since they were last asked for.
    sources_done: u64,
    destinations_done: u64,
}

/// The contents of the buffers that an element sends.
fn content(index: u64) -> u8 {
    index as u8 + 1
}

fn buffers(index: u64) -> [Vec<u8>; 3] {
    SIZES.map(|size| vec![content(index); size])
}

#[chare(array)]
impl Element {
    #[entry]
    fn new(elements: u64, readonly: usize) -> Self {
        for values in [&chare::readonly::<Vec<i32>>()[..], &chare::readonly::<Buffer<i32>>()[..]] {
            assert_eq!(values.len(), readonly);
            assert_indices(values, 0);
        }
        let partner = elements - 1 - chare::this_index::<u64>();
        Self { partner, sources: Vec::new(), sources_done: 0, destinations_done: 1 }
    }

    /// Counts the callbacks of all elements since the last time: of sources and of destinations.
    #[entry]
    fn report(&mut self, done: Callback<Vec<u64>>) {
        let counts = vec![self.sources_done, self.destinations_done];
        (self.sources_done, self.destinations_done) = (0, 0);
        self.contribute(sum(counts), done);
    }

    #[entry]
    fn direct(&mut self) {
        if self.this_index() < self.partner {
            let notice = self.this_chare().source_read_callback();
            self.sources = buffers(self.this_index())
                .map(|buffer| RegisteredSource::register(buffer).notify(notice))
                .into();
            let handles = self.sources.iter().map(RegisteredSource::handle).collect();
            self.this_collection().at(self.partner).get(handles);
        }
    }

    #[entry]
    fn get(&mut self, sources: Vec<SourceHandle<u8>>) {
        let filled = self.this_chare().filled_callback();
        for source in sources {
            rget(&source, vec![0; source.len()], filled).expect("it is as long");
        }
    }

    #[entry]
    fn source_read(&mut self, _bytes: u64) {
        self.sources_done += 1;
    }

    #[entry]
    fn filled(&mut self, buffer: BufferMut<u8>) {
        assert_constant(&buffer, content(self.partner));
        self.destinations_done += 1;
    }

    #[entry]
    fn send(&mut self, to_all: bool, posted: bool) {
        let index = self.this_index();
        let sent = self.this_chare().sent_callback();
        let [first, second, third] = buffers(index).map(|buffer| SendBuffer::from(buffer).on_sent(sent));
        let (all, partner) = (self.this_collection(), self.partner);
        match (to_all, posted) {
            (true, false) => all.receive(index, first, second, third),
            (true, true) => all.receive_posted(index, first, second, third),
            (false, _) if index > partner => {}
            (false, false) => all.at(partner).receive(index, first, second, third),
            (false, true) => all.at(partner).receive_posted(index, first, second, third),
        }
    }

    #[entry]
    fn sent(&mut self, _buffer: Sent<u8>) {
        self.sources_done += 1;
    }

    #[entry]
    fn receive(
        &mut self,
        from: u64,
        #[nocopy] first: Received<u8>,
        #[nocopy] second: Received<u8>,
        #[nocopy] third: Received<u8>,
    ) {
        self.check(from, [&first, &second, &third]);
    }

    #[entry]
    fn receive_posted(
        &mut self,
        from: u64,
        #[nocopy(post)] first: Posted<u8>,
        #[nocopy(post)] second: Posted<u8>,
        #[nocopy(post)] third: Posted<u8>,
    ) {
        self.check(from, [&first, &second, &third]);
    }

    #[post(receive_posted)]
    fn post(&mut self, _from: &u64, first: Post<u8>, second: Post<u8>, third: Post<u8>) {
        for post in [first, second, third] {
            let len = post.len();
            post.post(vec![0; len]).expect("it is as long");
        }
    }

    fn check(&mut self, from: u64, buffers: [&[u8]; 3]) {
        for (buffer, size) in buffers.into_iter().zip(SIZES) {
            assert_eq!(buffer.len(), size);
            assert_constant(buffer, content(from));
        }
        self.destinations_done += 1;
    }
}

/// Waits for quiescence; every callback that was to come must have come.
async fn expect(elements: &ElementProxy, stage: &str, sources: u64, destinations: u64) {
    chare::quiescence().await;
    let (counts, done) = chare::future();
    elements.report(done);
    assert_eq!(counts.await, [sources, destinations], "{stage}: sources and destinations done at quiescence");
    println!("Quiescence has been reached for {stage}");
}

fn main() -> ExitCode {
    ports::run(|Options { elements: count, readonly }| async move {
        chare::set_readonly(indices(readonly));
        chare::set_readonly(Buffer::from(indices(readonly)));
        let elements = ElementProxy::create(count, count, readonly);
        expect(&elements, "readonly values", 0, count).await;
        elements.direct();
        expect(&elements, "the direct API", 3 * count / 2, 3 * count / 2).await;
        elements.send(false, false);
        expect(&elements, "sends", 3 * count / 2, count / 2).await;
        elements.send(false, true);
        expect(&elements, "posted receives", 3 * count / 2, count / 2).await;
        elements.at(0).send(true, false);
        expect(&elements, "a broadcast that is received", 3, count).await;
        elements.at(0).send(true, true);
        expect(&elements, "a broadcast that is posted", 3, count).await;
    })
}
