//! What the fuzz targets have in common: agents of ours without a network, in a runtime whose clock waits for nobody.

#![forbid(unsafe_code)]

pub mod house;
pub mod pipe;
