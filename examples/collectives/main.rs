//! How do all elements of an array meet, and some of them? A barrier, an all-reduce, an all-gather and an all-to-all, checked by
//! every element; and an all-gather over a section.
//! Run it with `cargo run --release --example collectives -- --elements 12 +n 2 +p 2`.

use chare::prelude::*;
use chare_examples::ports;
use clap::Parser;
use std::process::ExitCode;

/// Lets elements meet in every way.
#[derive(Parser)]
#[command(name = "collectives", no_binary_name = true)]
struct Options {
    /// Elements
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    elements: u64,
}

struct Member {
    /// How many there are.
    size: u64,
    /// The numbers that the others have sent, by sender.
    received: Vec<Option<u64>>,
    missing: u64,
    done: Option<Callback<u64>>,
}

#[chare(array)]
impl Member {
    #[entry]
    fn new(size: u64) -> Self {
        Self { size, received: vec![None; size as usize], missing: size, done: None }
    }

    /// Nobody passes before all have come: the result goes to all.
    #[entry]
    fn start(&mut self, done: Callback<u64>) {
        self.done = Some(done);
        self.contribute(barrier(), self.this_collection().pass_callback());
    }

    /// All-reduce: everybody gets the sum.
    #[entry]
    fn pass(&mut self) {
        self.contribute(sum(self.this_index()), self.this_collection().take_sum_callback());
    }

    /// All-gather: everybody gets what each contributed, in the order of the indices.
    #[entry]
    fn take_sum(&mut self, sum: u64) {
        assert_eq!(sum, self.size * (self.size - 1) / 2);
        let square = self.this_index() * self.this_index();
        self.contribute(set(square), self.this_collection().take_all_callback());
    }

    /// All-to-all: everybody sends something else to each.
    #[entry]
    fn take_all(&mut self, squares: Vec<u64>) {
        assert!(squares.iter().copied().eq((0..self.size).map(|index| index * index)));
        let (all, index) = (self.this_collection(), self.this_index());
        for other in 0..self.size {
            all.at(other).receive(index, index * self.size + other);
        }
    }

    #[entry]
    fn receive(&mut self, from: u64, what: u64) {
        assert_eq!(what, from * self.size + self.this_index());
        let before = self.received[from as usize].replace(what);
        assert_eq!(before, None, "{from} sends once");
        self.missing -= 1;
        if self.missing == 0 {
            let done = self.done.take().expect("nobody sends before all have started");
            self.contribute(sum(self.received.iter().flatten().sum::<u64>()), done);
        }
    }

    /// Gathers the indices of some.
    #[entry]
    fn meet(&mut self, section: MemberSectionProxy, done: Callback<Vec<u64>>) {
        self.contribute_to(&section, set(self.this_index()), done);
    }
}

fn main() -> ExitCode {
    ports::run(|Options { elements }: Options| async move {
        let members = MemberProxy::create(elements, elements);
        let (total, done) = chare::future();
        members.start(done);
        let everything = elements * elements;
        assert_eq!(total.await, everything * everything.saturating_sub(1) / 2);
        println!("{elements} elements met at a barrier, an all-reduce, an all-gather and an all-to-all");
        let even = members.section((0..elements).step_by(2));
        let (indices, done) = chare::future();
        even.meet(even.clone(), done);
        let indices = indices.await;
        assert!(indices.iter().copied().eq((0..elements).step_by(2)));
        println!("{} elements of a section met on their own", indices.len());
        even.dissolve();
    })
}
