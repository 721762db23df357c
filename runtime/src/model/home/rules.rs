//! Rules that the exploration of every order leaves out one by one, to see what each of them is worth. Elsewhere all of them hold.

/// A rule that can be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// No move is granted while another one is under way.
    OneThingUnderWay,
    /// A call that is sent for the second time is pinned.
    Pins,
    /// A call that comes back although the element has not moved proves that it has ended.
    ProofOfEnd,
    /// Copies are for the element of one journey.
    JourneyOfCopies,
    /// A journey is not over while copies of it are out.
    CopiesOfJourney,
    /// The next contributions of who has come home wait behind those that lag.
    LaggingFirst,
    /// An end takes effect when all contributions have been taken.
    CountAtEnd,
    /// The news of an end stand for those of an arrival.
    EndIsArrival,
    /// No move of a bond is granted while a birth in it is under way.
    BirthHoldsBond,
    /// All of a bond go when one may go.
    JointGrants,
    /// Who is born into a bond is born where it lives.
    BornBesideBond,
}

/// The rules that hold.
#[derive(Clone, Copy, Default)]
pub(super) struct Rules {
    #[cfg(test)]
    pub(super) without: Option<Rule>,
}

impl Rules {
    #[cfg(test)]
    pub(super) fn hold(self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    #[cfg(not(test))]
    pub(super) fn hold(self, _: Rule) -> bool {
        true
    }
}
