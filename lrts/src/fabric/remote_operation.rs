//! Remote operation: what is decided of a get or put before a network sees it.

use crate::lrts::{Completion, Get, Posted, Put, Refused};
use crate::memcpy::copy;
use crate::operation::Operation;
use crate::region::Regions;
use std::sync::Arc;

/// Copies what is this node's own, and lets `post` bring what is another's.
///
/// # Errors
/// The operation, when `post` has no room for it.
pub(crate) fn get(
    regions: &Arc<Regions>,
    get: Get,
    post: impl FnOnce(Operation) -> Result<Posted, Operation>,
) -> Result<Posted, Refused<Get>> {
    if get.key.node == regions.node() {
        return copy::get(regions, get);
    }
    if let Err(error) = copy::local_room(&get) {
        let failed = Completion { token: get.token, result: Err(error), memory: Some(get.into) };
        return Ok(Posted::Done(failed));
    }
    post(get.into()).map_err(|operation| Refused(operation.into_get()))
}

/// The same for a put.
///
/// # Errors
/// As [`get`].
pub(crate) fn put(
    regions: &Arc<Regions>,
    put: Put,
    post: impl FnOnce(Operation) -> Result<Posted, Operation>,
) -> Result<Posted, Refused<Put>> {
    if put.key.node == regions.node() {
        return copy::put(regions, put);
    }
    post(put.into()).map_err(|operation| Refused(operation.into_put()))
}
