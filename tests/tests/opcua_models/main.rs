//! OPC UA models: the corpus, and how it resolves.

mod records;
mod resolve;
