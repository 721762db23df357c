//! Example programs of `chare`; each answers one question and checks its own answer.
//!
//! | program | question |
//! |---|---|
//! | `hello` | How does a program of chares look? |
//! | `ring` | How does an array of chares pass messages around? |
//! | `fib` | How are chares created on the fly, and how do they answer? |
//! | `queens` | How does a tree search go deep before it goes wide? |
//! | `primes` | How does a program ask many questions and take the answers as they come? |
//! | `kneighbor` | How does a chare talk to several others at once and wait for all of them? |
//! | `alltoall` | How fast do small messages stream when everyone sends to everyone? |
//! | `sssp` | How does a program send a tiny message along every edge of a graph? |
//! | `uts` | How does a program balance work that nobody can foresee? |
//! | `kmeans` | How do all PEs agree on something, again and again? |
//! | `life` | How does an array hold something that has no bounds? |
//! | `wave2d` | How does a simulation show what it does? |
//! | `leanmd` | How does a program split work among more objects than it has data? |
//! | `jacobi2d` | How does a stencil code exchange halos without copying them twice, and how does it read as a loop? |
//! | `fft2d` | How is a matrix transposed while it travels? |
//! | `matmul` | How are matrices dealt out, shared along rows and columns, and put together again? |
//! | `ddtbench` | How long does what real applications select of their arrays take, in place and packed by hand? |
//! | `collectives` | How do all elements of an array meet, and some of them? |
//! | `stencil2d` | How does a stencil code whose fields lie on devices exchange halos, and sweep them there? |
//! | `service` | How does a program of chares serve others, by HTTP and beside tokio? |
//! | `pingpong` | How long does a buffer take from one PE to another, by every way there is? |
//!
//! Ports of Charm++'s zero-copy examples stand in `zerocopy/`, under their names there:
//!
//! | program | question |
//! |---|---|
//! | `simple_get`, `simple_put` | How does one chare read or write another's memory? |
//! | `get_put_pingpong` | How do buffers go to another chare and come back, one-sided both ways? |
//! | `zcpy_immediate` | Who may be told that a transfer is over? |
//! | `simple_vec` | How are vectors sent without a copy, and how do they come back? |
//! | `simple_bcast`, `simple_bcast_post` | How does one buffer reach a whole collection, or land in its buffers? |
//! | `simple_zero_copy` | How do ordinary and nocopy arguments live together in one call? |
//! | `multiple_posted_buffers` | How does a chare receive many buffers at once without mixing them up? |
//! | `nodegroup_test` | How do members of a nodegroup receive into their own buffers? |
//! | `stencil3d` | How does a stencil code in three dimensions send its faces without copying them, and in three other modes? |
//! | `large_readonly` | How do large values that never change reach every process? |
//!
//! Run one with `cargo run --release --example hello -- +n 2 +p 3`: two processes with three PEs each. All run
//! without arguments, too; `--help` lists a program's own options and `+help` those of the runtime. A program exits with 0 only if its
//! check passes; where a check takes long beside the answer, it is made if `--verify` asks for it.

pub mod ddtbench;
pub mod pair;
pub mod ports;
pub mod start;
pub mod stencil;
