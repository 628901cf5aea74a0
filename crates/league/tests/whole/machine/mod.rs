//! What happens when the machine itself fails: what is lost is said, nothing is silently wrong, and the league goes on later.

mod damage;
#[cfg(unix)]
mod descriptors;
#[cfg(unix)]
mod disk;
#[cfg(unix)]
mod ends;
mod places;
