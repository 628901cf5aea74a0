//! Who meets whom: a matching of least cost, by criteria of which each outweighs all that follow.
//!
//! A pair has one cost per criterion. The costs are stacked into one whole number: each criterion is worth more than the largest
//! possible sum of those after it, which takes 104 bits for 1,000 players with 1,000 different scores. One matching over all players is exact. Above [`EXACT`] players it would take too long, so
//! blocks of at most [`BLOCK`] players are matched, along the order of the scores.

use integer_blossom::min_weight_perfect_matching;

pub(super) const EXACT: usize = 1000;
pub(super) const BLOCK: usize = 128;
/// The matching adds up to four costs.
const MAX_SHORT: i64 = i64::MAX >> 4;
/// A player that was on one side this much more often than on the other should not get that side again.
const MAX_BALANCE: i32 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Contender<'a> {
    pub(super) place: u32,
    /// The score group: 0 for the highest score.
    pub(super) group: u32,
    pub(super) opponents: &'a [u32],
    pub(super) byes: u32,
    /// Matches on side A less those on side B.
    pub(super) balance: i32,
    /// Whether its last opponent had a lower score, or it had a bye.
    pub(super) floated_down: bool,
    pub(super) floated_up: bool,
}

/// The costs of a pair or a bye, the most important first.
pub(super) type Costs = [u32; 8];

const REMATCH: usize = 0;
const SECOND_BYE: usize = 1;
/// One of the two would exceed [`MAX_BALANCE`].
const UNBALANCED: usize = 2;
/// How many score groups are below the player with the bye.
const BYE_SCORE: usize = 3;
/// The square of the distance of the score groups.
const SCORE: usize = 4;
/// Both players are due for the same side.
const SAME_SIDE: usize = 5;
/// A player meets a lower or a higher score twice running.
const FLOAT_AGAIN: usize = 6;
/// Both are in the upper, or both in the lower half of their score group.
const SAME_HALF: usize = 7;

/// Pairs as indices of `contenders`, the better player first and the best pairs first, and the index with a bye.
/// `contenders` are in the order of their score groups.
pub(super) fn pair(contenders: &[Contender<'_>]) -> Matched {
    let all: Vec<usize> = (0..contenders.len()).collect();
    let (mut pairs, bye) = if all.len() <= EXACT { exact(contenders, &all).0 } else { in_blocks(contenders, all) };
    pairs.sort_unstable_by_key(|(upper, lower)| (contenders[*upper].group, contenders[*lower].group, *upper));
    (pairs, bye)
}

type Pairs = Vec<(usize, usize)>;
type Matched = (Pairs, Option<usize>);

/// The matching of least cost among `members`, and how many of its pairs have met before.
fn exact(contenders: &[Contender<'_>], members: &[usize]) -> (Matched, u32) {
    let pool = Pool::new(contenders, members);
    // An odd number of players: the last vertex is the bye.
    let vertices = members.len() + members.len() % 2;
    let mut highest = Costs::default();
    pool.each_edge(vertices, |_, _, costs| {
        highest.iter_mut().zip(costs).for_each(|(highest, cost)| *highest = cost.max(*highest));
    });
    let mut weights = [1_i128; 8];
    for level in (0..7).rev() {
        // At most one player has a bye.
        let count = if matches!(level + 1, SECOND_BYE | BYE_SCORE) { 1 } else { vertices as i128 / 2 };
        weights[level] = weights[level + 1] * (i128::from(highest[level + 1]) * count + 1);
    }
    let mut matrix = vec![0_i128; vertices * vertices];
    pool.each_edge(vertices, |one, other, costs| {
        matrix[one * vertices + other] =
            costs.iter().zip(weights).map(|(cost, weight)| i128::from(*cost) * weight).sum();
    });
    let mate = least_cost(&matrix, vertices);
    let (mut pairs, mut bye, mut rematches) = (Vec::with_capacity(vertices / 2), None, 0);
    for (one, other) in mate.into_iter().enumerate().filter(|(one, other)| one < other) {
        match members.get(other) {
            Some(second) => {
                rematches += u32::from(pool.met(one, other) > 0);
                pairs.push((members[one], *second));
            }
            None => bye = Some(members[one]),
        }
    }
    ((pairs, bye), rematches)
}

/// Halves of words take half the time, and mostly suffice.
fn least_cost(matrix: &[i128], vertices: usize) -> Vec<usize> {
    let fits = |cost: &i128| i64::try_from(*cost).ok().filter(|cost| *cost < MAX_SHORT);
    match matrix.iter().map(fits).collect::<Option<Vec<i64>>>() {
        Some(short) => min_weight_perfect_matching(&short, vertices),
        None => min_weight_perfect_matching(matrix, vertices),
    }
}

/// The bye goes to the lowest player without one. A block whose pairs have met before is joined with the next block, up to
/// [`EXACT`] players. A block has an avoidable rematch only if a player has met half of it, so it takes over 60 rounds.
fn in_blocks(contenders: &[Contender<'_>], mut all: Vec<usize>) -> Matched {
    let bye = (all.len() % 2 == 1).then(|| {
        let fewest = all.iter().rev().min_by_key(|index| contenders[**index].byes).copied().unwrap_or_default();
        all.remove(fewest)
    });
    let mut blocks: Vec<(std::ops::Range<usize>, Pairs)> = Vec::new();
    let mut start = 0;
    while start < all.len() {
        let mut end = end_of_block(contenders, &all, start);
        let ((mut pairs, _), mut rematches) = exact(contenders, &all[start..end]);
        while rematches > 0 && end - start < EXACT {
            let is_last = end == all.len();
            match blocks.pop_if(|_| is_last) {
                Some((before, _)) => start = before.start,
                None if is_last => break,
                None => end = end_of_block(contenders, &all, end),
            }
            ((pairs, _), rematches) = exact(contenders, &all[start..end]);
        }
        blocks.push((start..end, pairs));
        start = end;
    }
    (blocks.into_iter().flat_map(|(_, pairs)| pairs).collect(), bye)
}

/// An even number of players after `start`; the border of a score group if one is near. The last two blocks share the rest.
fn end_of_block(contenders: &[Contender<'_>], all: &[usize], start: usize) -> usize {
    let rest = all.len() - start;
    if rest <= BLOCK {
        return all.len();
    }
    if rest < BLOCK * 3 / 2 {
        return start + rest / 4 * 2;
    }
    let is_border = |end: &usize| contenders[all[*end - 1]].group != contenders[all[*end]].group;
    let mut near = (start + BLOCK * 3 / 4..=start + BLOCK).rev().filter(|end| (end - start).is_multiple_of(2));
    near.find(is_border).unwrap_or(start + BLOCK)
}

/// Some of the contenders, and how often any two of them have met.
struct Pool<'a> {
    members: Vec<Contender<'a>>,
    meetings: Vec<u8>,
    upper_half: Vec<bool>,
    lowest: u32,
}

impl<'a> Pool<'a> {
    fn new(contenders: &[Contender<'a>], indices: &[usize]) -> Self {
        let members: Vec<Contender<'a>> = indices.iter().map(|index| contenders[*index]).collect();
        let mut by_place: Vec<(u32, usize)> = members.iter().map(|member| member.place).zip(0..).collect();
        by_place.sort_unstable();
        let mut meetings = vec![0_u8; members.len() * members.len()];
        for (one, member) in members.iter().enumerate() {
            for opponent in member.opponents {
                if let Ok(found) = by_place.binary_search_by_key(opponent, |(place, _)| *place) {
                    let count = &mut meetings[one * members.len() + by_place[found].1];
                    *count = count.saturating_add(1);
                }
            }
        }
        let halves = members.chunk_by(|one, other| one.group == other.group);
        let upper_half = halves.flat_map(|group| (0..group.len()).map(|index| index < group.len() / 2)).collect();
        let lowest = members.last().map_or(0, |member| member.group);
        Self { members, meetings, upper_half, lowest }
    }

    fn met(&self, one: usize, other: usize) -> u8 {
        self.meetings[one * self.members.len() + other]
    }

    fn each_edge(&self, vertices: usize, mut each: impl FnMut(usize, usize, Costs)) {
        for one in 0..self.members.len() {
            for other in one + 1..vertices {
                let costs = if other < self.members.len() { self.pair_costs(one, other) } else { self.bye_costs(one) };
                each(one, other, costs);
            }
        }
    }

    /// `one` is before `other` in the order of the score groups.
    fn pair_costs(&self, one: usize, other: usize) -> Costs {
        let (upper, lower) = (&self.members[one], &self.members[other]);
        let mut costs = Costs::default();
        costs[REMATCH] = self.met(one, other).into();
        let distance = lower.group - upper.group;
        costs[SCORE] = distance * distance;
        if distance > 0 {
            costs[FLOAT_AGAIN] = u32::from(upper.floated_down) + u32::from(lower.floated_up);
        } else {
            costs[SAME_HALF] = u32::from(self.upper_half[one] == self.upper_half[other]);
        }
        if upper.balance.signum() * lower.balance.signum() > 0 {
            let least = upper.balance.abs().min(lower.balance.abs());
            costs[SAME_SIDE] = least.min(MAX_BALANCE).unsigned_abs();
            costs[UNBALANCED] = u32::from(least >= MAX_BALANCE);
        }
        costs
    }

    fn bye_costs(&self, index: usize) -> Costs {
        let member = &self.members[index];
        let mut costs = Costs::default();
        costs[SECOND_BYE] = member.byes;
        costs[BYE_SCORE] = self.lowest - member.group;
        costs[FLOAT_AGAIN] = u32::from(member.floated_down);
        costs
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a test needs to own.
    #[derive(Clone, Debug)]
    struct Owned {
        group: u32,
        opponents: Vec<u32>,
        byes: u32,
        balance: i32,
        floated_down: bool,
        floated_up: bool,
    }

    fn contenders(owned: &[Owned]) -> Vec<Contender<'_>> {
        let mut all = Vec::new();
        for (place, Owned { group, opponents, byes, balance, floated_down, floated_up }) in (0..).zip(owned) {
            let (group, byes, balance) = (*group, *byes, *balance);
            let (floated_down, floated_up) = (*floated_down, *floated_up);
            all.push(Contender { place, group, opponents, byes, balance, floated_down, floated_up });
        }
        all
    }

    prop_compose! {
        fn fields(players: std::ops::Range<usize>)(
            one in prop::collection::vec((0..2_u32, 0..2_u32, -3..4_i32, any::<bool>(), any::<bool>()), players),
            met in prop::collection::vec((0..10_u32, 0..10_u32), 0..30),
        ) -> Vec<Owned> {
            let (count, mut group) = (one.len() as u32, 0);
            let mut owned: Vec<Owned> = Vec::new();
            for (step, byes, balance, floated_down, floated_up) in one {
                group += if owned.is_empty() { 0 } else { step };
                owned.push(Owned { group, opponents: Vec::new(), byes, balance, floated_down, floated_up });
            }
            for (a, b) in met.into_iter().filter(|(a, b)| a != b && *a < count && *b < count) {
                owned[a as usize].opponents.push(b);
                owned[b as usize].opponents.push(a);
            }
            owned
        }
    }

    /// The rules in the words of the documentation, for a pair or, without a second player, a bye.
    fn costs(all: &[Contender<'_>], one: usize, other: Option<usize>) -> Vec<usize> {
        let upper = &all[one];
        let Some(other) = other else {
            let below: std::collections::BTreeSet<u32> = all.iter().map(|lower| lower.group).collect();
            let below = below.range(upper.group + 1..).count();
            return vec![0, upper.byes as usize, 0, below, 0, 0, usize::from(upper.floated_down), 0];
        };
        let lower = &all[other];
        let is_half = |index: usize| {
            let group: Vec<usize> = (0..all.len()).filter(|each| all[*each].group == all[index].group).collect();
            group.iter().position(|each| *each == index).unwrap() < group.len() / 2
        };
        let (near, far) = (upper.balance.abs().min(lower.balance.abs()), (lower.group - upper.group) as usize);
        let same = (upper.balance > 0 && lower.balance > 0) || (upper.balance < 0 && lower.balance < 0);
        vec![
            upper.opponents.iter().filter(|opponent| **opponent == lower.place).count(),
            0,
            usize::from(same && near >= 2),
            0,
            far * far,
            if same { near.min(2) as usize } else { 0 },
            if far > 0 { usize::from(upper.floated_down) + usize::from(lower.floated_up) } else { 0 },
            usize::from(far == 0 && is_half(one) == is_half(other)),
        ]
    }

    fn added(one: &[usize], other: &[usize]) -> Vec<usize> {
        one.iter().zip(other).map(|(one, other)| one + other).collect()
    }

    /// The least costs of all matchings, one by one.
    fn least(all: &[Contender<'_>], left: &[usize]) -> Vec<usize> {
        let Some((first, rest)) = left.split_first() else { return vec![0; 8] };
        let without = |index: usize| rest.iter().copied().filter(|each| *each != index).collect::<Vec<_>>();
        let paired = rest.iter().map(|other| added(&costs(all, *first, Some(*other)), &least(all, &without(*other))));
        let bye = (left.len() % 2 == 1).then(|| added(&costs(all, *first, None), &least(all, rest)));
        paired.chain(bye).min().unwrap()
    }

    proptest! {
        #[test]
        fn the_pairs_cost_no_more_than_any_other_pairs(owned in fields(2..11)) {
            let all = contenders(&owned);
            let (pairs, bye) = pair(&all);
            let paired = pairs.iter().fold(vec![0; 8], |sum, (one, other)| added(&sum, &costs(&all, *one, Some(*other))));
            let found = bye.iter().fold(paired, |sum, one| added(&sum, &costs(&all, *one, None)));
            prop_assert_eq!(found, least(&all, &(0..all.len()).collect::<Vec<_>>()));
        }
    }

    #[test]
    fn blocks_pair_every_player_once_and_nobody_again() {
        for players in [1001, 1407] {
            let opponents = |place: u32| vec![place ^ 1, (place + 700) % players];
            let one = |place: u32| Owned {
                group: place / 90,
                opponents: opponents(place),
                byes: u32::from(place == players - 1),
                balance: [1, -1][place as usize % 2],
                floated_down: false,
                floated_up: false,
            };
            let owned: Vec<Owned> = (0..players).map(one).collect();
            let all = contenders(&owned);
            let (pairs, bye) = pair(&all);
            assert_eq!(bye, Some(players as usize - 2), "the lowest player has had a bye");
            let mut seen: Vec<usize> = pairs.iter().flat_map(|(one, other)| [*one, *other]).chain(bye).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..players as usize).collect::<Vec<_>>());
            for (one, other) in pairs {
                assert!(!owned[one].opponents.contains(&(other as u32)));
                assert!(owned[other].group - owned[one].group <= 1);
            }
        }
    }
}
