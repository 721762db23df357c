//! Backend names: the only list of what users may type after `+lrts`, and what each name means.

use crate::error::LrtsError;

/// Which backends may carry messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Messages {
    /// Shared memory between neighbours, TCP otherwise.
    Nearest,
    /// Shared memory; nodes of other hosts are out of reach.
    Shm,
    /// TCP, also between neighbours.
    #[cfg(feature = "net")]
    Tcp,
    /// A network with ways of its own to reach memory, also between neighbours.
    #[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
    Network(Network),
    /// None: a job of one node.
    None,
}

/// A network that reaches memory by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Network {
    /// libfabric.
    Ofi,
    /// InfiniBand verbs.
    Verbs,
    /// MPI.
    #[cfg(feature = "mpi")]
    Mpi,
}

impl Network {
    /// The backend's and the feature's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ofi => "ofi",
            Self::Verbs => "verbs",
            #[cfg(feature = "mpi")]
            Self::Mpi => "mpi",
        }
    }
}

/// Whether memory may be copied by the kernel from process to process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KernelCopy {
    /// Where the kernel allows it.
    Allowed,
    /// Between all nodes, or the job does not start.
    Required,
    /// Never.
    Forbidden,
}

/// One name and its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backend {
    /// The name that users type.
    pub name: &'static str,
    /// One line for the help table.
    pub summary: &'static str,
    pub(crate) messages: Messages,
    /// Whether neighbours map each other's shareable memory.
    pub(crate) mapping: bool,
    pub(crate) kernel_copy: KernelCopy,
}

/// The choice without `+lrts`.
pub(crate) const NEAREST: Backend = Backend {
    name: "",
    summary: "the nearest path to each node",
    messages: Messages::Nearest,
    mapping: true,
    kernel_copy: KernelCopy::Allowed,
};

/// Every backend of this build.
pub const BACKENDS: &[Backend] = &[
    Backend {
        name: "memcpy",
        summary: "one process: copies within it",
        messages: Messages::None,
        mapping: false,
        kernel_copy: KernelCopy::Forbidden,
    },
    Backend {
        name: "shm",
        summary: "one host: messages and shareable memory through mappings, other memory by CMA",
        messages: Messages::Shm,
        mapping: true,
        kernel_copy: KernelCopy::Allowed,
    },
    Backend {
        name: "cma",
        summary: "one host: messages through mappings, all memory copied by the kernel",
        messages: Messages::Shm,
        mapping: false,
        kernel_copy: KernelCopy::Required,
    },
    #[cfg(feature = "net")]
    Backend {
        name: "tcp",
        summary: "any hosts: messages over TCP; memory of this host by CMA unless `+nocma`",
        messages: Messages::Tcp,
        mapping: false,
        kernel_copy: KernelCopy::Allowed,
    },
    #[cfg(feature = "ofi")]
    Backend {
        name: "ofi",
        summary: "any hosts: messages and memory by libfabric; `+ofi` names its provider",
        messages: Messages::Network(Network::Ofi),
        mapping: false,
        kernel_copy: KernelCopy::Forbidden,
    },
    #[cfg(feature = "verbs")]
    Backend {
        name: "verbs",
        summary: "any hosts: messages and memory by RDMA devices; `+verbs` names them",
        messages: Messages::Network(Network::Verbs),
        mapping: false,
        kernel_copy: KernelCopy::Forbidden,
    },
    #[cfg(feature = "mpi")]
    Backend {
        name: "mpi",
        summary: "any hosts: messages and memory by MPI, under its launcher; `+mpi` names its library",
        messages: Messages::Network(Network::Mpi),
        mapping: false,
        kernel_copy: KernelCopy::Forbidden,
    },
    Backend {
        name: "emulated",
        summary: "any hosts: messages by the nearest path, memory carried by messages",
        messages: Messages::Nearest,
        mapping: false,
        kernel_copy: KernelCopy::Forbidden,
    },
];

/// A name that only some builds know: a backend's, and the feature that brings it.
struct Optional {
    name: &'static str,
    feature: &'static str,
    /// Whether this build has it.
    is_built: bool,
}

/// The backends that are features of the build.
const OPTIONAL: [Optional; 4] = [
    Optional { name: "tcp", feature: "net", is_built: cfg!(feature = "net") },
    Optional { name: "ofi", feature: "ofi", is_built: cfg!(feature = "ofi") },
    Optional { name: "verbs", feature: "verbs", is_built: cfg!(feature = "verbs") },
    Optional { name: "mpi", feature: "mpi", is_built: cfg!(feature = "mpi") },
];

/// Finds the backend that a name means.
///
/// # Errors
/// [`LrtsError::MissingFeature`] for a name of another build, [`LrtsError::UnknownBackend`], which lists the names, for any other.
pub fn find(name: &str) -> Result<Backend, LrtsError> {
    require(name, || format!("+lrts {name}"))?;
    let found = BACKENDS.iter().find(|backend| backend.name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = BACKENDS.iter().map(|backend| backend.name).collect();
        LrtsError::UnknownBackend { name: name.to_owned(), known: names.join(", ") }
    })
}

/// Checks that this build has the backend that an option asks for; names that each build knows pass, and unknown ones.
///
/// # Errors
/// [`LrtsError::MissingFeature`].
pub fn require(name: &str, option: impl FnOnce() -> String) -> Result<(), LrtsError> {
    require_among(&OPTIONAL, name, option)
}

fn require_among(
    optional: &[Optional],
    name: &str,
    option: impl FnOnce() -> String,
) -> Result<(), LrtsError> {
    match optional.iter().find(|one| one.name == name && !one.is_built) {
        Some(&Optional { feature, .. }) => Err(LrtsError::MissingFeature { option: option(), feature }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_lists_all_names() {
        let names: Vec<&str> = BACKENDS.iter().map(|backend| backend.name).collect();
        assert!(names.iter().all(|name| find(name).is_ok()));
        let Err(LrtsError::UnknownBackend { known, .. }) = find("ucx") else { panic!("there is no ucx") };
        assert_eq!(known, names.join(", "));
        assert!(find("").is_err());
    }

    #[test]
    fn what_another_build_has_is_named_with_its_feature() {
        let of_build = [("ofi", true), ("verbs", false)].map(|(name, is_built)| Optional {
            name,
            feature: name,
            is_built,
        });
        assert!(require_among(&of_build, "ofi", || unreachable!("it is there")).is_ok());
        assert!(require_among(&of_build, "shm", || unreachable!("each build has it")).is_ok());
        let error = require_among(&of_build, "verbs", || "+lrts verbs".to_owned()).unwrap_err().to_string();
        assert!(error.starts_with("`+lrts verbs`: built without the feature `verbs`"), "{error}");
        assert!(
            error.ends_with("`--features chare/verbs`"),
            "a program of one's own has no feature `verbs`: {error}"
        );
        for Optional { name, is_built, .. } in OPTIONAL {
            let is_missing = matches!(find(name), Err(LrtsError::MissingFeature { .. }));
            assert_ne!(is_built, is_missing, "{name}");
        }
    }
}
