//! What happens when the machine itself fails: what is lost is said, nothing is silently wrong, and the league goes on later.

mod damage;
mod descriptors;
mod disk;
mod ends;
mod places;
