//! Policies for panics in entries: what becomes of the job, of the caller and of the chare.

/// What follows from a panic in an entry of a chare type: `#[chare(on_panic = ..)]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnPanic {
    /// The job ends.
    End,
    /// Whoever awaits the entry's answer gets an error, and the chare goes on with the state that the panic left.
    Answer,
    /// As `Answer`, and the chare is constructed anew, from the arguments that it was first made of.
    Renew,
}
