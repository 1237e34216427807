//! OPC UA models: the corpus, and how it resolves.

mod aliases;
mod loading;
mod records;
mod resolve;
mod steps;
