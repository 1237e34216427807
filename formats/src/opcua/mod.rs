//! OPC UA information models.
