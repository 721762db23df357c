//! Readonly values of any size, over every path: complete on every node before any entry runs there.

use chare::prelude::*;
use chare::{Job, ReachOptions};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Well above the size from which values are lent; 100 elements are below.
const LARGE: usize = 30_000;

/// A value of its own type, with buffers inside.
#[derive(Clone, Serialize, Deserialize)]
struct Tables {
    name: String,
    large: Vec<Buffer<f64>>,
    small: Option<Buffer<u8>>,
}

struct Reader;

#[chare(group)]
impl Reader {
    #[entry]
    fn new(large: bool) -> Self {
        let len = if large { LARGE } else { 100 };
        assert_eq!(chare::readonly::<Vec<f64>>().len(), len);
        assert!(
            chare::readonly::<Vec<f64>>().iter().zip(0u32..).all(|(have, want)| *have == f64::from(want))
        );
        let integers = chare::readonly::<Vec<u16>>();
        assert!(integers.len() == 4 * len && integers.iter().all(|have| *have == 77));
        let buffer = chare::readonly::<Buffer<u64>>();
        assert!(buffer.len() == len && buffer.iter().zip(0u64..).all(|(have, want)| *have == want));
        let tables = chare::readonly::<Tables>();
        assert_eq!(tables.name, "tables");
        assert_eq!(tables.large.len(), 2);
        assert!(tables.large.iter().all(|table| table.len() == len && table[len - 1] == 1.5));
        assert_eq!(tables.small.as_deref(), Some(&[1, 2, 3][..]));
        assert_eq!(**chare::readonly::<Box<str>>(), *"words");
        Self
    }

    /// Where this PE's node has the elements of the vector and of the buffer.
    #[entry]
    fn places(&mut self, to: Callback<Vec<(u32, u64, u64)>>) {
        let places =
            [chare::readonly::<Vec<f64>>().as_ptr() as u64, chare::readonly::<Buffer<u64>>().as_ptr() as u64];
        self.contribute(set((chare::my_node().0, places[0], places[1])), to);
    }
}

fn set_all(len: usize, shareable: bool) {
    let buffer = |value: f64| {
        if shareable { BufferMut::from_fn(len, |_| value).freeze() } else { vec![value; len].into() }
    };
    let counted: Vec<u64> = (0..len as u64).collect();
    let counted = if shareable {
        BufferMut::from_fn(len, |position| counted[position]).freeze()
    } else {
        counted.into()
    };
    chare::set_readonly((0..len).map(|position| position as f64).collect::<Vec<f64>>());
    chare::set_readonly(vec![77u16; 4 * len]);
    chare::set_readonly(counted);
    chare::set_readonly(Tables {
        name: "tables".to_owned(),
        large: vec![buffer(1.5), buffer(1.5)],
        small: Some(vec![1, 2, 3].into()),
    });
    chare::set_readonly::<Box<str>>("words".into());
}

#[test]
fn values_are_complete_everywhere_before_anything_runs_and_there_once_in_each_process() {
    let named = |name: &str| ReachOptions { lrts: Some(name.to_owned()), ..ReachOptions::default() };
    let paths = [
        ("shm", ReachOptions::default()),
        ("cma", ReachOptions { noshm: true, ..ReachOptions::default() }),
        ("tcp", ReachOptions { nolocal: true, ..ReachOptions::default() }),
        ("emulated", named("emulated")),
    ];
    for (nodes, pes) in [(1, 2), (2, 1), (4, 1), (6, 2)] {
        for (path, network) in &paths {
            for (large, shareable) in [(false, false), (true, false), (true, true)] {
                let result = Job::in_process(nodes, pes).network(network.clone()).run(move || async move {
                    set_all(if large { LARGE } else { 100 }, shareable);
                    let readers = ReaderProxy::create(large);
                    let (places, to) = chare::future();
                    readers.places(to);
                    let places: Vec<(u32, u64, u64)> = places.await;
                    for (node, vector, buffer) in &places {
                        let same = places.iter().filter(|(other, ..)| other == node);
                        let mut same = same.map(|(_, vector, buffer)| (vector, buffer));
                        assert!(same.all(|place| place == (vector, buffer)), "one copy on node {node}");
                    }
                });
                assert_eq!(
                    result
                        .unwrap_or_else(|error| panic!("{nodes}x{pes} over {path}, large {large}: {error}")),
                    0
                );
            }
        }
    }
}

/// A number that travels as its distance from another readonly value.
#[derive(Clone)]
struct Distant(u64);

/// The value from which distances are counted.
#[derive(Clone, Serialize, Deserialize)]
struct Origin(u64);

impl Serialize for Distant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0 - chare::readonly::<Origin>().0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Distant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(|distance| Self(distance + chare::readonly::<Origin>().0))
    }
}

/// A value that reads itself as it comes.
#[derive(Clone, Serialize)]
struct Snake(u64);

impl<'de> Deserialize<'de> for Snake {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(|length| Self(length + chare::readonly::<Snake>().0))
    }
}

struct Surveyor;

#[chare(group)]
impl Surveyor {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn look(&mut self, to: Callback<u64>) {
        self.contribute(sum(chare::readonly::<Distant>().0), to);
    }

    #[entry]
    fn bite(&mut self) {
        chare::readonly::<Snake>();
    }
}

#[test]
fn the_serialization_of_a_value_may_read_another() {
    for (nodes, pes) in [(2, 1), (3, 2)] {
        let code = Job::in_process(nodes, pes).run(move || async move {
            chare::set_readonly(Origin(1000));
            chare::set_readonly(Distant(1007));
            let (total, to) = chare::future();
            SurveyorProxy::create().look(to);
            assert_eq!(total.await, 1007 * u64::from(nodes * pes));
        });
        assert_eq!(code.unwrap(), 0);
    }
}

#[test]
fn a_value_that_reads_itself_as_it_comes_ends_the_job_in_words() {
    let error = Job::in_process(2, 1).run(|| async {
        chare::set_readonly(Snake(3));
        SurveyorProxy::create().on(PeId(1)).bite();
        chare::future::<()>().0.await;
    });
    let told = error.unwrap_err().to_string();
    assert!(told.contains("Snake` reads that value") && told.contains("Surveyor::bite"), "{told}");
}
