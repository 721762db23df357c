//! Build of the running executable, which nodes compare before they meet: names and signatures do not show the layout of a type that
//! travels, so two builds that agree in those may still misread each other.
//!
//! 1. A build is known by its ELF build id, which the linker computes from the whole output; where the linker wrote none, by a digest of
//!    the bytes that are loaded. Debug information counts for neither, so a stripped copy is the same build.
//! 2. The code of shared libraries is not seen. Cargo links programs statically but for `dylib` crates.
//! 3. An executable that cannot be read (mode 0711) has no build; then names and signatures are all that is compared.

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSegment, ReadCache};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::sync::OnceLock;

/// The environment variable that lets nodes of different builds meet.
pub(crate) const VARIABLE: &str = "CHARE_OTHER_BUILDS";

/// The digest of this process's build, if its executable can be read.
pub(super) fn of_this_process() -> Option<u128> {
    static BUILD: OnceLock<Option<u128>> = OnceLock::new();
    *BUILD.get_or_init(|| digest_of(File::open("/proc/self/exe").ok()?))
}

/// Whether nodes of other builds may be met.
///
/// # Errors
/// If the variable has another value than 0 or 1.
pub(super) fn others_may_join() -> Result<bool, String> {
    match std::env::var_os(VARIABLE) {
        Some(value) if value == "1" => Ok(true),
        None => Ok(false),
        Some(value) if value == "0" || value.is_empty() => Ok(false),
        Some(value) => Err(format!("`{VARIABLE}` is {value:?}; it takes 1 or 0")),
    }
}

fn digest_of(executable: File) -> Option<u128> {
    let bytes = ReadCache::new(executable);
    let executable = ElfFile64::<Endianness, _>::parse(&bytes).ok()?;
    let mut digest = Sha256::new();
    match executable.build_id().ok().flatten() {
        Some(id) => digest.update(id),
        None => executable.segments().try_for_each(|segment| {
            digest.update(segment.data().ok()?);
            Some(())
        })?,
    }
    digest.finalize().first_chunk().map(|bytes| u128::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::{digest_of, of_this_process};
    use std::fs::File;
    use std::process::Command;

    /// An executable made from a line of C, with or without a build id.
    fn executable(name: &str, program: &str, build_id: &str) -> Option<u128> {
        let path = std::env::temp_dir().join(format!("chare-build-{}-{name}", std::process::id()));
        let script = r#"printf '%s' "$1" | cc -x c - -o "$0" "-Wl,--build-id=$2""#;
        let made = Command::new("sh").args(["-c", script]).arg(&path).args([program, build_id]).status();
        assert!(made.is_ok_and(|status| status.success()), "cc makes {name}");
        let digest = digest_of(File::open(&path).expect("it was made"));
        std::fs::remove_file(path).expect("it was made");
        digest
    }

    #[test]
    fn a_build_is_known_with_and_without_an_id() {
        assert!(of_this_process().is_some());
        for id in ["sha1", "none"] {
            let made = |name: &str, program| executable(&format!("{name}-{id}"), program, id);
            let one = made("one", "int main(void) { return 1; }");
            assert!(one.is_some());
            assert_eq!(one, made("same", "int main(void) { return 1; }"));
            assert_ne!(one, made("other", "int main(void) { return 2; }"));
        }
    }

    #[test]
    fn what_is_no_executable_has_no_build() {
        assert_eq!(digest_of(File::open("/proc/self/status").expect("procfs")), None);
    }
}
