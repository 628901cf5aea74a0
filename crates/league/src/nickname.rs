//! Names of agents that have none.

use std::hash::{DefaultHasher, Hash, Hasher};

use league_wire::endpoint::Endpoint;
use smol_str::{SmolStr, format_smolstr};

const COLOURS: [&str; 16] = [
    "Amber", "Azure", "Coral", "Crimson", "Emerald", "Golden", "Indigo", "Ivory", "Jade", "Lilac", "Ochre", "Ruby",
    "Scarlet", "Silver", "Teal", "Violet",
];
const ANIMALS: [&str; 16] = [
    "Badger", "Beaver", "Falcon", "Fox", "Hare", "Heron", "Lynx", "Marten", "Newt", "Otter", "Owl", "Puffin", "Raven",
    "Seal", "Stork", "Wren",
];

/// A name like `Amber Otter 8101`. It depends only on the address: it stays the same after a restart, and two agents on
/// one machine differ in their ports.
pub(crate) fn nickname(contact: &Endpoint) -> SmolStr {
    let mut hasher = DefaultHasher::new();
    (contact.host(), contact.port()).hash(&mut hasher);
    named(hasher.finish(), contact.port())
}

/// A name for an agent that has no address of its own. Agents of many machines differ.
pub(crate) fn random_nickname(random: &[u8; 32]) -> SmolStr {
    let [a, b, c, d, e, f, g, h, ..] = *random;
    let number = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    named(number, format_args!("{:08x}", number >> 32))
}

fn named(number: u64, last: impl std::fmt::Display) -> SmolStr {
    let pick = |words: &[&'static str; 16], shift: u32| words[(number >> shift) as usize % words.len()];
    format_smolstr!("{} {} {last}", pick(&COLOURS, 0), pick(&ANIMALS, 4))
}
