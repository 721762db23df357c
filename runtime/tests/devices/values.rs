//! Device buffers as values: they move within a process, and are staged on their way to another.

use crate::job::{counted, end, filled, read, room};
use chare::devices::{self, DeviceChoice, Software};
use chare::prelude::*;
use chare::{DeviceBufferMut, Job};

/// What is plain beside what lies on a device.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Tile {
    name: String,
    field: Option<chare::DeviceBuffer<u32>>,
}

struct Keeper {
    tile: Tile,
}

#[chare]
impl Keeper {
    #[entry]
    fn new(tile: Tile) -> Self {
        Self { tile }
    }

    #[entry]
    async fn look(this: This<Self>) -> (String, u64, Vec<u32>) {
        let tile = this.with(|keeper| keeper.tile.clone());
        let field = tile.field.expect("it has one");
        let mine = devices::mine().expect("there is a software device");
        assert_eq!(field.device().info(), mine.info());
        (tile.name, field.address(), read(&field).await)
    }
}

#[test]
fn device_buffers_are_values_which_move_inside_and_are_staged_outside() {
    let code = Job::in_process(2, 2).device(DeviceChoice::software(1)).run(|| async {
        let field = filled(&counted(1_000));
        let address = field.address();
        let field = Some(field.freeze());
        let tile = Tile { name: "a tile".to_owned(), field };
        for (pe, is_same) in [(1, true), (2, false), (3, false)] {
            let (name, at, values) = KeeperProxy::create_on(PeId(pe), tile.clone()).look().await;
            assert_eq!((name, values), ("a tile".to_owned(), counted(1_000)));
            // Other nodes of this process are as other processes are.
            assert_eq!(at == address, is_same, "PE {pe}");
        }
        let mut unwritten = Vec::new();
        chare_lrts::codec::encode_into(&room(3), &mut unwritten).expect("one of one owner is a value, too");
        let again: DeviceBufferMut<u32> = chare_lrts::codec::decode(&unwritten).expect("it was one");
        assert_eq!(read(&again.freeze()).await, [0; 3]);
        assert!(chare_lrts::codec::decode::<DeviceBufferMut<u64>>(&unwritten).is_err(), "twelve bytes");
    });
    assert_eq!(code.expect("the job runs"), 0);
}

/// Takes all memory of its device.
struct Hoarder {
    hoard: Vec<DeviceBufferMut<u32>>,
}

#[chare]
impl Hoarder {
    #[entry]
    fn new() -> Self {
        let device = devices::mine().expect("there is a software device");
        let some = || DeviceBufferMut::new(&device, 1 << 16).ok();
        Self { hoard: std::iter::from_fn(some).collect() }
    }

    #[entry]
    async fn hoarded(this: This<Self>) -> usize {
        this.with(|hoarder| hoarder.hoard.len())
    }

    #[entry]
    fn take(&mut self, tile: Tile) {
        unreachable!("{} has no room beside {} others", tile.name, self.hoard.len());
    }
}

#[test]
fn a_value_that_finds_no_memory_ends_the_job_and_names_chare_entry_and_cause() {
    let small = Software { memory_bytes: 2 << 20, ..Software::default() };
    let job = Job::in_process(2, 1).device(DeviceChoice::Software(vec![small]));
    let words = end(job, async || {
        let field = Some(filled(&counted(1 << 16)).freeze());
        let tile = Tile { name: "a tile".to_owned(), field };
        let hoarder = HoarderProxy::create_on(PeId(1));
        // Arguments become values when they arrive, before calls that came earlier have run.
        assert!(hoarder.hoarded().await > 0);
        hoarder.take(tile);
        std::future::pending::<()>().await;
    });
    assert!(words.contains("Hoarder::take: ") && words.contains("262144 bytes"), "{words}");
}
