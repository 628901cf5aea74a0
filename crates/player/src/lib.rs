//! Who plays: strategies, and the agent around them.
