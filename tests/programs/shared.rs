//! The program of copies that two processes make together: node 0 sends every fourth of 8 Mi numbers to the last PE, again and again, so
//! that it does little but help with the copy.
//!
//! It takes the number of rounds, and prints, in lines of any order, `node N has process P` and `round 3`.

use chare::Landing;
use chare::layout::Layout;
use chare::prelude::*;
use std::process::ExitCode;

const LEN: usize = 8 << 20;

struct Member {
    target: Option<BufferMut<u64>>,
}

fn selected() -> Layout<u64> {
    Layout::vector(LEN as u64 / 4, 1, 4).expect("it fits")
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { target: None }
    }

    #[entry]
    fn introduce(&mut self, done: Callback<()>) {
        println!("{} has process {}", chare::my_node(), std::process::id());
        self.contribute(barrier(), done);
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] data: Posted<u64>, done: Callback<()>) {
        let landed = data.into_buffer();
        assert!((0..LEN).all(|place| landed[place] == if place % 4 == 0 { place as u64 } else { 0 }));
        self.target = Some(landed);
        done.send(());
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u64>, _done: &Callback<()>) {
        let target = self.target.take().unwrap_or_else(|| BufferMut::zeroed(LEN));
        data.post(Landing::at(&selected(), target)).expect("as long as what is sent");
    }
}

fn main() -> ExitCode {
    chare::run(|arguments| async move {
        let rounds: u64 = arguments.first().and_then(|rounds| rounds.parse().ok()).unwrap_or(u64::MAX);
        let members = MemberProxy::create();
        let (introduced, done) = chare::future();
        members.introduce(done);
        introduced.await;
        let source = BufferMut::from_fn(LEN, |place| place as u64).freeze();
        for round in 0..rounds {
            if round == 3 {
                println!("round 3");
            }
            let (landed, done) = chare::future();
            members.on(PeId(chare::pes() - 1)).land(SendBuffer::from(source.clone()).only(&selected()), done);
            landed.await;
        }
        chare::exit(0);
    })
}
