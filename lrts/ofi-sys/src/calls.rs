//! Calls of libfabric: the inline functions of its headers, each of which calls one entry of an object's operation table.
//!
//! # Safety
//! All of them share one contract: objects are open objects of the library; memory, texts and structures are as the
//! manual page of the function asks, and stay so until the operation has completed. An object is closed once, after
//! those that were made from it. An entry that a provider leaves empty answers `-FI_ENOSYS`.

#![expect(unsafe_code, reason = "calls through the operation tables of libfabric's objects")]

use crate::abi::{
    FI_ENABLE, FI_ENOSYS, FI_GETWAIT, fi_addr_t, fi_av_attr, fi_cq_attr, fi_cq_err_entry, fi_cq_msg_entry,
    fi_info, fi_msg_rma, fid, fid_av, fid_cq, fid_domain, fid_ep, fid_fabric, fid_mr,
};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

const MISSING: c_int = -(FI_ENOSYS as c_int);

/// Calls `operation` of the table `ops` of `object`.
macro_rules! call {
    ($object:expr, $ops:expr, $operation:ident ( $($argument:expr),* )) => {
        {
            let operations = $ops;
            // SAFETY: the contract of the module.
            unsafe {
                match (*operations).$operation {
                    Some(operation) => operation($object $(, $argument)*),
                    None => MISSING as _,
                }
            }
        }
    };
}

/// The table `ops` of an object.
macro_rules! table {
    ($object:expr, $ops:ident) => {
        // SAFETY: the contract of the module.
        unsafe { (*$object).$ops }
    };
}

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// The contract of this module.
            pub unsafe fn $name($($argument: $type),*) -> $result $body
        )*
    };
}

functions! {
    /// `fi_close`.
    fn close(object: *mut fid) -> c_int {
        call!(object, table!(object, ops), close())
    }

    /// `fi_domain`.
    fn domain(fabric: *mut fid_fabric, info: *mut fi_info, domain: &mut *mut fid_domain) -> c_int {
        call!(fabric, table!(fabric, ops), domain(info, domain, null_mut()))
    }

    /// `fi_trywait` on one queue: 0 when a thread may sleep on its descriptor.
    fn trywait(fabric: *mut fid_fabric, queue: *mut fid_cq) -> c_int {
        let mut object = queue.cast::<fid>();
        call!(fabric, table!(fabric, ops), trywait(&raw mut object, 1))
    }

    /// `fi_av_open`.
    fn av_open(domain: *mut fid_domain, attributes: &mut fi_av_attr, av: &mut *mut fid_av) -> c_int {
        call!(domain, table!(domain, ops), av_open(attributes, av, null_mut()))
    }

    /// `fi_cq_open`.
    fn cq_open(domain: *mut fid_domain, attributes: &mut fi_cq_attr, cq: &mut *mut fid_cq) -> c_int {
        call!(domain, table!(domain, ops), cq_open(attributes, cq, null_mut()))
    }

    /// `fi_endpoint`.
    fn endpoint(domain: *mut fid_domain, info: *mut fi_info, endpoint: &mut *mut fid_ep) -> c_int {
        call!(domain, table!(domain, ops), endpoint(info, endpoint, null_mut()))
    }

    /// `fi_ep_bind` and `fi_mr_bind`.
    fn bind(object: *mut fid, to: *mut fid, flags: u64) -> c_int {
        call!(object, table!(object, ops), bind(to, flags))
    }

    /// `fi_enable` and `fi_mr_enable`.
    fn enable(object: *mut fid) -> c_int {
        call!(object, table!(object, ops), control(FI_ENABLE as c_int, null_mut()))
    }

    /// `fi_control(FI_GETWAIT)` of a queue that was opened with a descriptor to wait on.
    fn wait_descriptor(queue: *mut fid_cq, descriptor: &mut c_int) -> c_int {
        let object = queue.cast::<fid>();
        call!(object, table!(object, ops), control(FI_GETWAIT as c_int, std::ptr::from_mut(descriptor).cast()))
    }

    /// `fi_getname`.
    fn getname(endpoint: *mut fid_ep, address: *mut c_void, len: &mut usize) -> c_int {
        call!(endpoint.cast::<fid>(), table!(endpoint, cm), getname(address, len))
    }

    /// `fi_av_insert` of one address: 1 when it was inserted.
    fn av_insert(av: *mut fid_av, address: *const c_void, name: &mut fi_addr_t) -> c_int {
        call!(av, table!(av, ops), insert(address, 1, name, 0, null_mut()))
    }

    /// `fi_mr_reg`.
    fn mr_reg(
        domain: *mut fid_domain,
        address: *const c_void,
        len: usize,
        access: u64,
        requested_key: u64,
        mr: &mut *mut fid_mr
    ) -> c_int {
        call!(
            domain.cast::<fid>(),
            table!(domain, mr),
            reg(address, len, access, 0, requested_key, 0, mr, null_mut())
        )
    }

    /// `fi_cq_read`.
    fn cq_read(queue: *mut fid_cq, entries: *mut fi_cq_msg_entry, count: usize) -> isize {
        call!(queue, table!(queue, ops), read(entries.cast(), count))
    }

    /// `fi_cq_readerr`.
    fn cq_readerr(queue: *mut fid_cq, entry: &mut fi_cq_err_entry) -> isize {
        call!(queue, table!(queue, ops), readerr(entry, 0))
    }

    /// `fi_cq_strerror`: null where the provider has nothing to say.
    fn cq_strerror(queue: *mut fid_cq, entry: &fi_cq_err_entry, text: *mut c_char, len: usize) -> *const c_char {
        // SAFETY: the contract of the module.
        unsafe {
            match (*(*queue).ops).strerror {
                Some(operation) => operation(queue, entry.prov_errno, entry.err_data, text, len),
                None => std::ptr::null(),
            }
        }
    }

    /// `fi_recv` from any source.
    fn recv(endpoint: *mut fid_ep, to: *mut c_void, len: usize, desc: *mut c_void, context: *mut c_void) -> isize {
        call!(endpoint, table!(endpoint, msg), recv(to, len, desc, fi_addr_t::MAX, context))
    }

    /// `fi_send`.
    fn send(
        endpoint: *mut fid_ep,
        from: *const c_void,
        len: usize,
        desc: *mut c_void,
        target: fi_addr_t,
        context: *mut c_void
    ) -> isize {
        call!(endpoint, table!(endpoint, msg), send(from, len, desc, target, context))
    }

    /// `fi_inject`.
    fn inject(endpoint: *mut fid_ep, from: *const c_void, len: usize, target: fi_addr_t) -> isize {
        call!(endpoint, table!(endpoint, msg), inject(from, len, target))
    }

    /// `fi_readmsg`.
    fn readmsg(endpoint: *mut fid_ep, message: &fi_msg_rma, flags: u64) -> isize {
        call!(endpoint, table!(endpoint, rma), readmsg(message, flags))
    }

    /// `fi_writemsg`.
    fn writemsg(endpoint: *mut fid_ep, message: &fi_msg_rma, flags: u64) -> isize {
        call!(endpoint, table!(endpoint, rma), writemsg(message, flags))
    }
}

/// `fi_mr_desc`.
///
/// # Safety
/// The contract of this module.
pub unsafe fn mr_desc(mr: *mut fid_mr) -> *mut c_void {
    table!(mr, mem_desc)
}

/// `fi_mr_key`.
///
/// # Safety
/// The contract of this module.
pub unsafe fn mr_key(mr: *mut fid_mr) -> u64 {
    table!(mr, key)
}
