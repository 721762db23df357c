//! Posts that a panic drops: the panic's words end the job where nobody catches it, and elsewhere the entry's name does, whose call could
//! never run.

#![expect(clippy::disallowed_methods, reason = "a thread outside the job is what is tested")]

use crate::{Manner, ReceiverProxy, pattern};
use chare::prelude::*;
use chare::{Job, JobError};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Who drops the post in a panic.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum Who {
    /// The post method, which catches the panic.
    PostMethod,
    /// The same, and the call's other post is kept.
    PostMethodOfTwo,
    /// An entry, which catches the panic.
    Entry,
    /// An `async` entry, when it goes on.
    AsyncEntry,
    /// An entry, whose chare goes on after the panic.
    Outlived,
    /// A thread of the program.
    Thread,
    /// Work that the job was given.
    Work,
}

const CAUGHT: [Who; 7] = [
    Who::PostMethod,
    Who::PostMethodOfTwo,
    Who::Entry,
    Who::AsyncEntry,
    Who::Outlived,
    Who::Thread,
    Who::Work,
];

fn panic_with<T>(_post: T) {
    panic!("the post goes");
}

fn drop_in_a_panic<T>(post: T) {
    catch_unwind(AssertUnwindSafe(|| panic_with(post))).expect_err("it panics");
}

struct Dropper {
    kept: Vec<Post<u32>>,
}

#[chare(group, on_panic = answer)]
impl Dropper {
    #[entry]
    fn new() -> Self {
        Self { kept: Vec::new() }
    }

    #[entry]
    fn land(&mut self, who: Who, #[nocopy(post)] one: Posted<u32>, #[nocopy(post)] two: Posted<u32>) {
        unreachable!("{who:?}: {one:?} and {two:?} cannot both come");
    }

    #[post(land)]
    fn post_land(&mut self, who: &Who, one: Post<u32>, two: Post<u32>) {
        match who {
            Who::PostMethod => drop_in_a_panic((one, two)),
            Who::PostMethodOfTwo => {
                drop_in_a_panic(one);
                self.kept.push(two);
            }
            Who::Thread => {
                let len = one.len();
                one.post(vec![0; len]).expect("it is as long");
                std::thread::spawn(move || drop_in_a_panic(two));
            }
            Who::Work => {
                self.kept.push(one);
                let _unheard = chare::job_handle().run(async move || panic_with(two));
            }
            Who::Entry | Who::AsyncEntry | Who::Outlived => {
                self.kept.extend([one, two]);
                let own = self.this_chare();
                match who {
                    Who::Entry => own.caught(),
                    Who::AsyncEntry => own.caught_later(),
                    _ => own.outlived(),
                }
            }
        }
    }

    #[entry]
    fn caught(&mut self) {
        drop_in_a_panic(self.kept.pop());
    }

    #[entry]
    async fn caught_later(this: This<Self>) {
        let post = this.with(|dropper| dropper.kept.pop());
        let (later, now) = chare::future();
        now.send(());
        later.await;
        drop_in_a_panic(post);
    }

    #[entry]
    fn outlived(&mut self) {
        panic_with(self.kept.pop());
    }
}

fn error_of<Fut: Future<Output = ()> + 'static>(
    nodes: u32,
    main: impl FnOnce() -> Fut + Send + 'static,
) -> JobError {
    let and_wait = async move || {
        main().await;
        chare::future::<()>().0.await;
    };
    Job::in_process(nodes, 1).run(and_wait).expect_err("a call could never run")
}

#[test]
fn a_post_that_goes_in_a_panic_that_was_caught_ends_the_job_with_the_entrys_name() {
    for (nodes, who) in [1, 2].into_iter().flat_map(|nodes| CAUGHT.map(|who| (nodes, who))) {
        let error = error_of(nodes, move || async move {
            DropperProxy::create().on(PeId(nodes - 1)).land(who, pattern(3), pattern(3));
        });
        for part in ["Dropper::land", "without a buffer"] {
            assert!(error.to_string().contains(part), "{who:?}, {nodes} nodes: `{part}` in: {error}");
        }
    }
}

#[test]
fn a_panic_that_nobody_catches_speaks_before_the_posts_that_it_drops() {
    for nodes in [1, 2] {
        let error = error_of(nodes, move || async move {
            let receiver = ReceiverProxy::create().on(PeId(nodes - 1));
            let (posting, on_posting) = chare::future();
            receiver.land(Manner::Kept, 3, on_posting, pattern(3), Callback::ignore());
            posting.await;
            receiver.give(Manner::Kept, 4, Callback::ignore());
        });
        for part in ["Receiver::give", "the sender offers 3"] {
            assert!(error.to_string().contains(part), "{nodes} nodes: `{part}` in: {error}");
        }
    }
}
