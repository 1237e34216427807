//! The extended attributes of a file, such as its access control list, its security label and its capabilities.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

/// The longest list of names, and the longest value, that Linux has.
const MOST_BYTES: usize = 64 << 10;

/// The access control list. A new file inherits one if its folder has a default.
const ACCESS_CONTROL_LIST: &CStr = c"system.posix_acl_access";

/// What says something about the content of a file, which changes.
const OF_CONTENT: [&CStr; 2] = [c"security.ima", c"security.evm"];

/// The extended attributes of a file.
pub(crate) struct ExtendedAttributes(Vec<(CString, Vec<u8>)>);

impl ExtendedAttributes {
    /// Those of a file that is open for reading, except for those that say something about its content.
    pub(crate) fn of(file: impl AsFd) -> io::Result<Self> {
        let mut names = vec![0; MOST_BYTES];
        let length = match flistxattr(&file, &mut names) {
            Ok(length) => length,
            // This file system has none.
            Err(Errno::NOTSUP) => 0,
            Err(errno) => return Err(errno.into()),
        };
        let mut found = Vec::new();
        for name in names[..length].split_inclusive(|byte| *byte == 0) {
            let name = CStr::from_bytes_with_nul(name).map_err(io::Error::other)?;
            if OF_CONTENT.contains(&name) {
                continue;
            }
            if let Some(value) = value_of(&file, name)? {
                found.push((name.to_owned(), value));
            }
        }
        Ok(Self(found))
    }

    /// Gives them to another file.
    ///
    /// # Errors
    ///
    /// One of them cannot be set; the error names it.
    pub(crate) fn apply(&self, file: impl AsFd) -> io::Result<()> {
        let Self(attributes) = self;
        let has_list = attributes
            .iter()
            .any(|(name, _)| **name == *ACCESS_CONTROL_LIST);
        if !has_list && value_of(&file, ACCESS_CONTROL_LIST)?.is_some() {
            fremovexattr(&file, ACCESS_CONTROL_LIST)?;
        }
        for (name, value) in attributes {
            // The system may have set the same one, such as a label, which not everybody may set.
            if value_of(&file, name)?.as_ref() == Some(value) {
                continue;
            }
            fsetxattr(&file, name.as_c_str(), value, XattrFlags::empty()).map_err(|errno| {
                let error = io::Error::from(errno);
                let name = name.to_string_lossy();
                let message = format!("its extended attribute {name} cannot be kept: {error}");
                io::Error::new(error.kind(), message)
            })?;
        }
        Ok(())
    }
}

fn value_of(file: impl AsFd, name: &CStr) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0; MOST_BYTES];
    match fgetxattr(file, name, &mut value) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}
