//! The chapter's ping-pong plays every way over every embedded path, and prints the columns that its original prints.

use chare_tests::Program;

const COLUMNS: usize = 22;

#[test]
fn it_prints_a_line_for_each_size_but_the_first() {
    let pingpong = Program::binary(env!("CARGO_BIN_EXE_zc_pingpong"));
    for shape in ["+p 1", "+p 2", "+n 2", "+n 2 +nolocal", "+n 2 +noshm"] {
        let said = pingpong.pass(&format!("16 2048 4 2 0 {shape}"));
        let lines: Vec<&str> = said.lines().collect();
        let sizes: Vec<&str> = lines[1..].iter().filter_map(|line| line.split(',').next()).collect();
        assert_eq!(sizes, ["16", "32", "64", "128", "256", "512", "1024", "2048"], "{shape}: {said}");
        for line in &lines {
            assert_eq!(line.split(',').count(), COLUMNS, "{shape}: {line}");
        }
        for number in lines[1..].iter().flat_map(|line| line.split(',')) {
            number.parse::<f64>().unwrap_or_else(|error| panic!("{shape}: `{number}`: {error}"));
        }
    }
}

#[test]
fn it_refuses_what_its_original_refuses() {
    let pingpong = Program::binary(env!("CARGO_BIN_EXE_zc_pingpong"));
    for arguments in ["16 2048", "16 2048 4 2 7", "16 2048 4 2 0 +p 3"] {
        let outcome = pingpong.run(arguments);
        assert_eq!(outcome.code, Some(1), "{arguments}: {outcome:?}");
    }
}
