mod callers;
mod peers;
