#![expect(unsafe_code, reason = "registers memory with the network")]
//! Memory that the network may touch: registered with what the provider asks for, no more.

use super::Endpoint;
use crate::ofi::wire::Window;
use chare_ofi_sys::abi::{
    FI_ENOKEY, FI_MR_ENDPOINT, FI_MR_LOCAL, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_READ, FI_RECV,
    FI_REMOTE_READ, FI_REMOTE_WRITE, FI_SEND, FI_WRITE, fid_mr,
};
use chare_ofi_sys::calls;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// Random keys tried before registration is given up: two is unlikely, three is a provider's fault.
const KEYS_TRIED: usize = 8;

/// Who may do what with registered memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ofi) enum Access {
    /// Our own operations.
    Local,
    /// Peers read it.
    Readable,
    /// Peers read and write it.
    Writable,
}

impl Access {
    fn flags(self) -> u64 {
        u64::from(match self {
            Self::Local => FI_SEND | FI_RECV | FI_READ | FI_WRITE,
            Self::Readable => FI_REMOTE_READ,
            Self::Writable => FI_REMOTE_READ | FI_REMOTE_WRITE,
        })
    }
}

/// Registered memory. Must be given back to [`Endpoint::deregister`].
pub(in crate::ofi) struct Registration {
    mr: *mut fid_mr,
    pub(super) desc: *mut c_void,
    window: Window,
}

// SAFETY: names an object of the library, which any thread may use in its turn.
unsafe impl Send for Registration {}

impl Registration {
    /// Its first byte and its key, as peers name them.
    pub(in crate::ofi) fn window(&self) -> Window {
        self.window
    }
}

impl Endpoint {
    /// Whether own memory must be registered before it takes part in a one-sided operation.
    pub(in crate::ofi) fn registers_local(&self) -> bool {
        self.info.mr_mode() & FI_MR_LOCAL != 0
    }

    /// Registers memory. Touches the pages (and pins them, where the network asks for it).
    ///
    /// # Errors
    /// Why not, in words.
    pub(in crate::ofi) fn register(
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
            let wanted = if provider_chooses { 0 } else { rand::random::<u64>() & mask };
            // SAFETY: whoever registers keeps the memory until it deregisters; the library only notes the range.
            code =
                unsafe { calls::mr_reg(self.domain, address.cast(), len, access.flags(), wanted, &mut mr) };
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
        let (desc, key) = unsafe { (calls::mr_desc(mr), calls::mr_key(mr)) };
        let origin = if mode & FI_MR_VIRT_ADDR != 0 { address as u64 } else { 0 };
        Ok(Registration { mr, desc, window: Window { address: origin, key } })
    }

    /// Ends a registration: whoever still has its key reaches nothing any more.
    pub(in crate::ofi) fn deregister(&mut self, registration: &Registration) {
        // SAFETY: opened by `register`, given back once.
        unsafe { calls::close(registration.mr.cast()) };
    }
}
