//! Properties of draws: numbers are uniform, depend on every input, cannot be predicted, and equal those of another
//! implementation.
//!
//! The tests are deterministic: secrets are hashes of a counter.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

use league_core::rules::chance::{ChanceOutcome, ChanceRequest};
use league_core::rules::draw::{BadDraw, Draw};
use league_protocol::draw::{DrawCommitment, DrawNonce, DrawSeal, DrawSecret};
use league_protocol::id::{MatchId, RoundId};
use league_protocol::seal::{digest, seal};
use league_protocol::side::Pair;
use serde::Deserialize;
use smol_str::format_smolstr;

fn nonce(text: &str) -> DrawNonce {
    text.parse().unwrap()
}

fn draw(count: u32) -> Draw {
    Draw {
        secret: DrawSecret(digest(&count.to_be_bytes())),
        match_id: MatchId::of(RoundId(1 + count % 100), 1 + count / 100 % 50),
        attempt: 1 + count % 3,
        nonces: Pair::new(
            format_smolstr!("a{count}").try_into().unwrap(),
            format_smolstr!("b{}", count / 2).try_into().unwrap(),
        ),
        seeded: false,
    }
}

/// Computes the seal a second time, as PROTOCOL.md describes it and independently of the code.
fn sealed(key: &[u8; 32], draw: &Draw) -> [u8; 32] {
    let (match_id, attempt) = (draw.match_id.as_str().as_bytes(), draw.attempt.to_be_bytes());
    seal(key, &[match_id, &attempt, draw.nonces.a.as_bytes(), draw.nonces.b.as_bytes()])
}

/// The first byte below 250 decides.
fn number(bytes: &[u8]) -> u8 {
    1 + bytes.iter().find(|byte| **byte < 250).unwrap() % 10
}

/// Chi-square distance of `numbers` (1 to 10) from a uniform distribution.
fn chi_square(numbers: impl Iterator<Item = u8>) -> f64 {
    let mut counts = [0_u32; 10];
    for number in numbers {
        counts[usize::from(number) - 1] += 1;
    }
    let expected = f64::from(counts.iter().sum::<u32>()) / 10.0;
    counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}

/// Fair numbers exceed this chi-square once in a thousand times, with nine degrees of freedom.
const ONE_IN_A_THOUSAND: f64 = 27.88;

#[test]
fn a_million_draws_are_uniform() {
    let statistic = chi_square((0..1_000_000).map(|count| draw(count).number().get()));
    assert!(statistic < ONE_IN_A_THOUSAND, "chi-square {statistic}");
}

/// Among so many draws are hundreds whose first byte is 250 or more.
#[test]
fn the_seal_is_made_as_promised_and_its_first_byte_below_250_is_the_number() {
    for count in 0..10_000 {
        let draw = draw(count);
        let seal = draw.seal();
        assert_eq!(seal.0, sealed(&draw.secret.0, &draw), "draw {count}");
        assert_eq!((draw.number().get(), draw.number_in(&seal)), (number(&seal.0), draw.number()), "draw {count}");
    }
}

#[test]
fn a_draw_verifies_with_its_own_number_only() {
    for count in 0..1_000 {
        let draw = draw(count);
        let (commitment, expected) = (draw.secret.commitment(), draw.number().get());
        for claimed in 0..=11 {
            let verdict = if claimed == expected { Ok(()) } else { Err(BadDraw::Number { expected, claimed }) };
            assert_eq!(draw.verify(&commitment, Some(&draw.seal()), claimed), verdict);
            assert_eq!(draw.verify(&commitment, None, claimed), verdict, "without a seal");
        }
    }
}

/// The published seal detects each of a thousand changes of every field.
///
/// The number alone cannot, because one change in ten gives the same number by chance. The numbers of a thousand changes are as
/// uniform as fresh draws.
#[test]
fn every_changed_seal_secret_match_attempt_or_nonce_fails() {
    type Change = fn(&mut Draw, u32);
    let changes: [(&str, Change); 5] = [
        ("secret", |draw, n| match n {
            1..=256 => draw.secret.0[(n as usize - 1) / 8] ^= 1 << ((n - 1) % 8),
            _ => draw.secret = DrawSecret(digest(&(1_000 + n).to_be_bytes())),
        }),
        ("match", |draw, n| draw.match_id = MatchId::of(RoundId(1_000), n)),
        ("attempt", |draw, n| draw.attempt = 3 + n),
        ("nonce of A", |draw, n| draw.nonces.a = nonce(&format!("other {n}"))),
        ("nonce of B", |draw, n| draw.nonces.b = nonce(&format!("other {n}"))),
    ];
    let honest = draw(7);
    let (commitment, published, claimed) = (honest.secret.commitment(), honest.seal(), honest.number().get());
    assert_eq!(honest.verify(&commitment, Some(&published), claimed), Ok(()));
    for bit in 0..256 {
        let mut changed = published;
        changed.0[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(honest.verify(&commitment, Some(&changed), claimed), Err(BadDraw::Seal), "bit {bit}");
    }
    for (field, change) in changes {
        let changed: Vec<Draw> = (1..=1_000)
            .map(|n| {
                let mut draw = honest.clone();
                change(&mut draw, n);
                draw
            })
            .collect();

        for draw in &changed {
            let expected = if field == "secret" { BadDraw::Commitment } else { BadDraw::Seal };
            assert_eq!(draw.verify(&commitment, Some(&published), claimed), Err(expected), "{field}: {draw:?}");
            if field == "secret" {
                // It is refused with its own seal and number, too, even where they give the claimed number.
                let (own_seal, own_number) = (draw.seal(), draw.number().get());
                for seal in [Some(&own_seal), None] {
                    assert_eq!(draw.verify(&commitment, seal, own_number), Err(BadDraw::Commitment), "{draw:?}");
                    assert_eq!(draw.verify(&commitment, seal, claimed), Err(BadDraw::Commitment), "{draw:?}");
                }
            }
            // Changing the commitment with the secret does not help: the published seal is that of the honest secret.
            let own = draw.secret.commitment();
            assert_eq!(draw.verify(&own, Some(&published), claimed), Err(BadDraw::Seal), "{field}: {draw:?}");
        }

        let statistic = chi_square(changed.iter().map(|draw| draw.number().get()));
        assert!(statistic < ONE_IN_A_THOUSAND, "{field}: chi-square {statistic}");
        assert!(changed.iter().any(|draw| draw.number().get() == claimed), "{field}: the seal was never needed");
    }
}

#[test]
fn where_one_nonce_ends_and_whose_it_is_matters() {
    let with = |a: &str, b: &str| Draw { nonces: Pair::new(nonce(a), nonce(b)), ..draw(0) }.seal();
    assert_ne!(with("ab", "c"), with("a", "bc"));
    assert_ne!(with("ab", "c"), with("c", "ab"));
    assert_ne!(with("ab", ""), with("", "ab"));
}

/// Known mistakes of other schemes do not reveal the number from the commitment.
///
/// HMAC and SHA-256 guarantee that no function of the public data does better. The test shows that the draw does not break this
/// guarantee: it neither uses the commitment as secret nor hashes public data alone.
#[test]
fn what_is_public_before_the_reveal_predicts_no_better_than_chance() {
    /// Only the control, at the end, reads the secret of the draw.
    type Predictor = fn(DrawCommitment, &Draw) -> u8;
    let predictors: [(&str, Predictor); 8] = [
        ("the commitment for the secret", |commitment, draw| number(&sealed(&commitment.0, draw))),
        ("the hash of the commitment for the secret", |commitment, draw| number(&sealed(&digest(&commitment.0), draw))),
        ("no secret", |_, draw| number(&sealed(&[0; 32], draw))),
        ("the commitment itself", |commitment, _| number(&commitment.0)),
        ("the commitment from its end", |mut commitment, _| {
            commitment.0.reverse();
            number(&commitment.0)
        }),
        ("the hash of the commitment", |commitment, _| number(&digest(&commitment.0))),
        ("the seal of the nonces", |commitment, draw| {
            number(&seal(&commitment.0, &[draw.nonces.a.as_bytes(), draw.nonces.b.as_bytes()]))
        }),
        ("always seven", |_, _| 7),
    ];
    let hits = |predict: Predictor| {
        let (mut numbers, mut parities) = (0_u32, 0_u32);
        for count in 0..10_000 {
            let draw = draw(count);
            let predicted = predict(draw.secret.commitment(), &draw);
            let drawn = draw.number().get();
            numbers += u32::from(predicted == drawn);
            parities += u32::from(predicted % 2 == drawn % 2);
        }
        (numbers, parities)
    };
    for (name, predict) in predictors {
        let (numbers, parities) = hits(predict);
        // Chance gives 1,000 ± 30 and 5,000 ± 50; the test allows four deviations. Fewer hits than chance would reveal as much.
        assert!((880..=1_120).contains(&numbers), "{name}: {numbers} numbers");
        assert!((4_800..=5_200).contains(&parities), "{name}: {parities} parities");
    }
    assert_eq!(hits(|_, draw| number(&sealed(&draw.secret.0, draw))), (10_000, 10_000), "with the secret");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    secret: DrawSecret,
    commitment: DrawCommitment,
    match_id: MatchId,
    attempt: u32,
    nonce_a: DrawNonce,
    nonce_b: DrawNonce,
    #[serde(default)]
    seeded: bool,
    seal: DrawSeal,
    number: u8,
}

/// Python's `hmac` and `hashlib` computed the vectors. The third one skips two bytes and has a non-ASCII nonce, the last one is of a
/// league with a seed.
#[test]
fn the_published_vectors_hold() {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!("vectors/draws.json")).unwrap();
    assert_eq!(vectors.len(), 4);
    for Vector { secret, commitment, match_id, attempt, nonce_a, nonce_b, seeded, seal, number } in vectors {
        let draw = Draw { secret, match_id, attempt, nonces: Pair::new(nonce_a, nonce_b), seeded };
        assert_eq!(draw.verify(&commitment, Some(&seal), number), Ok(()), "{}", draw.match_id);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChanceVector {
    secret: DrawSecret,
    match_id: MatchId,
    attempt: u32,
    nonce_a: DrawNonce,
    nonce_b: DrawNonce,
    #[serde(default)]
    seeded: bool,
    game: u32,
    numbers: Vec<NumberVector>,
    shuffles: Vec<Vec<u8>>,
}

#[derive(Deserialize)]
struct NumberVector {
    up_to: u32,
    number: u32,
}

/// Python computed the vectors by the functions in PROTOCOL.md. The numbers and then the shuffles come from one stream.
#[test]
fn the_published_vectors_of_cards_and_dice_hold() {
    let vectors: Vec<ChanceVector> = serde_json::from_str(include_str!("vectors/chance.json")).unwrap();
    assert_eq!(vectors.len(), 4);
    for vector in vectors {
        let ChanceVector { secret, match_id, attempt, nonce_a, nonce_b, seeded, game, numbers, shuffles } = vector;
        let mut stream = Draw { secret, match_id, attempt, nonces: Pair::new(nonce_a, nonce_b), seeded }.chance(game);
        for NumberVector { up_to, number } in numbers {
            assert_eq!(stream.up_to(up_to), number, "up to {up_to}");
        }
        for order in shuffles {
            let cards = u8::try_from(order.len()).unwrap();
            assert_eq!(stream.answer(ChanceRequest::Shuffle(cards)), ChanceOutcome::Order(order));
        }
    }
}
