//! The thread of the control plane: tokio's runtime on the caller's thread.

use std::io;
use tokio::task::LocalSet;

/// Runs the control plane on this thread.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(LocalSet::new().block_on(&runtime, future))
}
