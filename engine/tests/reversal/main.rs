//! Resources that are gone from the graph, and what was there before them: on a folder that is the root of a machine.

mod kinds;
mod left_out;
mod owed;
mod replaced;
mod runs;
mod several_applications;
mod support;
mod twice;
