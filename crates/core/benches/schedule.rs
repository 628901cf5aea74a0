//! How long all 499,500 pairings of a season of 1,000 players take, and finding one of them again.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use league_core::season::schedule::Schedule;

fn schedule(criterion: &mut Criterion) {
    let schedule = Schedule::new(1_000);
    criterion.bench_function("all 499,500 pairings of 1,000 players", |bench| {
        bench.iter(|| {
            let season = (1..=black_box(schedule).rounds()).flat_map(|round| schedule.round(round));
            season.fold(0_u64, |sum, pairing| sum + u64::from(pairing.a) + 2 * u64::from(pairing.b))
        });
    });
    criterion.bench_function("where two of 1,000 players meet", |bench| {
        bench.iter(|| black_box(schedule).meeting(black_box(123), black_box(876)));
    });
}

criterion_group!(benches, schedule);
criterion_main!(benches);
