//! Programs with settings of their own: their command line is theirs.

use chare::{Config, Pes, Program};
use std::process::ExitCode;

#[test]
fn settings_are_followed() {
    let mut config = Config::default();
    config.pes_per_node = Pes::Number(3);
    config.program_arguments = vec!["+p".to_owned(), "7".to_owned()];
    let program = Program::new(config);
    assert_eq!((program.pes_per_node(), program.nodes()), (Pes::Number(3), 1));
    let code = program.run(|arguments| async move {
        let is_right = chare::pes() == 3 && arguments == ["+p", "7"];
        chare::exit(if is_right { 5 } else { 1 });
    });
    assert_eq!(code, ExitCode::from(5));
}

#[cfg(not(feature = "launch"))]
#[test]
fn processes_are_refused_where_no_launcher_is_built_in() {
    let mut config = Config::default();
    config.nodes = 2;
    let code = Program::new(config).run(|_arguments| async { chare::exit(0) });
    assert_eq!(code, ExitCode::FAILURE);
}
