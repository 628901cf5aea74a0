//! The whole league in a simulation that owns time, network, disk and chance.
//!
//! Manager, referees and players are the real ones. Simulated is what `league_wire::net`, `league_wire::environment` and
//! `league_store::log` leave open. A seed decides everything: two runs of one seed agree in every message and its time.
//!
//! - [`scenario`], [`faults`]: what a seed decides, with [`rng`]
//! - [`net`], [`socket`], [`process_id`]: the network, from outside and from inside
//! - [`disk`]: the manager's disk, which keeps what was synced
//! - [`process`], [`agents`]: a runtime that can be killed, and what runs in it
//! - [`fault_log`]: which faults hit which agents
//! - [`invariants`], [`bounds`]: what must hold, and how long things may take
//! - [`run`], [`trace`], [`sim_time`]: one run, and its printout

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
