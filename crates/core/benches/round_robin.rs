//! Measures all 499,500 pairings of a round robin of 1,000 players.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use league_core::season::format::KnownFormat;

fn round_robin(criterion: &mut Criterion) {
    let format = KnownFormat::default();
    criterion.bench_function("all 499,500 pairings of 1,000 players", |bench| {
        bench.iter(|| (1..).map_while(|round| format.planned_round(black_box(1_000), round)).count());
    });
}

criterion_group!(benches, round_robin);
criterion_main!(benches);
