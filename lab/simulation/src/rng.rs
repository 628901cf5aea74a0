//! Random numbers from a seed. Every purpose has its own generator: one more number in one place changes nothing in
//! another.

use std::time::Duration;

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64, purpose: &[u64]) -> Self {
        let mut rng = Self(seed);
        for part in purpose {
            rng.0 = rng.next_u64() ^ part.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        }
        rng
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Both included.
    pub fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.next_u64() % (most.saturating_sub(least) + 1)
    }

    pub fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.within(least, most))
    }

    pub fn happens(&mut self, per_mille: u64) -> bool {
        self.within(0, 999) < per_mille
    }

    /// `fallback` if there are no choices.
    pub fn pick<T: Copy>(&mut self, choices: &[T], fallback: T) -> T {
        let last = (choices.len() as u64).saturating_sub(1);
        let place = usize::try_from(self.within(0, last)).unwrap_or_default();
        choices.get(place).copied().unwrap_or(fallback)
    }

    pub fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for part in bytes.chunks_exact_mut(8) {
            part.copy_from_slice(&self.next_u64().to_le_bytes());
        }
        bytes
    }
}
