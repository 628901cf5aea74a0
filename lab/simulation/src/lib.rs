//! The whole league in a simulation that owns time, network, disk and chance.
//!
//! Manager, referees and players are the real ones; what is simulated is what `league_wire::net`, `league_wire::environment` and
//! `league_store::log` leave to others. A seed decides everything, and the same seed decides the same again: two runs of it
//! agree in every message and its time.
//!
//! - [`scenario`], [`weather`]: what a seed decides; [`dice`] is how
//! - [`net`], [`socket`], [`place`]: the network, from outside and from inside
//! - [`disk`]: the manager's, which keeps what was synced
//! - [`process`], [`agents`]: a runtime that can be killed, and what runs in it
//! - [`ledger`]: which faults struck whom
//! - [`judge`], [`bounds`]: what must hold, and how long things may take
//! - [`run`], [`trace`], [`moment`]: putting it together

pub mod agents;
pub mod bounds;
pub mod disk;
pub mod fault_log;
pub mod faults;
pub mod invariants;
pub mod net;
pub mod process;
pub mod process_id;
pub mod rng;
pub mod run;
pub mod scenario;
pub mod sim_time;
pub mod socket;
pub mod trace;
