//! Methods of a resource that wraps another one.

/// Forwards the methods of [`Resource`](crate::Resource) that a wrapper does not change to the resource in its field.
///
/// `definition`, `check` and `may_remedy` are where wrappers differ. `is_reversible` and `reversed` are for those that are
/// still to be wrapped for a run. `group`, `grouped`, `contradicts` and `as_any` would give away the resource without its
/// wrapper: resources are grouped and compared before they are wrapped for a run, and no kind with `force` has them.
macro_rules! forward_resource {
    ($field:ident) => {
        fn watching(&self, probe: &dyn $crate::Probe) -> $crate::Watching {
            self.$field.watching(probe)
        }

        fn identifiers(&self) -> Vec<$crate::Identifier> {
            self.$field.identifiers()
        }

        fn wishes(&self) -> Vec<$crate::Wish> {
            self.$field.wishes()
        }

        fn sends(&self) -> &[(&str, $crate::ValueType)] {
            self.$field.sends()
        }

        fn receives(&self) -> &[(&str, $crate::ValueType)] {
            self.$field.receives()
        }

        fn presence(&self) -> $crate::Presence {
            self.$field.presence()
        }

        fn may_make_folder(&self, folder: &std::path::Path) -> bool {
            self.$field.may_make_folder(folder)
        }

        fn may_open_folder(&self, folder: &std::path::Path) -> bool {
            self.$field.may_open_folder(folder)
        }

        fn is_plain_file(&self) -> bool {
            self.$field.is_plain_file()
        }

        fn is_refreshable(&self) -> bool {
            self.$field.is_refreshable()
        }
    };
}
pub(crate) use forward_resource;
