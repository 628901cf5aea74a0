//! Round robin by the circle method: everyone meets everyone once, and nobody plays twice in a round.
//!
//! Imagine an even number of chairs: one stands still, the others, labelled modulo their odd number `m`, turn. In round `r`
//! the one that stands still meets label `r`, and the labels `r + k` and `r - k` meet: all `i + j ≡ 2r (mod m)`. Since `m`
//! is odd, 2 has an inverse, and every question about the schedule is answered by arithmetic: nothing is stored, however
//! many players there are.
//!
//! With an even number of players, player 0 stands still and the others carry their index as label. With an odd number a
//! phantom does, player `i` is labelled `i + 1`, and whoever would meet the phantom has a bye: each player once.
//!
//! Sides come from a circle of their own, of all players and, should their number be even, one more: A is who has the other
//! within the half circle ahead. Everyone has as many ahead as behind, up to that one more.

use league_protocol::side::Pair;

/// Two players, by index, who meet: on side A and on side B.
pub type Pairing = Pair<u32>;

/// Who meets whom in a season of a given number of players. Rounds and matches are counted from one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    players: u32,
}

#[derive(Clone, Copy)]
enum CirclePlace {
    /// The chair that stands still: player 0, or the phantom.
    Still,
    /// The chair with this label, from 0 to m - 1.
    Turning(u64),
}

impl Schedule {
    /// The season of the players 0 to `players` - 1.
    pub fn new(players: u32) -> Self {
        Self { players }
    }

    pub fn players(&self) -> u32 {
        self.players
    }

    /// How many rounds are played; none when there is nobody to meet.
    pub fn rounds(&self) -> u32 {
        match self.players {
            0 | 1 => 0,
            even if even.is_multiple_of(2) => even - 1,
            odd => odd,
        }
    }

    /// How many matches each round has.
    pub fn matches_per_round(&self) -> u32 {
        self.players / 2
    }

    /// How many matches the season has.
    pub fn total_matches(&self) -> u64 {
        u64::from(self.rounds()) * u64::from(self.matches_per_round())
    }

    /// Who meets in match `number` of `round`; nobody when there is no such match.
    pub fn pairing(&self, round: u32, number: u32) -> Option<Pairing> {
        if !self.has_round(round) || !(1..=self.matches_per_round()).contains(&number) {
            return None;
        }
        let (round, modulus) = (u64::from(round), self.modulus());
        // With a phantom the first pair of the circle, the bye, is not a match.
        let distance = u64::from(number) - u64::from(!self.has_phantom());
        let first = self.player(CirclePlace::Turning((round + distance) % modulus))?;
        let second = match distance {
            0 => self.player(CirclePlace::Still)?,
            _ => self.player(CirclePlace::Turning((round + modulus - distance) % modulus))?,
        };
        Some(self.sides(first, second))
    }

    /// All pairings of `round`, in the order of their numbers; none when there is no such round.
    pub fn round(&self, round: u32) -> impl Iterator<Item = Pairing> + use<> {
        let schedule = *self;
        (1..=self.matches_per_round()).map_while(move |number| schedule.pairing(round, number))
    }

    /// Who does not play in `round`.
    pub fn bye(&self, round: u32) -> Option<u32> {
        if !self.has_round(round) || !self.has_phantom() {
            return None;
        }
        self.player(CirclePlace::Turning(u64::from(round) % self.modulus()))
    }

    /// Whom `player` meets in `round`; nobody in the round of its bye.
    pub fn opponent(&self, round: u32, player: u32) -> Option<u32> {
        if !self.has_round(round) || player >= self.players {
            return None;
        }
        let (round, modulus) = (u64::from(round), self.modulus());
        let seat = match self.seat(player) {
            CirclePlace::Still => CirclePlace::Turning(round % modulus),
            CirclePlace::Turning(label) if label == round % modulus => CirclePlace::Still,
            CirclePlace::Turning(label) => CirclePlace::Turning((2 * round + modulus - label) % modulus),
        };
        self.player(seat)
    }

    /// In which round, and in which match of it, two players meet; nowhere when they are not two players of this season.
    pub fn meeting(&self, one: u32, other: u32) -> Option<(u32, u32)> {
        if one == other || one >= self.players || other >= self.players {
            return None;
        }
        let modulus = self.modulus();
        let (round, distance) = match (self.seat(one), self.seat(other)) {
            (CirclePlace::Still, CirclePlace::Still) => return None,
            (CirclePlace::Still, CirclePlace::Turning(label)) | (CirclePlace::Turning(label), CirclePlace::Still) => {
                (label, 0)
            }
            (CirclePlace::Turning(one), CirclePlace::Turning(other)) => {
                let sum = (one + other) % modulus;
                // Half of the sum, modulo an odd number.
                let round = if sum.is_multiple_of(2) { sum / 2 } else { (sum + modulus) / 2 };
                let ahead = (one + modulus - round) % modulus;
                (round, ahead.min(modulus - ahead))
            }
        };
        // Label 0 is where the last round begins.
        let round = if round == 0 { modulus } else { round };
        let number = distance + u64::from(!self.has_phantom());
        Some((u32::try_from(round).ok()?, u32::try_from(number).ok()?))
    }

    fn has_round(&self, round: u32) -> bool {
        (1..=self.rounds()).contains(&round)
    }

    fn has_phantom(&self) -> bool {
        !self.players.is_multiple_of(2)
    }

    /// The number of chairs that turn, which is the number of rounds. In 64 bits, where sums of labels cannot overflow.
    fn modulus(&self) -> u64 {
        u64::from(self.rounds())
    }

    fn seat(&self, player: u32) -> CirclePlace {
        match player {
            0 if !self.has_phantom() => CirclePlace::Still,
            _ => CirclePlace::Turning((u64::from(player) + u64::from(self.has_phantom())) % self.modulus()),
        }
    }

    /// Who sits there; nobody where the phantom does.
    fn player(&self, seat: CirclePlace) -> Option<u32> {
        match seat {
            CirclePlace::Still => (!self.has_phantom()).then_some(0),
            CirclePlace::Turning(label) => {
                let label = if label == 0 { self.modulus() } else { label };
                u32::try_from(label - u64::from(self.has_phantom())).ok()
            }
        }
    }

    fn sides(&self, one: u32, other: u32) -> Pairing {
        let circle = u64::from(self.players) + u64::from(!self.has_phantom());
        let ahead = (u64::from(other) + circle - u64::from(one)) % circle;
        if ahead <= (circle - 1) / 2 { Pair::new(one, other) } else { Pair::new(other, one) }
    }
}
