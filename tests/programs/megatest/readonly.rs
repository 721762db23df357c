//! Readonly values, the same everywhere.

use chare::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Few([i32; 10]);

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Many(Vec<i32>);

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Text(String);

fn values() -> (Few, Many, Text) {
    let few = std::array::from_fn(|at| at as i32 * 3);
    (Few(few), Many((0..1000).rev().collect()), Text("as it was in the beginning".to_owned()))
}

/// Before anything else runs.
pub(crate) fn set() {
    let (few, many, text) = values();
    chare::set_readonly(few);
    chare::set_readonly(many);
    chare::set_readonly(text);
}

struct Reader;

#[chare(group)]
impl Reader {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn compare(&mut self, done: Callback<()>) {
        let (few, many, text) = values();
        assert_eq!(*chare::readonly::<Few>(), few);
        assert_eq!(*chare::readonly::<Many>(), many);
        assert_eq!(*chare::readonly::<Text>(), text);
        self.contribute(barrier(), done);
    }
}

pub(crate) async fn everywhere() {
    let (compared, done) = chare::future();
    ReaderProxy::create().compare(done);
    compared.await;
}
