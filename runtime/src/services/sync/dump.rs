//! Dump of balancings (`+balance_dump`): a line of JSON for each, in a file of PE 0.

use crate::base::json;
use crate::model::loads::BalanceRecord;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The file, once something is to be written.
#[derive(Default)]
pub(super) struct Dump(Option<File>);

impl Dump {
    /// Writes a line. The first one begins the file anew.
    ///
    /// # Errors
    /// When it cannot be written, in words.
    pub(super) fn write(&mut self, path: &Path, record: &BalanceRecord) -> Result<(), String> {
        let refused = |cause: &dyn std::fmt::Display| {
            format!(
                "`+balance_dump {}` cannot be written: {cause}; name a file in a folder that is there",
                path.display()
            )
        };
        let file = match &mut self.0 {
            Some(file) => file,
            none => none.insert(File::create(path).map_err(|error| refused(&error))?),
        };
        let mut line = json::write(record).map_err(|error| refused(&error))?;
        line.push(b'\n');
        file.write_all(&line).map_err(|error| refused(&error))
    }
}
