//! The peer: two processes that use libfabric and nothing else.
//!
//! The second process is started by the first; they tell each other their names over its standard input and output.

#![expect(unsafe_code, reason = "calls libfabric as a C program would")]

use chare_benches::leased::Task;
use chare_benches::{processor, take_seat};
use chare_ofi_sys::abi::{
    FI_AV_UNSPEC, FI_COMPLETION, FI_CONTEXT, FI_CONTEXT2, FI_CQ_COND_NONE, FI_CQ_FORMAT_MSG,
    FI_DELIVERY_COMPLETE, FI_EAGAIN, FI_EP_RDM, FI_MR_ALLOCATED, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_MSG,
    FI_ORDER_SAS, FI_RECV, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_RMA, FI_THREAD_DOMAIN, FI_TRANSMIT,
    FI_WAIT_FD, FI_WAIT_NONE, fi_addr_t, fi_av_attr, fi_context2, fi_cq_attr, fi_cq_msg_entry, fi_info,
    fi_msg_rma, fi_rma_iov, fid_av, fid_cq, fid_domain, fid_ep, fid_fabric, fid_mr, iovec,
};
use chare_ofi_sys::{Library, calls};
use std::ffi::{CStr, CString, c_int, c_void};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::ptr::{null, null_mut};
use std::time::Instant;

const VERSION: u32 = 1 << 16 | 17;
const NAME_BYTES_MAX: usize = 512;

/// An endpoint, its queue, its peer. Never closed: the process ends with it.
struct Raw {
    library: &'static Library,
    info: *mut fi_info,
    domain: *mut fid_domain,
    av: *mut fid_av,
    cq: *mut fid_cq,
    endpoint: *mut fid_ep,
    peer: fi_addr_t,
    contexts: Vec<[u64; size_of::<fi_context2>() / 8]>,
}

fn failed(library: &Library, what: &str, code: isize) -> io::Error {
    io::Error::other(format!("{what}: {}", library.error_text(-code as c_int)))
}

/// Whether there is such a provider.
pub(crate) fn probe(provider: &str) -> io::Result<()> {
    let library = Library::load().map_err(io::Error::other)?;
    let info = find(library, provider)?;
    // SAFETY: it came from this library.
    unsafe { library.freeinfo(info) };
    Ok(())
}

/// The provider's offer on loopback, if it has one there, else its first.
fn find(library: &'static Library, provider: &str) -> io::Result<*mut fi_info> {
    let name = CString::new(provider)?;
    let mut list = null_mut();
    // SAFETY: the hints are the library's own structure, filled as `fi_getinfo(3)` asks; the name is taken out again
    // before they are given back.
    unsafe {
        let hints = library.dupinfo(null());
        (*(*hints).fabric_attr).prov_name = name.as_ptr().cast_mut();
        (*(*hints).ep_attr).type_ = FI_EP_RDM;
        (*hints).caps = u64::from(FI_MSG | FI_RMA);
        (*hints).mode = FI_CONTEXT | FI_CONTEXT2;
        (*(*hints).domain_attr).mr_mode = (FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY) as c_int;
        (*(*hints).domain_attr).threading = FI_THREAD_DOMAIN;
        (*(*hints).tx_attr).msg_order = u64::from(FI_ORDER_SAS);
        (*(*hints).rx_attr).msg_order = u64::from(FI_ORDER_SAS);
        (*(*hints).tx_attr).op_flags = u64::from(FI_DELIVERY_COMPLETE);
        let code = library.getinfo(VERSION, null(), 0, hints, &mut list);
        (*(*hints).fabric_attr).prov_name = null_mut();
        library.freeinfo(hints);
        if code != 0 {
            return Err(failed(library, "no offer", code as isize));
        }
        let mut one = list;
        while !one.is_null() {
            let source = std::slice::from_raw_parts((*one).src_addr.cast::<u8>(), (*one).src_addrlen);
            let name = CStr::from_ptr((*(*one).fabric_attr).prov_name).to_string_lossy();
            if name == provider && source.get(4..8) == Some(&[127, 0, 0, 1]) {
                break;
            }
            one = (*one).next;
        }
        let found = library.dupinfo(if one.is_null() { list } else { one });
        library.freeinfo(list);
        (*(*found).tx_attr).op_flags = 0;
        Ok(found)
    }
}

impl Raw {
    /// With a descriptor to sleep on, as a program has it that does not always spin; or without.
    fn open(provider: &str, spins: bool) -> io::Result<Self> {
        let library = Library::load().map_err(io::Error::other)?;
        let info = find(library, provider)?;
        let check =
            |what, code: c_int| if code < 0 { Err(failed(library, what, code as isize)) } else { Ok(()) };
        let (mut fabric, mut domain): (*mut fid_fabric, *mut fid_domain) = (null_mut(), null_mut());
        let (mut av, mut cq, mut endpoint) = (null_mut(), null_mut(), null_mut());
        let mut table = fi_av_attr {
            type_: FI_AV_UNSPEC,
            rx_ctx_bits: 0,
            count: 0,
            ep_per_node: 0,
            name: null(),
            map_addr: null_mut(),
            flags: 0,
        };
        let mut queue = fi_cq_attr {
            size: 64,
            flags: 0,
            format: FI_CQ_FORMAT_MSG,
            wait_obj: if spins { FI_WAIT_NONE } else { FI_WAIT_FD },
            signaling_vector: 0,
            wait_cond: FI_CQ_COND_NONE,
            wait_set: null_mut(),
        };
        // SAFETY: each object is made from open ones and never closed.
        unsafe {
            check("fabric", library.fabric((*info).fabric_attr, &mut fabric))?;
            check("domain", calls::domain(fabric, info, &mut domain))?;
            check("address table", calls::av_open(domain, &mut table, &mut av))?;
            if calls::cq_open(domain, &mut queue, &mut cq) != 0 {
                // Some providers have none.
                queue.wait_obj = FI_WAIT_NONE;
                check("queue", calls::cq_open(domain, &mut queue, &mut cq))?;
            }
            check("endpoint", calls::endpoint(domain, info, &mut endpoint))?;
            check("binding", calls::bind(endpoint.cast(), av.cast(), 0))?;
            check("binding", calls::bind(endpoint.cast(), cq.cast(), u64::from(FI_TRANSMIT | FI_RECV)))?;
            check("enabling", calls::enable(endpoint.cast()))?;
        }
        let contexts = vec![[0; _]; 2];
        Ok(Self { library, info, domain, av, cq, endpoint, peer: 0, contexts })
    }

    fn name(&self) -> String {
        let mut name = [0_u8; NAME_BYTES_MAX];
        let mut len = name.len();
        // SAFETY: `len` bytes are there.
        unsafe { calls::getname(self.endpoint, name.as_mut_ptr().cast(), &mut len) };
        name[..len].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn meet(&mut self, name: &str) -> io::Result<()> {
        let mut bytes: Vec<u8> = (0..name.len() / 2)
            .map(|index| u8::from_str_radix(&name[2 * index..2 * index + 2], 16).map_err(io::Error::other))
            .collect::<Result<_, _>>()?;
        bytes.resize(NAME_BYTES_MAX, 0);
        // SAFETY: the name is longer than any address.
        match unsafe { calls::av_insert(self.av, bytes.as_ptr().cast(), &mut self.peer) } {
            1 => Ok(()),
            code => Err(failed(self.library, "inserting the peer", code as isize)),
        }
    }

    fn context(&mut self, index: usize) -> *mut c_void {
        self.contexts[index].as_mut_ptr().cast()
    }

    /// Calls `post` until there is room, making progress.
    fn insist(&mut self, mut post: impl FnMut(&mut Self) -> isize) -> io::Result<()> {
        loop {
            match post(self) {
                0 => return Ok(()),
                code if code == -(FI_EAGAIN as isize) => {
                    // SAFETY: asks for no entry.
                    unsafe { calls::cq_read(self.cq, null_mut(), 0) };
                }
                code => return Err(failed(self.library, "posting", code)),
            }
        }
    }

    fn listen(&mut self, buffer: &mut [u8; 64]) -> io::Result<()> {
        let (to, len) = (buffer.as_mut_ptr(), buffer.len());
        // SAFETY: the caller reads the buffer only after the completion.
        self.insist(|raw| unsafe { calls::recv(raw.endpoint, to.cast(), len, null_mut(), raw.context(0)) })
    }

    fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: the bytes are copied out.
        self.insist(|raw| unsafe {
            calls::inject(raw.endpoint, bytes.as_ptr().cast(), bytes.len(), raw.peer)
        })
    }

    /// Waits for one completion; how many bytes came.
    fn wait(&mut self) -> io::Result<usize> {
        let mut entry = fi_cq_msg_entry { op_context: null_mut(), flags: 0, len: 0 };
        loop {
            // SAFETY: there is room for one entry.
            match unsafe { calls::cq_read(self.cq, &raw mut entry, 1) } {
                1 => return Ok(entry.len),
                0 => {}
                code if code == -(FI_EAGAIN as isize) => {}
                code => return Err(failed(self.library, "completion", code)),
            }
        }
    }

    fn transfer(&mut self, local: &mut [u8], window: (u64, u64), writes: bool) -> io::Result<()> {
        let from = iovec { iov_base: local.as_mut_ptr().cast(), iov_len: local.len() };
        let remote = fi_rma_iov { addr: window.0, len: local.len(), key: window.1 };
        self.insist(|raw| {
            let mut desc = null_mut();
            let message = fi_msg_rma {
                msg_iov: &raw const from,
                desc: &raw mut desc,
                iov_count: 1,
                addr: raw.peer,
                rma_iov: &raw const remote,
                rma_iov_count: 1,
                context: raw.context(1),
                data: 0,
            };
            // SAFETY: the memory stays borrowed until the completion, for which this function waits.
            unsafe {
                match writes {
                    true => calls::writemsg(
                        raw.endpoint,
                        &message,
                        u64::from(FI_COMPLETION | FI_DELIVERY_COMPLETE),
                    ),
                    false => calls::readmsg(raw.endpoint, &message, u64::from(FI_COMPLETION)),
                }
            }
        })?;
        self.wait().map(|_| ())
    }
}

/// The process that measures. A spinner does without a descriptor to sleep on.
pub(crate) fn play(task: Task<'_>, spins: bool) -> io::Result<()> {
    let mut raw = Raw::open(task.network, spins)?;
    let operations = task.batches.operations.to_string();
    let who = if spins { "serve-spinning" } else { "serve" };
    let mut child = Command::new(std::env::current_exe()?)
        .args(["side", who, &operations, task.network, task.what, &task.bytes.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // Only now: the other process would inherit the seat.
    take_seat(processor(0));
    let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the other process has no pipes"));
    };
    let mut line = String::new();
    BufReader::new(from).read_line(&mut line)?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, address, key] = words[..] else { return Err(io::Error::other("the other process failed")) };
    let window = (address.parse().map_err(io::Error::other)?, key.parse().map_err(io::Error::other)?);
    raw.meet(name)?;
    writeln!(to, "{}", raw.name())?;
    let mut result = Ok(());
    let mut buffer = [0; 64];
    // Not zero: untouched memory would be one page of zeroes, read from the nearest cache.
    let mut local = vec![7; task.bytes];
    task.batches.run(|operations| {
        let began = Instant::now();
        result = match task.what {
            "message" => (0..operations / 2).try_for_each(|_| {
                raw.listen(&mut buffer)?;
                raw.say(&[7; 8])?;
                raw.wait().map(|_| ())
            }),
            what => (0..operations).try_for_each(|_| raw.transfer(&mut local, window, what == "put")),
        };
        began.elapsed()
    });
    raw.say(&[7])?;
    child.wait()?;
    result
}

/// The other process: sends back what comes, until a single byte does.
pub(crate) fn serve(task: Task<'_>, spins: bool) -> io::Result<()> {
    take_seat(processor(1));
    let mut raw = Raw::open(task.network, spins)?;
    let mut memory = vec![7_u8; task.bytes];
    let mut mr: *mut fid_mr = null_mut();
    let access = u64::from(FI_REMOTE_READ | FI_REMOTE_WRITE);
    // SAFETY: the memory lives as long as the process, and nobody else touches it.
    let (code, mode) = unsafe {
        let code = calls::mr_reg(raw.domain, memory.as_mut_ptr().cast(), memory.len(), access, 77, &mut mr);
        (code, (*(*raw.info).domain_attr).mr_mode as u32)
    };
    if code != 0 {
        return Err(failed(raw.library, "registering", code as isize));
    }
    let address = if mode & FI_MR_VIRT_ADDR != 0 { memory.as_ptr() as u64 } else { 0 };
    // SAFETY: it is open.
    println!("{} {address} {}", raw.name(), unsafe { calls::mr_key(mr) });
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    raw.meet(line.trim())?;
    let mut buffer = [0; 64];
    loop {
        raw.listen(&mut buffer)?;
        if raw.wait()? == 1 {
            return Ok(());
        }
        raw.say(&[7; 8])?;
    }
}
