//! The prelude: names that nearly every program of chares uses. `use chare::prelude::*;`

pub use crate::{
    Again, Buffer, BufferMut, Callback, NodeId, PeId, Post, Posted, Received, ReceivedView, Reducer,
    SendBuffer, Sent, This, ThisChare, ThisMember, barrier, bit_and, bit_or, bit_xor, chare, concat, entries,
    entry, logical_and, logical_or, logical_xor, max, min, post, product, reduce, reducer, set, statistics,
    sum, tuple,
};
