//! Local access: a program reaches elements of its PE without a message.

use chare::Job;
use chare::prelude::*;

struct Nested;

#[chare(array)]
impl Nested {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn enter(&mut self, other: u64) {
        let all = self.this_collection();
        let seen = all.at(other).local(|_| all.at(other).local(|_| ()).is_some());
        assert_eq!(seen, None);
    }

    /// Contributes in the name of another element, and has it go.
    #[entry]
    fn act_for(&mut self, other: u64, done: Callback<Vec<u64>>) {
        let all = self.this_collection();
        let acted = all.at(other).local(|nested| {
            assert_eq!(nested.this_index(), other);
            nested.contribute(concat([other]), done);
            chare::destroy();
        });
        assert_eq!(acted, Some(()));
        assert_eq!(all.at(other).local(|_| ()), None, "it is gone");
        self.contribute(concat([self.this_index()]), done);
    }
}

#[test]
fn an_element_is_reached_without_a_message_by_one_at_a_time() {
    for other in [0, 1] {
        let itself = Job::in_process(1, 1).run(move || async move {
            NestedProxy::create(2).at(0).enter(other);
            chare::future::<()>().0.await;
        });
        let text = itself.unwrap_err().to_string();
        assert!(text.contains("Nested::local of member") && text.contains("borrowed already"), "{text}");
    }
    let code = Job::in_process(1, 1).run(|| async {
        let nested = NestedProxy::create(2);
        let (indices, done) = chare::future();
        nested.at(0).act_for(1, done);
        assert_eq!(indices.await, [0, 1]);
    });
    assert_eq!(code.unwrap(), 0);
}
