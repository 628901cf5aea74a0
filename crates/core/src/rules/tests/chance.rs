use super::*;
use crate::rules::chance::{ChanceOutcome, ChanceRequest};

#[test]
fn a_number_is_in_its_range_and_every_one_is_equally_likely() {
    let mut stream = draw([1; 32]).chance(1);
    for most in [0, 1, 2, 5, 9, 1_000, u32::MAX - 1, u32::MAX] {
        assert!((0..50).all(|_| stream.up_to(most) <= most), "{most}");
    }
    let mut counts = [0_i32; 6];
    (0..60_000).for_each(|_| counts[stream.up_to(5) as usize] += 1);
    // Five degrees of freedom: 20.5 is exceeded once in a thousand times.
    let deviation: f64 = counts.iter().map(|count| f64::from(count - 10_000).powi(2) / 10_000.0).sum();
    assert!(deviation < 20.5, "{counts:?}");
    let large = (0..1_000).filter(|_| stream.up_to(u32::MAX) > u32::MAX / 2).count();
    assert!((420..=580).contains(&large), "{large}");
}

#[test]
fn a_shuffle_has_every_card_once_and_every_order_is_equally_likely() {
    let mut stream = draw([2; 32]).chance(1);
    let mut counts = std::collections::HashMap::<ChanceOutcome, i32>::new();
    (0..24_000).for_each(|_| *counts.entry(stream.answer(ChanceRequest::Shuffle(4))).or_default() += 1);
    assert_eq!(counts.len(), 24);
    // 23 degrees of freedom: 49.7 is exceeded once in a thousand times.
    let deviation: f64 = counts.values().map(|count| f64::from(count - 1_000).powi(2) / 1_000.0).sum();
    assert!(deviation < 49.7, "{counts:?}");
    assert!(counts.keys().all(|order| ChanceRequest::Shuffle(4).outcomes().contains(order)));
}

#[test]
fn every_field_changes_the_stream_and_an_attempt_of_a_seeded_league_does_not() {
    let words = |draw: &Draw, game: u32| (0..8).map(|_| draw.chance(game).up_to(u32::MAX)).collect::<Vec<_>>();
    let own = draw([3; 32]);
    let seeded = Draw { seeded: true, ..own.clone() };
    for other in [
        draw([4; 32]),
        Draw { match_id: "R1M2".parse().unwrap(), ..own.clone() },
        Draw { attempt: 2, ..own.clone() },
        Draw { nonces: Pair::new(nonces().b, nonces().a), ..own.clone() },
        seeded.clone(),
    ] {
        assert_ne!(words(&other, 1), words(&own, 1), "{other:?}");
    }
    assert_ne!(words(&own, 1), words(&own, 2));
    assert_eq!(words(&Draw { attempt: 7, ..seeded.clone() }, 1), words(&seeded, 1));
    assert!(!format!("{:?}", own.chance(1)).contains("03"), "the words stay out of logs");
}
