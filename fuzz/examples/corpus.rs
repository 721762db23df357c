//! Corpora as folders, as libFuzzer wants them: `corpus seeds NAME FOLDER` writes messages of honest nodes, `corpus unpack NAME FOLDER`
//! the inputs that are kept, and `corpus pack NAME FOLDER..` keeps what lies in the folders.

use chare_fuzz::corpus;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

fn write(inputs: &[Vec<u8>], kind: &str, folder: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut inputs = inputs.iter().enumerate();
    inputs
        .try_for_each(|(number, input)| fs::write(Path::new(folder).join(format!("{kind}-{number}")), input))
}

fn read(folders: &[String]) -> io::Result<BTreeSet<Vec<u8>>> {
    let mut inputs = BTreeSet::new();
    for folder in folders {
        for file in fs::read_dir(folder)? {
            inputs.insert(fs::read(file?.path())?);
        }
    }
    Ok(inputs)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["seeds", name, folder] => write(&(chare_fuzz::target(name).seeds)(), "seed", folder),
        ["unpack", name, folder] => corpus::read(name).and_then(|inputs| write(&inputs, "kept", folder)),
        ["pack", name, _, ..] => read(&arguments[2..]).and_then(|inputs| corpus::write(name, &inputs)),
        _ => Err(io::Error::other("usage: corpus seeds|unpack NAME FOLDER, or corpus pack NAME FOLDER..")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", words.join(" "));
            ExitCode::FAILURE
        }
    }
}
