//! Shared by the fuzz targets: our agents without a network, in a runtime with a paused clock.

#![forbid(unsafe_code)]

pub mod agents;
pub mod memory_net;
