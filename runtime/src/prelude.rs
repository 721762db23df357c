//! What a program of chares names all the time: `use chare::prelude::*;`

pub use crate::{
    Buffer, BufferMut, Callback, NodeId, PeId, Post, Posted, Received, Reducer, SendBuffer, Sent, This,
    ThisChare, ThisMember, barrier, chare, concat, entries, entry, max, min, post, product, reduce, reducer,
    set, statistics, sum, tuple,
};
