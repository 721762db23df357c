//! Greeting of nodes: the first message between them, by which they find out whether they fit together and who shares a host with whom.

use super::build;
use super::company::{Company, NodeHost, pes_of_each};
use super::pes::Pes;
use super::program;
use crate::base::numbering::{JobNumbers, Numbers};
use crate::base::processors::Processors;
use crate::model::ids::NodeId;
use chare_lrts::bootstrap::{Bootstrap, hosts};
use chare_lrts::{LrtsError, codec};
use serde::{Deserialize, Serialize};

/// What each node tells all others: its PEs, the program and its build, which must be equal, and where it runs: twice, because who shares
/// processors need not share memory.
#[derive(Serialize, Deserialize)]
struct Greeting {
    pes: Pes,
    digest: u128,
    build: Option<u128>,
    /// The kernel that runs the node, whose processors and memory its nodes share out. Nothing else goes by it.
    kernel: String,
    /// The lowest node that the node met on its host.
    lowest: NodeId,
    processors: Processors,
    /// The numbers that no job of the process has given.
    numbers: Numbers,
}

/// What all nodes of the job agree on, and this one's company.
pub(super) struct Agreement {
    /// PEs of each node.
    pub(super) pes: u32,
    /// By node: the lowest node of its host.
    pub(super) lowest: Vec<NodeId>,
    pub(super) company: Company,
}

/// Exchanges greetings with all nodes and compares them; the job's `numbers` begin behind those of all nodes' processes. With `nolocal` a
/// node has met nobody on its host. Collective.
///
/// # Errors
/// A node that was started unlike this one, or does not come.
pub(super) fn greet(
    pes: Pes,
    nolocal: bool,
    numbers: &JobNumbers,
    bootstrap: &mut dyn Bootstrap,
) -> Result<Agreement, LrtsError> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let failed = |cause: String| LrtsError::Bootstrap(cause);
    let others_may_join = build::others_may_join().map_err(failed)?;
    let own = bootstrap.node();
    let met = if nolocal { Vec::new() } else { bootstrap.neighbours() };
    let mine = Greeting {
        pes,
        digest: program::digest(),
        build: build::of_this_process(),
        kernel,
        lowest: hosts::lowest(own, &met),
        processors: Processors::of_this_thread(),
        numbers: numbers.proposed(),
    };
    let mut bytes = Vec::new();
    codec::encode_into(&mine, &mut bytes).map_err(|error| failed(error.to_string()))?;
    let mut first_numbers = mine.numbers;
    let (mut places, mut lowest) = (Vec::new(), Vec::new());
    for (node, bytes) in (0..).map(NodeId).zip(bootstrap.all_gather(bytes)?) {
        let theirs: Greeting = codec::decode(&bytes)
            .map_err(|error| failed(format!("{node} runs another program or version: {error}")))?;
        if theirs.digest != mine.digest {
            return Err(failed(format!(
                "{node} has other chare types or entry methods than {own}; run the same build everywhere"
            )));
        }
        let is_other = |(theirs, mine)| theirs != mine;
        if !others_may_join && theirs.build.zip(mine.build).is_some_and(is_other) {
            return Err(failed(format!(
                "{node} runs another build of the program than {own}; run the same build everywhere, or set \
                 {VARIABLE}=1 for all nodes if messages of both builds are laid out alike",
                VARIABLE = build::VARIABLE
            )));
        }
        if theirs.pes != mine.pes {
            return Err(failed(format!(
                "{node} was started with `+p {}`, {own} with `+p {}`; give all nodes the same `+p`",
                theirs.pes, mine.pes
            )));
        }
        first_numbers = first_numbers.or(theirs.numbers);
        lowest.push(theirs.lowest);
        places.push(NodeHost { host: theirs.kernel, processors: theirs.processors });
    }
    numbers.agree(first_numbers);
    hosts::agree(own, &met, &lowest)?;
    let pes = match pes {
        Pes::Number(pes) => pes,
        Pes::Auto => pes_of_each(&places),
    };
    Ok(Agreement { pes, lowest, company: Company::of(own.index(), &places, pes) })
}
