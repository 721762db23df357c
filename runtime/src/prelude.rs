//! The prelude: names that nearly every program of chares uses. `use chare::prelude::*;`

pub use crate::{
    Buffer, BufferMut, Callback, NodeId, PeId, Post, Posted, Received, ReceivedView, Reducer, SendBuffer,
    Sent, This, ThisChare, ThisMember, barrier, chare, concat, entries, entry, max, min, post, product,
    reduce, reducer, set, statistics, sum, tuple,
};
