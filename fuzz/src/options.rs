//! Command line and environment: understood, or refused in one line.

use chare::config::Parsed;
use chare::{Config, CpuList, Pes};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Lines; those with `=` before the first empty one are the environment.
pub(crate) fn run(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let environment = lines.by_ref().take_while(|line| !line.is_empty()).map(|line| {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b'=').unwrap_or(line.len()));
        (os(name), os(value.get(1..).unwrap_or_default()))
    });
    let environment: Vec<_> = environment.collect();
    let arguments: Vec<_> = lines.map(os).collect();
    let given = arguments.len();
    match Config::from_arguments(arguments, environment) {
        Ok(Parsed::Run(config)) => {
            assert!(config.pes_per_node != Pes::Number(0) && config.nodes > 0, "{config:?}");
            assert!(config.program_arguments.len() <= given, "{config:?}");
        }
        Ok(Parsed::Help(text)) => assert!(!text.is_empty(), "help says something"),
        Err(error) => assert!(!error.to_string().is_empty(), "an error says something"),
    }
    if let Ok(list) = String::from_utf8_lossy(bytes).parse::<CpuList>() {
        assert!(list.as_slice().len() <= 1 << 20, "a list of {} processors", list.as_slice().len());
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let lines = [
        "CHARE_P=4\nCHARE_LRTS=shm\n\n+n\n2\n+stats\n--\n+p\n3",
        "\n+p4\n+n=3\nprogram\n+5\n+pemap\n0-3,8,10-14:2",
        "CHARE_PEMAP=0-3\nHOME=/\n\n+nolocal\n+nocma\n+noshm\n+lrts\ntcp",
        "\n+help",
        "0-3,8,10-14:2",
    ];
    lines.map(|line| line.as_bytes().to_vec()).to_vec()
}
