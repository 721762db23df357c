//! Plans of jobs: a program, a number of nodes, and the hosts that the nodes are spread over.

use super::hosts::{Host, NODES_PER_HOST_MAX};
use super::message::Program;
use crate::job::patience::TimeoutError;
use crate::job::settings::WRONG_OPTION;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;
use thiserror::Error;

/// The most nodes of a job.
pub const NODES_MAX: u32 = 65_536;

/// The prefixes of the variables that nodes on other hosts get from the launcher's environment: the runtime's own, and those that decide
/// what a Rust program prints when it fails.
const PASSED_ON: [&str; 2] = ["CHARE_", "RUST_"];

/// A job to launch.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The number of nodes.
    pub nodes: u32,
    /// The hosts they are spread over in blocks, by their slots if any host has some; empty: this host alone, without a remote shell.
    pub hosts: Vec<Host>,
    /// The remote shell that runs a command on another host: these words, the host's name, and the command, as arguments.
    pub remote_shell: Vec<String>,
    /// The program.
    pub program: OsString,
    /// The name it is called by, then its arguments.
    pub argv: Vec<OsString>,
    /// Variables that its nodes get beyond the launcher's own.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether each line of output begins with its node, as in `[3] `.
    pub prefix: bool,
    /// How long nodes may wait for each other at start-up.
    pub patience: Duration,
    /// Whether every process is known to be a node, so that one which does not join is missing.
    pub must_join: bool,
}

/// A job that cannot be launched as asked. One line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Too few or too many nodes.
    #[error(
        "{0} nodes cannot be started; a job has 1 to {NODES_MAX} and a host at most {NODES_PER_HOST_MAX}"
    )]
    Nodes(u32),
    /// The time for start-up is no number of seconds.
    #[error(transparent)]
    Timeout(#[from] TimeoutError),
    /// The hosts have room for fewer.
    #[error(
        "{nodes} nodes do not fit into the {slots} slots of the hosts; give them more, or none, and the nodes are spread evenly"
    )]
    Slots {
        /// The nodes.
        nodes: u32,
        /// The slots.
        slots: u32,
    },
    /// The system grants too little.
    #[error("the launcher cannot start: {0}")]
    System(#[from] std::io::Error),
}

impl PlanError {
    /// The launcher's exit code.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::System(_) => 1,
            Self::Nodes(_) | Self::Timeout(_) | Self::Slots { .. } => WRONG_OPTION,
        }
    }
}

/// A host and its share of the job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Share {
    /// Its name if a remote shell leads there.
    pub(super) name: Option<String>,
    /// Its first node.
    pub(super) first: u32,
    /// How many nodes it runs; at least one.
    pub(super) count: u32,
}

impl Plan {
    /// Spreads the nodes in blocks over the hosts; a host without a node takes no part.
    pub(super) fn shares(&self) -> Result<Vec<Share>, PlanError> {
        let counts = if self.hosts.is_empty() { vec![self.nodes] } else { self.counts()? };
        let is_possible = |count: &u32| *count <= NODES_PER_HOST_MAX;
        if self.nodes == 0 || self.nodes > NODES_MAX || !counts.iter().all(is_possible) {
            return Err(PlanError::Nodes(self.nodes));
        }
        let names = self.hosts.iter().map(|host| Some(host.name.clone())).chain([None]);
        let mut first = 0;
        let shares = counts.into_iter().zip(names).map(|(count, name)| {
            first += count;
            Share { name, first: first - count, count }
        });
        Ok(shares.filter(|share| share.count > 0).collect())
    }

    /// How many nodes each host gets: as many as fit into its slots, before the next one gets any; or an even share where no host has
    /// slots. A host without slots among others with some has one.
    fn counts(&self) -> Result<Vec<u32>, PlanError> {
        if self.hosts.iter().all(|host| host.slots.is_none()) {
            let hosts = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
            let (each, more) = (self.nodes / hosts, self.nodes % hosts);
            return Ok((0..hosts).map(|host| each + u32::from(host < more)).collect());
        }
        let slots: Vec<u32> = self.hosts.iter().map(|host| host.slots.unwrap_or(1)).collect();
        let all = slots.iter().fold(0_u32, |all, slots| all.saturating_add(*slots));
        if all < self.nodes {
            return Err(PlanError::Slots { nodes: self.nodes, slots: all });
        }
        let mut left = self.nodes;
        let fill = |slots: u32| {
            let count = slots.min(left);
            left -= count;
            count
        };
        Ok(slots.into_iter().map(fill).collect())
    }

    /// The program that agents execute; agents behind a remote shell have neither the launcher's environment nor its directory.
    pub(super) fn program(&self, is_remote: bool) -> Result<Program, PlanError> {
        let mut environment: Vec<(OsString, OsString)> = Vec::new();
        let mut directory = None;
        if is_remote {
            let is_passed_on =
                |name: &OsString| PASSED_ON.iter().any(|start| name.to_string_lossy().starts_with(start));
            environment.extend(std::env::vars_os().filter(|(name, _)| is_passed_on(name)));
            directory = Some(std::env::current_dir()?.into_os_string().into_vec());
        }
        environment.extend(self.environment.iter().cloned());
        Ok(Program {
            file: self.program.clone().into_vec(),
            argv: self.argv.iter().cloned().map(OsString::into_vec).collect(),
            environment: environment
                .into_iter()
                .map(|(name, value)| (name.into_vec(), value.into_vec()))
                .collect(),
            directory,
            inherits_input: !is_remote,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(nodes: u32, hosts: &[&str]) -> Plan {
        Plan {
            nodes,
            hosts: hosts.iter().map(|host| host.parse().expect("a host")).collect(),
            remote_shell: vec!["ssh".into()],
            program: "true".into(),
            argv: vec!["true".into()],
            environment: Vec::new(),
            prefix: false,
            patience: Duration::from_secs(1),
            must_join: false,
        }
    }

    fn blocks(nodes: u32, hosts: &[&str]) -> Vec<(u32, u32)> {
        plan(nodes, hosts).shares().unwrap().iter().map(|share| (share.first, share.count)).collect()
    }

    #[test]
    fn nodes_are_spread_in_blocks() {
        assert_eq!(blocks(4, &[]), [(0, 4)]);
        assert_eq!(blocks(5, &["a", "b"]), [(0, 3), (3, 2)]);
        assert_eq!(blocks(1, &["a", "b"]), [(0, 1)]);
    }

    #[test]
    fn slots_are_filled_one_host_after_the_other() {
        assert_eq!(blocks(5, &["a:4", "b:4"]), [(0, 4), (4, 1)]);
        assert_eq!(blocks(4, &["a:4", "b:4"]), [(0, 4)]);
        assert_eq!(blocks(4, &["a", "b:2", "c"]), [(0, 1), (1, 2), (3, 1)]);
        let error = plan(5, &["a", "b:2", "c"]).shares().unwrap_err().to_string();
        assert!(error.starts_with("5 nodes do not fit into the 4 slots"), "{error}");
    }

    #[test]
    fn numbers_beyond_reason_are_refused() {
        assert!(plan(0, &[]).shares().is_err());
        assert!(plan(512, &[]).shares().is_ok());
        assert!(plan(513, &[]).shares().is_err());
        assert!(plan(513, &["a", "b"]).shares().is_ok());
    }
}
