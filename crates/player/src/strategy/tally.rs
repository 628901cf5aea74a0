use league_protocol::parity::Parity;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    even: u32,
    odd: u32,
}

impl Tally {
    fn add(&mut self, choice: Parity) {
        match choice {
            Parity::Even => self.even += 1,
            Parity::Odd => self.odd += 1,
        }
    }

    pub(super) fn majority(self) -> Option<Parity> {
        match self.even.cmp(&self.odd) {
            std::cmp::Ordering::Greater => Some(Parity::Even),
            std::cmp::Ordering::Less => Some(Parity::Odd),
            std::cmp::Ordering::Equal => None,
        }
    }
}

impl FromIterator<Parity> for Tally {
    fn from_iter<I: IntoIterator<Item = Parity>>(choices: I) -> Self {
        let mut tally = Self::default();
        choices.into_iter().for_each(|choice| tally.add(choice));
        tally
    }
}
