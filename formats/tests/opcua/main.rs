//! OPC UA models: versions, NodeSet files and index records.

mod check;
mod node_sets;
mod order;
mod several_models;

/// A NodeSet file with this in its root element.
pub(crate) fn file(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\">\n{content}\n</UANodeSet>\n"
    )
}
