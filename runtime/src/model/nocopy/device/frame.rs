//! What nodes say to each other of memory of devices.
//!
//! All of it is an allegation until the receiver has checked it.

use super::refusal::DeviceRefusal;
use crate::model::nocopy::{Descriptor, DeviceDescriptor, ToldLayout};
use chare_lrts::{RegionKey, Token};
use serde::{Deserialize, Serialize};

/// A message between the owner of a device buffer and who receives it.
#[derive(Serialize, Deserialize)]
pub(crate) enum DeviceFrame {
    /// To the owner: the first `bytes` of what the token names are wanted under this name, in this way or in chunks.
    Ask { token: Token, transfer: Token, bytes: u64, way: DeviceWay },
    /// To who asked: a part of what was asked for, or where it is.
    Given { transfer: Token, given: GivenMemory },
    /// To the owner: what the token names is no longer used.
    Done { token: Token },
    /// To who has registered memory: what a layout selects of it, or its first `bytes`, is wanted under this name.
    Get { source: Token, bytes: u64, layout: Option<ToldLayout>, transfer: Token },
    /// To who wants registered memory: it may ask for this.
    Offered { transfer: Token, offered: DeviceDescriptor },
    /// To who has registered memory: what is offered belongs where a layout selects, or into the first bytes; when it is there, the
    /// offerer is told under this name.
    Put { target: Token, layout: Option<ToldLayout>, offered: DeviceDescriptor, transfer: Token },
    /// To who wrote to registered memory: it is there.
    Written { transfer: Token },
    /// To who wants to read or write registered memory: that will not be.
    Refused { transfer: Token, cause: DeviceRefusal },
}

/// What the owner of a device buffer gives.
#[derive(Serialize, Deserialize)]
pub(crate) enum GivenMemory {
    /// Bytes of the packed argument, from `at` on, as a nocopy argument of the host.
    Chunk {
        at: u64,
        nocopy: Descriptor,
    },
    Mapped(MappedDevice),
    /// All that is meant of the buffer, packed, as the network reads it.
    Registered(RegionKey),
    /// Nothing more, of registered memory.
    Refused(DeviceRefusal),
}

/// How a node wants memory of another one's device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum DeviceWay {
    /// In chunks of memory of the host.
    Chunks,
    /// Where it is, to be mapped.
    Mapped,
    /// Where it is, to be read by the network.
    Direct,
}

/// How memory of a device is named to other processes of the host: descriptors by their numbers in the owner's.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum NamedMemory {
    /// An arena of the owner's device, and its bytes. It stays as long as that process, and so does its descriptor.
    Arena { descriptor: i32, bytes: u64 },
    /// Memory that the owner's program has adopted: a descriptor of each allocation that it lies in, and their bytes. It is there for this loan.
    Allocations(Vec<(i32, u64)>),
    /// The same: an allocation by the driver's name, and its bytes. Nobody may have it mapped when the loan is over.
    Named { name: Vec<u8>, bytes: u64 },
}

/// Memory of a device that another process of the host, or another device of the process, can map.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct MappedDevice {
    /// Which device's it is.
    pub(crate) uuid: [u8; 16],
    /// The owner's process.
    pub(crate) process: i32,
    pub(crate) memory: NamedMemory,
    /// Where the buffer lies in that memory.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// What is meant of the buffer, if not all of it.
    pub(crate) layout: Option<ToldLayout>,
    /// The entry that sent it, in words.
    pub(crate) sender: String,
}
