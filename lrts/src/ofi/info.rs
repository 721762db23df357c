//! Offers of libfabric on this host: one [`Info`] per provider, domain and address.

#![expect(unsafe_code, reason = "reads and fills the structures in which libfabric describes providers")]

use chare_ofi_sys::Library;
use chare_ofi_sys::abi::{
    FI_CONTEXT, FI_CONTEXT2, FI_DELIVERY_COMPLETE, FI_EP_MSG, FI_EP_RDM, FI_MR_ALLOCATED, FI_MR_ENDPOINT,
    FI_MR_LOCAL, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_MSG, FI_ORDER_SAS, FI_RMA, FI_SOCKADDR_IN,
    FI_SOCKADDR_IN6, FI_THREAD_DOMAIN, fi_info,
};
use std::ffi::{CStr, CString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr::NonNull;

/// The interface that is spoken here; later libraries keep it.
const VERSION: u32 = 1 << 16 | 17;

/// Demands of a provider on registrations that this backend meets.
pub(super) const HONOURED: u32 =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

/// Demands on a provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Demands {
    /// All that this backend can use: reliable datagrams in order, one-sided access, delivery proved.
    Full,
    /// As `Full`, without the proof of delivery that a put needs.
    NoDelivery,
    /// Anything at all.
    None,
}

/// One offer. Owns what libfabric wrote.
pub(super) struct Info {
    library: &'static Library,
    info: NonNull<fi_info>,
    /// Whether a write can complete once its bytes are in the target's memory.
    pub(super) delivers: bool,
}

// SAFETY: an owned structure that nobody else knows; the library's functions on it may be called on any thread.
unsafe impl Send for Info {}

/// All offers that meet the demands, in libfabric's order: the best first.
pub(super) fn query(library: &'static Library, provider: Option<&str>, demands: Demands) -> Vec<Info> {
    // SAFETY: null asks for an empty structure.
    let Some(hints) = NonNull::new(unsafe { library.dupinfo(std::ptr::null()) }) else { return Vec::new() };
    let hints = Info { library, info: hints, delivers: false };
    // SAFETY: the library allocated the structure and all that it points to, and nobody else knows it. The
    // name is allocated as the library will free it.
    unsafe {
        let info = hints.info.as_ptr();
        if let Some(name) = provider.and_then(|name| CString::new(name).ok()) {
            (*(*info).fabric_attr).prov_name = libc::strdup(name.as_ptr());
        }
        let domain = &mut *(*info).domain_attr;
        (*info).mode = FI_CONTEXT | FI_CONTEXT2;
        domain.mr_mode = HONOURED as i32;
        if demands != Demands::None {
            (*info).caps = u64::from(FI_MSG | FI_RMA);
            (*(*info).ep_attr).type_ = FI_EP_RDM;
            domain.threading = FI_THREAD_DOMAIN;
            (*(*info).tx_attr).msg_order = u64::from(FI_ORDER_SAS);
            (*(*info).rx_attr).msg_order = u64::from(FI_ORDER_SAS);
        }
        if demands == Demands::Full {
            (*(*info).tx_attr).op_flags = u64::from(FI_DELIVERY_COMPLETE);
        }
    }
    let mut list = std::ptr::null_mut();
    // SAFETY: the hints are a structure of this library.
    let code = unsafe { library.getinfo(VERSION, std::ptr::null(), 0, hints.info.as_ptr(), &mut list) };
    let mut found = Vec::new();
    let mut next = if code == 0 { list } else { std::ptr::null_mut() };
    while !next.is_null() {
        // SAFETY: an element of the library's list, copied whole.
        let copy = unsafe { library.dupinfo(next) };
        found.extend(NonNull::new(copy).map(|info| Info {
            library,
            info,
            delivers: demands == Demands::Full,
        }));
        // SAFETY: as above.
        next = unsafe { (*next).next };
    }
    if !list.is_null() {
        // SAFETY: the list came from `getinfo` and is not used again.
        unsafe { library.freeinfo(list) };
    }
    found
}

impl Info {
    fn raw(&self) -> &fi_info {
        // SAFETY: owned, and filled by the library.
        unsafe { self.info.as_ref() }
    }

    /// For functions that open something by it.
    pub(super) fn as_ptr(&self) -> *mut fi_info {
        self.info.as_ptr()
    }

    /// Takes back the flags that every operation would have by default; each says its own.
    pub(super) fn clear_operation_flags(&mut self) {
        // SAFETY: owned; the library allocates the attributes together with the structure.
        unsafe { (*self.raw().tx_attr).op_flags = 0 };
    }

    /// The provider's name, such as `tcp;ofi_rxm`.
    pub(super) fn provider(&self) -> String {
        // SAFETY: owned; a name is terminated.
        unsafe {
            let name = (*self.raw().fabric_attr).prov_name;
            if name.is_null() { String::new() } else { CStr::from_ptr(name).to_string_lossy().into_owned() }
        }
    }

    /// The memory registration mode bits that it demands.
    pub(super) fn mr_mode(&self) -> u32 {
        // SAFETY: owned; the library allocates the attributes together with the structure.
        unsafe { (*self.raw().domain_attr).mr_mode as u32 }
    }

    /// Bytes of a memory key.
    pub(super) fn key_bytes(&self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.raw().domain_attr).mr_key_size }
    }

    /// The longest message or one-sided operation.
    pub(super) fn message_bytes_max(&self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.raw().ep_attr).max_msg_size }
    }

    /// The longest message that is copied out before the call returns.
    pub(super) fn inject_bytes_max(&self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.raw().tx_attr).inject_size }
    }

    /// The mode bits: what every operation must bring along.
    pub(super) fn mode(&self) -> u64 {
        self.raw().mode
    }

    /// Its kind of endpoint, in words.
    pub(super) fn endpoint_kind(&self) -> &'static str {
        // SAFETY: as above.
        match unsafe { (*self.raw().ep_attr).type_ } {
            FI_EP_RDM => "reliable datagrams",
            FI_EP_MSG => "connections",
            _ => "unreliable datagrams",
        }
    }

    /// The IP address that it sends from, if it has one.
    pub(super) fn source(&self) -> Option<IpAddr> {
        let raw = self.raw();
        if raw.src_addr.is_null() {
            return None;
        }
        // SAFETY: `src_addrlen` bytes, allocated by the library.
        let bytes = unsafe { std::slice::from_raw_parts(raw.src_addr.cast::<u8>(), raw.src_addrlen) };
        match raw.addr_format {
            FI_SOCKADDR_IN => {
                let address: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
                Some(IpAddr::V4(Ipv4Addr::from(address)))
            }
            FI_SOCKADDR_IN6 => {
                let address: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
                Some(IpAddr::V6(Ipv6Addr::from(address)))
            }
            _ => None,
        }
    }
}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: owned, and never used again.
        unsafe { self.library.freeinfo(self.info.as_ptr()) };
    }
}
