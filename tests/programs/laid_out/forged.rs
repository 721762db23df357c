//! Forged layouts: selections of handles, changed by the bytes that they are on the wire.

use crate::peer::{UNTOUCHED, WRITTEN, outcome_of_get, outcome_of_put, source_at};
use crate::shape::{LEN, Shape};
use chare::layout::Raw;
use chare::prelude::*;
use chare::{SourceHandle, SourceSelection, TargetHandle, TargetSelection, try_rget};
use chare_lrts::{TransferError, codec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// The bytes of a selection on the wire.
#[derive(Clone, Serialize, Deserialize)]
struct Wire {
    node: u32,
    slot: u32,
    generation: u64,
    region_bytes: u64,
    start: u64,
    len: u64,
    notify: Option<()>,
    layout: Option<Vec<u8>>,
    elements: PhantomData<()>,
}

/// A selection with another layout, and a handle that says that it covers `len` elements.
fn forged<S: Serialize + DeserializeOwned>(selection: &S, layout: &Raw, len: u64) -> S {
    let mut bytes = Vec::new();
    codec::encode_into(selection, &mut bytes).expect("selections are plain");
    let wire: Wire = codec::decode(&bytes).expect("this is what a selection consists of");
    let lie = Wire { layout: Some(layout.encode()), len, ..wire };
    bytes.clear();
    codec::encode_into(&lie, &mut bytes).expect("plain numbers and bytes");
    codec::decode(&bytes).expect("a selection is an allegation")
}

fn element() -> Raw {
    Raw::bytes_of(4).expect("it fits")
}

fn is_refusal(cause: &TransferError) -> bool {
    use TransferError::{OutOfRange, ReadOnly, StaleKey};
    matches!(cause, StaleKey(_) | OutOfRange { .. } | ReadOnly(_))
}

/// Layouts that reach beyond the region, each with a handle that pretends to reach as far.
fn beyond() -> [(Raw, u64); 3] {
    let (len, far) = (LEN as u64, 1 << 40);
    let raw = |layout: Result<Raw, _>| layout.expect("it fits");
    [
        (raw(element().vector(len / 2 + 1, 1, 2)), 2 * len),
        (raw(raw(element().vector(len / 4, 1, 2)).shifted(-4)), len),
        (raw(element().vector(2, 1, far)), 2 * far as u64),
    ]
}

pub(crate) async fn reads(source: SourceHandle<u32>) {
    let honest = source.only(&Shape::EveryOther.layout());
    for (layout, len) in beyond() {
        let lie: SourceSelection<u32> = forged(&honest, &layout, len);
        let failed = outcome_of_get(&lie, vec![UNTOUCHED; LEN]).await.expect_err("it reaches beyond");
        // Or this node has no memory for so much.
        let is_refused = is_refusal(&failed.cause) || matches!(failed.cause, TransferError::Refused { .. });
        assert!(is_refused, "{layout:?}: {:?}", failed.cause);
        assert!(failed.buffer.iter().all(|element| *element == UNTOUCHED), "a refused read has written");
    }
    // One element, more often than any memory has room for.
    let endless = element().hvector(1 << 50, 1, 0).expect("it fits");
    let lie: SourceSelection<u32> = forged(&honest, &endless, LEN as u64);
    let (_, done) = chare::future();
    let misfit = try_rget(&lie, vec![UNTOUCHED; LEN], done).expect_err("it is longer");
    assert_eq!((misfit.have, misfit.need), (LEN, 1 << 50));
    // As often as there is room for it.
    let again = element().hvector(Shape::COUNT as u64, 1, 0).expect("it fits");
    let lie: SourceSelection<u32> = forged(&honest, &again, LEN as u64);
    let read = outcome_of_get(&lie, vec![UNTOUCHED; LEN]).await.expect("it lies within the region");
    let (same, rest) = read.split_at(Shape::COUNT);
    assert!(same.iter().all(|element| *element == source_at(0)), "bytes from elsewhere");
    assert!(rest.iter().all(|element| *element == UNTOUCHED));
}

/// Some elements of the target may have been written afterwards.
pub(crate) async fn writes(target: TargetHandle<u32>) {
    let honest = target.only(&Shape::EveryOther.layout());
    for (layout, len) in beyond() {
        let lie: TargetSelection<u32> = forged(&honest, &layout, len);
        let from = vec![WRITTEN; (layout.bytes() / 4) as usize];
        // Its last element lies outside. Whether those before it are written depends on the path.
        let failed = outcome_of_put(from, &lie).await.expect_err("it reaches beyond");
        assert!(is_refusal(&failed.cause), "{layout:?}: {:?}", failed.cause);
    }
    let overlapping = element().hvector(1 << 50, 1, 0).expect("it fits");
    let lie: TargetSelection<u32> = forged(&honest, &overlapping, LEN as u64);
    let put = outcome_of_put(vec![WRITTEN; Shape::COUNT], &lie).await;
    if let Err(failed) = put {
        assert!(is_refusal(&failed.cause), "{:?}", failed.cause);
    }
}
