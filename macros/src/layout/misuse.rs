//! Misuse messages of the derive `Layout`, in one table, as those of the attributes have theirs.

use std::fmt;

/// A use of the derive that it cannot accept.
#[derive(Debug)]
pub(super) enum Misuse {
    NoNamedFields,
    Generic,
    NoSelection { example: String },
    Malformed,
    OnAField,
    NameTwice { name: String },
    NoFields { name: String },
    UnknownField { field: String, of: String },
    FieldTwice { field: String },
}

impl fmt::Display for Misuse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Misuse::*;
        match self {
            NoNamedFields => out.write_str(
                "a layout selects fields by their names: derive `Layout` for a struct with named fields, `struct Name { .. }`",
            ),
            Generic => out.write_str(
                "the fields of a generic struct lie elsewhere for each type: derive `Layout` for a struct without generic parameters",
            ),
            NoSelection { example } => write!(
                out,
                "no fields are selected: say which, under a name of their own, for example #[layout(some({example}))]"
            ),
            Malformed => out.write_str(
                "a name stands before the fields that it selects: write for example #[layout(place(x, id))]",
            ),
            OnAField => out.write_str(
                "#[layout(..)] stands on the struct, and names the fields: write for example #[layout(place(x, id))] there",
            ),
            NameTwice { name } => {
                write!(out, "`{name}` selects fields already: give one of the two selections another name")
            }
            NoFields { name } => write!(out, "`{name}` selects no fields: name them in its parentheses"),
            UnknownField { field, of } => {
                write!(out, "`{of}` has no field `{field}`: name one that it has")
            }
            FieldTwice { field } => write!(
                out,
                "a packed element has each field once, and `{field}` is named twice: keep one"
            ),
        }
    }
}
