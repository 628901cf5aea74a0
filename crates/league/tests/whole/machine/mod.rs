//! Failures of the machine: every loss is reported, nothing is silently wrong, and the league continues later.

mod damage;
#[cfg(unix)]
mod descriptors;
#[cfg(unix)]
mod disk;
#[cfg(unix)]
mod ends;
mod places;
#[cfg(unix)]
mod private;
mod tampering;
#[cfg(unix)]
mod vanished;
