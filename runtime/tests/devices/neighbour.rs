//! A chare that takes device buffers, keeps them, passes them on, lands them in every manner, and refuses some.

use crate::job::{read, room, stream};
use chare::layout::{Dims, Layout};
use chare::prelude::*;
use chare::{DeviceLanding, DevicePosted, DeviceReceived, PostRefusal, SendDeviceBuffer};

/// How a neighbour lands what is sent to it.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Manner {
    Whole,
    First,
    /// Every other element, from the second on.
    Column,
    /// The whole, before a stream of the receiver.
    Before,
}

pub(crate) const MANNERS: [Manner; 4] = [Manner::Whole, Manner::First, Manner::Column, Manner::Before];

pub(crate) struct Neighbour {
    kept: Vec<DeviceReceived<u32>>,
}

#[chare]
impl Neighbour {
    #[entry]
    pub(crate) fn new() -> Self {
        Self { kept: Vec::new() }
    }

    #[entry]
    pub(crate) async fn take(
        this: This<Self>,
        #[nocopy] face: DeviceReceived<u32>,
        done: Callback<(u64, Vec<u32>)>,
    ) {
        let address = face.address();
        let values = read(&face).await;
        drop((face, this));
        done.send((address, values));
    }

    #[entry]
    pub(crate) fn ping(&self) -> bool {
        self.kept.is_empty()
    }

    #[entry]
    pub(crate) fn keep(&mut self, #[nocopy] face: DeviceReceived<u32>) {
        self.kept.push(face);
    }

    /// Sends what was kept on, as the buffer that it is, with what is the host's.
    #[entry]
    pub(crate) fn pass_on(&mut self, to: NeighbourProxy, done: Callback<(u64, Vec<u32>)>) {
        let face = self.kept.pop().expect("something was kept");
        to.take(SendDeviceBuffer::from(face.into_buffer()), done);
    }

    #[entry]
    pub(crate) async fn land(
        this: This<Self>,
        #[nocopy(post)] row: DevicePosted<u32>,
        manner: Manner,
        done: Callback<(u64, Vec<u32>)>,
    ) {
        if manner != Manner::Before {
            assert!(row.is_complete().expect("it is not lost"), "the entry runs when the elements are there");
        }
        let transferred = row.transferred() as u64;
        let values = read(&row.into_buffer().freeze()).await;
        drop(this);
        done.send((transferred, values));
    }

    #[post(land)]
    fn post_land(&mut self, row: Post<u32>, manner: &Manner, _done: &Callback<(u64, Vec<u32>)>) {
        let len = row.len();
        match manner {
            Manner::Whole => row.post_device(room(len).into()),
            Manner::First => row.post_device(DeviceLanding::first(len - 1, room(len + 3))),
            Manner::Column => row.post_device(DeviceLanding::at(&column(len), room(2 * len))),
            Manner::Before => row.post_device(DeviceLanding::from(room(len)).before(&stream())),
        }
        .expect("it is no longer than the sender's");
    }

    #[entry]
    pub(crate) fn refuse(
        &mut self,
        #[nocopy(post)] row: DevicePosted<u32>,
        #[nocopy(post)] host: Posted<u32>,
    ) {
        assert_eq!((row.transferred(), host.len()), (4, 3));
        chare::exit(0);
    }

    #[post(refuse)]
    fn post_refuse(&mut self, row: Post<u32>, host: Post<u32>) {
        let refused = row.post_device(room(5).into()).expect_err("the sender offers four");
        assert_eq!(refused.cause, PostRefusal::TooLong { wanted: 5, offered: 4 });
        assert_eq!(refused.given.into_buffer().len(), 5);
        let refused = refused.post.post(vec![0; 4]).expect_err("it is the host's");
        assert_eq!(
            refused.cause.to_string(),
            "a buffer of the host for a parameter of a device; a device takes `Post::post_device`"
        );
        let refused = refused.post.match_tag(7).expect_err("tags are of the host's buffers");
        assert_eq!(refused.cause, PostRefusal::OtherMemory { of_device: true });
        refused.post.post_device(room(4).into()).expect("it is as long");
        let refused = host.post_device(room(3).into()).expect_err("it is the host's parameter");
        assert_eq!(refused.cause, PostRefusal::OtherMemory { of_device: false });
        refused.post.post(vec![0; 3]).expect("it is as long");
    }
}

/// So many elements, every other one from the second on.
pub(crate) fn column(len: usize) -> Layout<u32> {
    Dims::new([len, 2]).select((.., 1))
}
