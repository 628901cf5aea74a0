//! The whole league in a simulation that controls time, network, disk and randomness.
//!
//! Manager, referees and players are the real ones. The simulation implements `league_wire::net`,
//! `league_wire::environment` and `league_store::log`. A seed decides everything: two runs of one seed agree in every
//! message and its time.
//!
//! - [`scenario`], [`faults`], [`rng`]: what a seed decides
//! - [`net`], [`socket`], [`process_id`]: the network
//! - [`disk`]: the manager's disk, which keeps what was synced; [`shared_store`]: a store of two managers
//! - [`process`], [`agents`]: a runtime that can be killed, and what runs in it
//! - [`fault_log`]: which faults hit which agents
//! - [`hostile`]: referees and players that lie
//! - [`invariants`], [`bounds`]: what must hold, and how long things may take
//! - [`run`], [`trace`], [`sim_time`]: one run, and its trace

pub mod agents;
pub mod bounds;
pub mod disk;
pub mod fault_log;
pub mod faults;
pub mod hostile;
pub mod invariants;
pub mod net;
pub mod process;
pub mod process_id;
pub mod rng;
pub mod run;
pub mod scenario;
pub mod shared_store;
pub mod sim_time;
pub mod socket;
pub mod trace;
