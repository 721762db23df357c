//! Memory registration: what the provider asks for, no more.

#![expect(unsafe_code, reason = "registers memory with the network")]

use super::Endpoint;
use crate::ambient::dice;
use crate::leased::endpoint::{Access, Registration};
use crate::leased::wire::Window;
use chare_ofi_sys::abi::{
    FI_ENOKEY, FI_MR_ENDPOINT, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_READ, FI_RECV, FI_REMOTE_READ,
    FI_REMOTE_WRITE, FI_SEND, FI_WRITE, fid_mr,
};
use chare_ofi_sys::calls;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// Random keys tried before registration is given up: two is unlikely, three is a provider's fault.
const KEYS_TRIED: usize = 8;

fn flags(access: Access) -> u64 {
    u64::from(match access {
        Access::Sent => FI_SEND | FI_WRITE,
        Access::Filled => FI_RECV | FI_READ,
        Access::Readable => FI_REMOTE_READ,
        Access::Writable => FI_REMOTE_READ | FI_REMOTE_WRITE,
    })
}

impl Endpoint {
    /// See the contract.
    pub(super) fn register_memory(
        &mut self,
        address: *const u8,
        len: usize,
        access: Access,
    ) -> Result<Registration, String> {
        let mode = self.info.mr_mode();
        let provider_chooses = mode & FI_MR_PROV_KEY != 0;
        let mask = u64::MAX >> (64 - 8 * self.info.key_bytes().clamp(1, 8));
        let mut mr = null_mut();
        let mut code = -(FI_ENOKEY as c_int);
        for _ in 0..KEYS_TRIED {
            let wanted = if provider_chooses { 0 } else { dice::draw() & mask };
            // SAFETY: the caller keeps the memory until it deregisters; the library only notes the range.
            code = unsafe { calls::mr_reg(self.domain, address.cast(), len, flags(access), wanted, &mut mr) };
            if code != -(FI_ENOKEY as c_int) || provider_chooses {
                break;
            }
        }
        if code == 0 && mode & FI_MR_ENDPOINT != 0 {
            // SAFETY: both are open.
            code = unsafe {
                match calls::bind(mr.cast(), self.endpoint.cast(), 0) {
                    0 => calls::enable(mr.cast()),
                    code => code,
                }
            };
            if code != 0 {
                // SAFETY: it was opened just now and is not used.
                unsafe { calls::close(mr.cast()) };
            }
        }
        if code != 0 {
            return Err(format!("registering {len} bytes: {}", self.library.error_text(-code)));
        }
        // SAFETY: it is open.
        let key = unsafe { calls::mr_key(mr) };
        let origin = if mode & FI_MR_VIRT_ADDR != 0 { address as u64 } else { 0 };
        Ok(Registration { object: mr.cast(), window: Window { address: origin, key } })
    }

    /// How own operations name registered memory.
    pub(super) fn desc(registration: &Registration) -> *mut c_void {
        // SAFETY: made by `register_memory`, and not yet given back.
        unsafe { calls::mr_desc(registration.object.cast::<fid_mr>()) }
    }

    /// See the contract.
    pub(super) fn deregister_memory(registration: &Registration) {
        // SAFETY: made by `register_memory`, given back once.
        unsafe { calls::close(registration.object.cast()) };
    }
}
