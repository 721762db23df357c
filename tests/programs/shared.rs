//! The program of copies that two processes make together: node 0 sends every fourth of 8 Mi numbers to the last PE, again and again, so
//! that it does little but help with the copy.
//!
//! It takes the number of rounds, and of arrays that are sent as one argument, if those are several; each array is longer than arenas are.
//! It prints, in lines of any order, `node N has process P` and `round 3`.

use chare::layout::Layout;
use chare::prelude::*;
use chare::{Landing, Several, SeveralMut};
use std::process::ExitCode;

const LEN: usize = 8 << 20;

struct Member {
    /// Out while the runtime fills them.
    targets: Vec<BufferMut<u64>>,
}

fn selected() -> Layout<u64> {
    Layout::vector(LEN as u64 / 4, 1, 4).expect("it fits")
}

#[chare(group)]
impl Member {
    #[entry]
    fn new(arrays: usize) -> Self {
        Self { targets: (0..arrays).map(|_| BufferMut::zeroed(LEN)).collect() }
    }

    #[entry]
    fn introduce(&mut self, done: Callback<()>) {
        println!("{} has process {}", chare::my_node(), std::process::id());
        self.contribute(barrier(), done);
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] data: Posted<u64>, done: Callback<()>) {
        self.targets.push(data.into_buffer());
        self.check();
        done.send(());
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u64>, _done: &Callback<()>) {
        let target = self.targets.pop().expect("one message at a time");
        data.post(Landing::at(&selected(), target)).expect("as long as what is sent");
    }

    #[entry]
    fn land_all(&mut self, #[nocopy(post)] data: Posted<u64>, arrays: usize, done: Callback<()>) {
        let mut landed = data.into_several();
        self.targets.extend((0..arrays).map(|_| landed.next_buffer::<u64>()));
        self.check();
        done.send(());
    }

    #[post(land_all)]
    fn post_land_all(&mut self, data: Post<u64>, _arrays: &usize, _done: &Callback<()>) {
        let layout = selected();
        let mut landings = self.targets.drain(..).map(|target| Landing::at(&layout, target));
        let first = SeveralMut::of(landings.next().expect("one message at a time"));
        data.post_several(landings.fold(first, SeveralMut::and)).expect("as long as what is sent");
    }
}

impl Member {
    fn check(&self) {
        let expected = |place: usize| if place.is_multiple_of(4) { place as u64 } else { 0 };
        let is_right = |target: &BufferMut<u64>| {
            target.iter().enumerate().all(|(place, found)| *found == expected(place))
        };
        assert!(self.targets.iter().all(is_right));
    }
}

fn main() -> ExitCode {
    chare::run(|arguments| async move {
        let mut numbers = arguments.iter().filter_map(|argument| argument.parse().ok());
        let (rounds, arrays) = (numbers.next().unwrap_or(u64::MAX), numbers.next().unwrap_or(1) as usize);
        let members = MemberProxy::create(arrays);
        let (introduced, done) = chare::future();
        members.introduce(done);
        introduced.await;
        let source = |_| BufferMut::from_fn(LEN, |place| place as u64).freeze();
        let sources: Vec<Buffer<u64>> = (0..arrays).map(source).collect();
        for round in 0..rounds {
            if round == 3 {
                println!("round 3");
            }
            let (landed, done) = chare::future();
            let layout = selected();
            let mut sent = sources.iter().map(|source| SendBuffer::from(source.clone()).only(&layout));
            let (receiver, first) = (members.on(PeId(chare::pes() - 1)), sent.next().expect("an array"));
            if arrays == 1 {
                receiver.land(first, done);
            } else {
                receiver.land_all(sent.fold(Several::of(first), Several::and), arrays, done);
            }
            landed.await;
        }
        chare::exit(0);
    })
}
