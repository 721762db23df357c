//! Tests of options: command lines and environments, good and bad.

use super::*;
use crate::job::cpus::CpuListError;
use crate::node::devices::{DeviceChoice, DeviceModels};
use chare_lrts::wrappers::TraceWindow;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

fn parse(line: &str, environment: &[(&str, &str)]) -> Result<Parsed, ConfigError> {
    let environment = environment.iter().map(|(name, value)| (name.into(), value.into()));
    Config::from_arguments(line.split_whitespace().map(OsString::from), environment)
}

fn run(line: &str) -> Config {
    run_with(line, &[])
}

fn run_with(line: &str, environment: &[(&str, &str)]) -> Config {
    match parse(line, environment) {
        Ok(Parsed::Run(config)) => *config,
        other => panic!("{line}: {other:?}"),
    }
}

/// The error's only line.
fn refusal(line: &str, environment: &[(&str, &str)]) -> String {
    let text = parse(line, environment).unwrap_err().to_string();
    assert!(!text.contains('\n') && !text.contains("--p"), "{text}");
    text
}

#[test]
fn nothing_asked_for_is_one_node_with_one_pe() {
    let config = run("");
    assert_eq!((config.pes_per_node, config.nodes), (Pes::Number(1), 1));
    assert_eq!((config.lrts, config.pemap), (None, None));
    assert!(!(config.nolocal || config.nocma || config.noshm || config.stats));
    assert!(config.program_arguments.is_empty());
}

#[test]
fn options_are_taken_out_and_the_rest_is_left_in_order() {
    let config = run(
        "first +p 3 -v +n=4 +lrts tcp --long +nolocal +nocma +noshm +encrypt +stats +shuffle 7 +pemap 0-1 last",
    );
    assert_eq!((config.pes_per_node, config.nodes), (Pes::Number(3), 4));
    assert_eq!(config.lrts.as_deref(), Some("tcp"));
    assert_eq!(config.pemap.unwrap().as_slice(), [0, 1]);
    assert!(config.nolocal && config.nocma && config.noshm && config.encrypt && config.stats);
    assert!(!config.clear);
    assert_eq!(config.shuffle, Some(7));
    assert_eq!(config.program_arguments, ["first", "-v", "--long", "last"]);
}

#[test]
fn devices_are_chosen_by_their_kind() {
    for (line, device) in [
        ("", DeviceChoice::Found),
        ("+device none", DeviceChoice::None),
        ("+device=software:2", DeviceChoice::software(2)),
    ] {
        assert_eq!(run(line).device, device, "{line}");
    }
    for (line, models) in [
        ("", DeviceModels::Cached),
        ("+device_models none", DeviceModels::Nowhere),
        ("+device_models=/scratch/models", DeviceModels::In("/scratch/models".into())),
    ] {
        assert_eq!(run(line).device_models, models, "{line}");
    }
    let refused = refusal("+device gpu", &[]);
    assert!(refused.contains("`software:N`"), "{refused}");
    let refused = refusal("", &[("CHARE_DEVICE", "software:0")]);
    assert!(refused.contains("CHARE_DEVICE"), "{refused}");
    if cfg!(feature = "cuda") {
        assert_eq!(run("+device cuda").device, DeviceChoice::Cuda);
    } else {
        let refused = refusal("+device cuda", &[]);
        assert!(refused.contains("needs the feature `cuda`") && refused.contains("software"), "{refused}");
    }
}

#[test]
fn the_method_of_layouts_is_one_of_three() {
    assert_eq!(run("").layouts, None);
    assert_eq!(run("+layouts vectors").layouts, Some(LayoutMethod::Vectors));
    let refused = refusal("", &[("CHARE_LAYOUTS", "step")]);
    assert!(refused.contains("CHARE_LAYOUTS") && refused.contains("`sieve`"), "{refused}");
}

#[test]
fn glued_numbers_are_understood() {
    let config = run("+p4 +n2");
    assert_eq!((config.pes_per_node, config.nodes), (Pes::Number(4), 2));
}

#[test]
fn signed_numbers_and_lone_signs_are_the_programs() {
    assert_eq!(run("+5 + +-x ++x +.5").program_arguments, ["+5", "+", "+-x", "++x", "+.5"]);
}

#[test]
fn what_follows_two_dashes_is_the_programs() {
    let config = run("+p 2 a -- +p 9 +nonsense --");
    assert_eq!(config.pes_per_node, Pes::Number(2));
    assert_eq!(config.program_arguments, ["a", "--", "+p", "9", "+nonsense", "--"]);
}

#[test]
fn unknown_options_are_errors_with_the_right_spelling() {
    assert!(refusal("+pemapp 3", &[]).starts_with("unknown option `+pemapp` (did you mean `+pemap`?)"));
    assert!(refusal("+stat", &[]).contains("did you mean `+stats`?"));
    assert!(refusal("+NOCMA", &[]).starts_with("unknown option `+NOCMA`"));
    assert!(refusal("+xyzzy", &[]).contains("`+help` lists all"));
}

#[test]
fn options_of_charm_are_refused_by_what_stands_in_their_place() {
    for (line, option, instead) in [
        ("+ppn 3", "`+ppn`", "`+p N`"),
        ("++ppn 3", "`++ppn`", "`+p N`"),
        ("+LBPeriod=5", "`+LBPeriod", "`+balancer NAME`"),
        ("++nodelist hosts", "`++nodelist`", "`chare-run --hosts A,B`"),
        ("+setcpuaffinity", "`+setcpuaffinity`", "`+pemap LIST`"),
        ("+restart log", "`+restart`", "no checkpoints yet"),
    ] {
        let refused = refusal(line, &[]);
        assert!(
            refused.starts_with(option) && refused.contains("is an option of Charm++; here, "),
            "{refused}"
        );
        assert!(refused.contains(instead), "{line}: {refused}");
    }
    assert_eq!(run("a -- ++ppn 3").program_arguments, ["a", "--", "++ppn", "3"]);
    assert!(refusal("+LB", &[]).contains("Charm++") && refusal("+lb", &[]).starts_with("unknown option"));
}

#[test]
fn processors_of_a_batch_system_are_told_of_unless_the_user_says_how_many_pes_there_are() {
    let eight = ("SLURM_CPUS_PER_TASK", "8");
    assert_eq!(run_with("", &[eight]).idle_processors, Some(8));
    assert_eq!(run_with("", &[eight, ("SLURM_PROCID", "0")]).idle_processors, Some(8));
    for (line, environment) in [
        ("", [eight, ("SLURM_PROCID", "1")]),
        ("+p 1", [eight, ("SLURM_PROCID", "0")]),
        ("+p auto", [eight, ("SLURM_PROCID", "0")]),
        ("", [eight, ("CHARE_P", "1")]),
        ("", [("SLURM_CPUS_PER_TASK", "1"), ("SLURM_PROCID", "0")]),
    ] {
        assert_eq!(run_with(line, &environment).idle_processors, None, "{line} {environment:?}");
    }
}

#[test]
fn numbers_have_a_smallest_and_a_largest_value() {
    assert_eq!(run("+p 4096").pes_per_node, Pes::Number(4096));
    assert_eq!(run("+n 512").nodes, 512);
    for line in ["+p 0", "+p 4097", "+p 100000", "+p -3", "+p x", "+p 1.5", "+p 99999999999999999999", "+p0"]
    {
        assert!(refusal(line, &[]).contains("'+p <N>'"), "{}", refusal(line, &[]));
    }
    for line in ["+n 0", "+n 513", "+n 100000", "+n=", "+n"] {
        assert!(refusal(line, &[]).contains("'+n <N>'"), "{}", refusal(line, &[]));
    }
}

#[test]
fn pes_may_be_left_to_the_binding() {
    assert_eq!(run("+p auto").pes_per_node, Pes::Auto);
    assert_eq!(run_with("", &[("CHARE_P", "auto")]).pes_per_node, Pes::Auto);
    assert_eq!((Pes::Auto.to_string(), Pes::Number(3).to_string()), ("auto".into(), "3".into()));
    assert!(refusal("+p Auto", &[]).contains("neither `auto` nor a number from 1 to 4096"));
}

#[test]
fn mailboxes_have_no_bound_unless_it_is_asked_for() {
    assert_eq!(run("").mailbox, None);
    assert_eq!(run("+mailbox 1").mailbox, NonZeroU32::new(1));
    assert_eq!(run_with("", &[("CHARE_MAILBOX", "1000")]).mailbox, NonZeroU32::new(1000));
    for line in ["+mailbox 0", "+mailbox -1", "+mailbox", "+mailbox 4294967296"] {
        assert!(refusal(line, &[]).contains("'+mailbox <N>'"), "{}", refusal(line, &[]));
    }
}

#[test]
fn interfaces_and_ports_are_checked_before_anything_starts() {
    let config = run_with("+interface 10.1.0.0/16", &[("CHARE_PORTS", "5000-5099")]);
    assert_eq!(config.interface.map(|interface| interface.to_string()).as_deref(), Some("10.1.0.0/16"));
    assert_eq!(config.ports.map(|ports| ports.to_string()).as_deref(), Some("5000-5099"));
    assert!(refusal("+interface 10.1.0.0/40", &[]).contains("`10.1.0.0/40` is no network"));
    assert!(refusal("+ports 9-8", &[]).contains("`9-8` is no range of ports"));
    assert!(refusal("", &[("CHARE_PORTS", "http")]).contains("(from `CHARE_PORTS`)"));
}

#[test]
fn a_flag_takes_no_value_and_nothing_is_said_twice() {
    assert!(refusal("+stats=3", &[]).contains("'+stats'"));
    assert!(refusal("+p 2 +p 3", &[]).contains("multiple times"));
}

#[test]
fn lists_of_cpus_are_ranges_with_steps() {
    let list = |text: &str| text.parse::<CpuList>().map(|list| list.as_slice().to_vec());
    assert_eq!(list("0-3,8,10-14:2").unwrap(), [0, 1, 2, 3, 8, 10, 12, 14]);
    assert_eq!(list("5").unwrap(), [5]);
    assert_eq!(list("1,1").unwrap(), [1, 1]);
    assert_eq!(list("65535").unwrap(), [65_535]);
    assert_eq!(list("65536"), Err(CpuListError::TooHigh("65536".into())));
    assert_eq!(list("0-65535").unwrap().len(), 65_536);
    assert_eq!(list("0-65535,0"), Err(CpuListError::TooLong));
    for text in ["3-1", "0-4:0"] {
        assert_eq!(list(text), Err(CpuListError::EmptyRange(text.into())));
    }
    for text in ["", "a", "1,,2", "-3", "1-", "1:2", "+1", " 1", "1-2-3", "1-4:x"] {
        assert!(matches!(list(text), Err(CpuListError::Malformed(_))), "{text}");
    }
    assert!(matches!(list("0-99999999999999999999"), Err(CpuListError::TooHigh(_))));
    assert!(refusal("+pemap 1-x", &[]).contains("`1-x` is no CPU"));
    let two = "4,6".parse::<CpuList>().unwrap();
    assert_eq!([two.cpu(0), two.cpu(1), two.cpu(2)], [4, 6, 4]);
}

#[test]
fn faults_and_traces_are_asked_for() {
    let config = run("+trace here/it +fault refuse=3,seed=9");
    assert_eq!((config.trace, config.trace_window), (Some("here/it".into()), TraceWindow::default()));
    assert_eq!(config.fault.map(|plan| plan.to_string()).as_deref(), Some("refuse=3,seed=9"));
    assert!(refusal("+fault often", &[]).contains("`often` is no fault"));
}

#[test]
fn a_part_of_the_time_is_asked_for() {
    let window = |from_ms, lasts_ms: Option<u64>| TraceWindow {
        from: Duration::from_millis(from_ms),
        lasts: lasts_ms.map(Duration::from_millis),
    };
    for (value, file, expected) in [
        ("it,from=10,for=2", "it", window(10_000, Some(2_000))),
        ("it,for=500ms", "it", window(0, Some(500))),
        ("a,b.c,from=0.25s", "a,b.c", window(250, None)),
    ] {
        let config = run(&format!("+trace {value}"));
        assert_eq!((config.trace, config.trace_window), (Some(file.into()), expected), "{value}");
    }
    assert!(refusal("+trace it,form=3", &[]).contains("write `+trace FILE,from=10,for=2`"));
    assert!(refusal("+trace it,from=soon", &[]).contains("`from=soon` names no time"));
    assert!(refusal("+trace it,for=-1", &[]).contains("`for=-1` names no time"));
    assert!(refusal("+trace ,for=1", &[]).contains("names no file"));
}

#[test]
fn the_environment_fills_in_and_the_command_line_wins() {
    let environment = [("CHARE_P", "3"), ("CHARE_N", "2"), ("CHARE_STATS", "1"), ("CHARE_NOCMA", "0")];
    let config = run_with("+n 5", &environment);
    assert_eq!((config.pes_per_node, config.nodes), (Pes::Number(3), 5));
    assert!(config.stats && !config.nocma);
    assert_eq!(run_with("", &[("CHARE_P", ""), ("OTHER", "x")]).pes_per_node, Pes::Number(1));
    run_with("", &[("CHARE_LAUNCH", "3:4"), ("CHARE_STARTUP_TIMEOUT", "5"), ("CHARE_TEST_ROLE", "x")]);
}

#[test]
fn bad_variables_are_named() {
    assert!(refusal("", &[("CHARE_P", "0")]).contains("(from `CHARE_P`)"));
    assert!(refusal("", &[("CHARE_STATS", "perhaps")]).contains("`CHARE_STATS` is `perhaps`"));
    assert!(refusal("", &[("CHARE_PEMAPP", "1")]).contains("did you mean `CHARE_PEMAP`?"));
    assert!(refusal("", &[("CHARE_p", "1")]).contains("unknown environment variable `CHARE_p`"));
}

#[test]
fn arguments_that_are_no_text_are_named() {
    let bad = || OsString::from_vec(vec![b'a', 0xff]);
    let error = Config::from_arguments(["x".into(), bad()], []).unwrap_err().to_string();
    assert!(error.starts_with("argument 2 is not valid UTF-8"), "{error}");
    let error = Config::from_arguments([], [("CHARE_LRTS".into(), bad())]).unwrap_err().to_string();
    assert!(error.starts_with("`CHARE_LRTS` is not valid UTF-8"), "{error}");
}

#[test]
fn help_is_a_table_in_our_spelling() {
    let Ok(Parsed::Help(table)) = parse("+help +p 2", &[]) else { panic!("no help") };
    for option in [
        "+p <N>",
        "+n <N>",
        "+lrts <NAME>",
        "+nolocal",
        "+nocma",
        "+noshm",
        "+dsa",
        "+interface <NAME>",
        "+ports <A-B>",
        "+encrypt",
        "+clear",
        "+tags",
        "+ofi <PROVIDER>",
        "+verbs <DEVICES>",
        "+mpi <LIBRARY>",
        "+trace <FILE>",
        "+fault <LIST>",
        "+pemap <LIST>",
        "+shuffle",
        "+mailbox <N>",
        "+layouts <METHOD>",
        "+device <KIND>",
        "+device_models <FOLDER>",
        "+stats",
    ] {
        let name = option.trim_start_matches('+').split(' ').next().unwrap();
        let line = table.lines().find(|line| line.trim_start().starts_with(option)).expect(option);
        assert!(line.contains(&format!("[env: CHARE_{}]", name.to_uppercase())), "{line}");
    }
    assert!(table.contains("+help"));
    assert!(!table.contains("--p"), "{table}");
}

#[cfg(feature = "dashboard")]
#[test]
fn an_address_of_the_dashboard_may_be_left_out() {
    let here = Some("127.0.0.1:0".parse().unwrap());
    for (line, dashboard, arguments) in [
        ("+dashboard", here, &[][..]),
        ("+dashboard 100 x", here, &["100", "x"]),
        ("+dashboard +p 2 7", here, &["7"]),
        ("+dashboard [::1]:80 7", Some("[::1]:80".parse().unwrap()), &["7"]),
        ("+dashboard=0.0.0.0:9000", Some("0.0.0.0:9000".parse().unwrap()), &[]),
        ("7", None, &["7"]),
    ] {
        let config = run(line);
        assert_eq!(
            (config.dashboard, &*config.program_arguments),
            (dashboard, &*to_words(arguments)),
            "{line}"
        );
    }
    assert!(refusal("+dashboard=localhost", &[]).contains("+dashboard"));
}

#[cfg(feature = "dashboard")]
fn to_words(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(not(feature = "dashboard"))]
#[test]
fn a_program_without_the_dashboard_says_what_it_lacks() {
    assert!(refusal("+dashboard", &[]).contains("the feature `dashboard`"));
}

#[cfg(not(feature = "dsa"))]
#[test]
fn a_program_without_the_dsa_says_what_it_lacks() {
    assert!(refusal("+dsa", &[]).contains("`+dsa` needs the feature `dsa` of the crate `chare`"));
}
