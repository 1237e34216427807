//! A registry of class packages.
