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
    let number = hasher.finish();
    let pick = |words: &[&'static str; 16], shift: u32| words[(number >> shift) as usize % words.len()];
    format_smolstr!("{} {} {}", pick(&COLOURS, 0), pick(&ANIMALS, 4), contact.port())
}
