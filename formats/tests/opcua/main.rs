//! OPC UA models: versions, NodeSet files and index records.

mod check;
mod node_sets;
mod order;
