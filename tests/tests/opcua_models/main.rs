//! OPC UA models: the corpus, and how it resolves.

mod loading;
mod records;
mod resolve;
mod steps;
