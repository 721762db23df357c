//! libfabric, as its headers declare it, without linking to it: a program that was built with this starts
//! everywhere, and says so where libfabric is not installed.
//!
//! * [`abi`]: structures, constants and operation tables, generated once from the headers of libfabric 1.17, whose ABI
//!   later releases keep:
//!   `bindgen wrapper.h -o src/abi.rs --size_t-is-usize --no-layout-tests --no-doc-comments --no-prepend-enum-name
//!   --default-enum-style consts --allowlist-type 'fi_info|fid_(ep|fabric|domain|cq|av|mr)|fi_cq_(msg|err)_entry|fi_msg_rma|fi_context2'
//!   --allowlist-var 'FI_.*' --opaque-type 'fi_ops_(tagged|atomic|collective|wait|poll|eq|cntr)|fid_(nic|stx|eq|cntr|poll|wait|pep|mc|av_set)|fi_(param|eq_attr|cntr_attr|wait_attr|poll_attr|atomic_attr|collective_attr|av_set_attr)'`
//! * [`Library`]: the few symbols that libfabric exports.
//! * [`calls`]: all others are inline functions of the headers, which call through the objects' operation tables.
//!
//! ```
//! match chare_ofi_sys::Library::load() {
//!     Ok(library) => println!("libfabric {}.{}", library.version().0, library.version().1),
//!     Err(why) => println!("{why}"),
//! }
//! ```

#[allow(
    missing_docs,
    non_camel_case_types,
    non_upper_case_globals,
    unsafe_code,
    rust_2018_idioms,
    clippy::all,
    reason = "generated; the manual pages of libfabric document it"
)]
#[rustfmt::skip]
pub mod abi;
pub mod calls;
mod library;

pub use library::{Library, LoadError};
