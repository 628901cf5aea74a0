//! A thousand runs, each of which breaks whatever can break. `cargo xtask simulate` has ten times as many.

use league_simulation::run::{Wanted, run};

/// So many seeds in each part; the parts run side by side.
const SHARE: u64 = 125;

fn part(number: u64) -> Result<(), String> {
    for seed in number * SHARE..(number + 1) * SHARE {
        let outcome = run(seed, Wanted::default()).map_err(|error| error.to_string())?;
        if let Some(violation) = outcome.violation {
            return Err(format!(
                "seed {seed} failed {violation}; see it all: cargo xtask simulate --seed {seed} --runs 1"
            ));
        }
    }
    Ok(())
}

macro_rules! parts {
    ($($name:ident = $number:literal),*) => {
        $(#[test]
        fn $name() -> Result<(), String> {
            part($number)
        })*
    };
}

parts!(
    nothing_is_lost_doubled_or_stuck_in_part_one = 0,
    nothing_is_lost_doubled_or_stuck_in_part_two = 1,
    nothing_is_lost_doubled_or_stuck_in_part_three = 2,
    nothing_is_lost_doubled_or_stuck_in_part_four = 3,
    nothing_is_lost_doubled_or_stuck_in_part_five = 4,
    nothing_is_lost_doubled_or_stuck_in_part_six = 5,
    nothing_is_lost_doubled_or_stuck_in_part_seven = 6,
    nothing_is_lost_doubled_or_stuck_in_part_eight = 7
);
