//! Names the parts of a collection as its users call them.

use std::fmt;

/// A part of a collection that users call by a name: a plug-in, a role or a playbook.
///
/// ```
/// use pkgres_formats::ansible::ContentName;
///
/// let page = ContentName::of_class("acme.web", "acme.web.plugins.modules.page").expect("a module");
/// assert_eq!(page.to_string(), "acme.web.page");
/// assert_eq!(page.kind(), "Module");
/// assert_eq!(ContentName::of_class("acme.web", "acme.web.plugins.modules.page.main"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentName<'class> {
    collection: &'class str,
    /// The folder with it, such as `modules`, `lookup` or `roles`.
    pub folder: &'class str,
    /// The name without that of the collection.
    pub name: &'class str,
}

impl<'class> ContentName<'class> {
    /// The part that a class of a collection is; `None` for names in modules, folders, and files in folders of plug-ins.
    pub fn of_class(collection: &'class str, class: &'class str) -> Option<Self> {
        let path = class.strip_prefix(collection)?.strip_prefix('.')?;
        // A role can be in other folders, and has no names in it.
        if let Some(name) = path.strip_prefix("roles.") {
            return Some(Self {
                collection,
                folder: "roles",
                name,
            });
        }
        let mut parts = path.split('.');
        let mut folder = parts.next()?;
        match folder {
            "plugins" => folder = parts.next()?,
            "playbooks" => {}
            _ => return None,
        }
        let name = parts.next().filter(|name| *name != "*")?;
        let is_whole = parts.next().is_none();
        is_whole.then_some(Self {
            collection,
            folder,
            name,
        })
    }

    /// What it is, in words.
    pub fn kind(&self) -> String {
        match self.folder {
            "modules" => "Module".to_owned(),
            "module_utils" => "Module utility".to_owned(),
            "doc_fragments" => "Documentation fragment".to_owned(),
            "roles" => "Role".to_owned(),
            "playbooks" => "Playbook".to_owned(),
            other => {
                let words = other.replace('_', " ");
                let (first, rest) = words.split_at(words.len().min(1));
                format!("{}{rest} plug-in", first.to_ascii_uppercase())
            }
        }
    }

    /// Whether playbooks call it by its name. Those of filters and tests are not the names of their files.
    pub fn is_callable(&self) -> bool {
        const CALLABLE: [&str; 8] = [
            "modules",
            "action",
            "lookup",
            "become",
            "connection",
            "strategy",
            "roles",
            "playbooks",
        ];
        CALLABLE.contains(&self.folder)
    }
}

impl fmt::Display for ContentName<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.collection, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::ContentName;

    #[test]
    fn plugins_roles_and_playbooks_have_names() {
        for (class, expected) in [
            ("a.b.plugins.modules.page", Some("Module a.b.page")),
            ("a.b.plugins.lookup.dig", Some("Lookup plug-in a.b.dig")),
            (
                "a.b.plugins.module_utils.common",
                Some("Module utility a.b.common"),
            ),
            ("a.b.roles.web-server", Some("Role a.b.web-server")),
            ("a.b.roles.net.tcp", Some("Role a.b.net.tcp")),
            ("a.b.playbooks.site", Some("Playbook a.b.site")),
            ("a.b.plugins.modules.page.main", None),
            ("a.b.plugins.modules.*", None),
            ("a.b.plugins.modules", None),
            ("a.b.plugins", None),
            ("a.b.docs.x", None),
            ("a.bc.roles.x", None),
            ("a.b", None),
        ] {
            let found = ContentName::of_class("a.b", class);
            let shown = found.map(|found| format!("{} {found}", found.kind()));
            assert_eq!(shown.as_deref(), expected, "{class}");
        }
        for (class, is_callable) in [
            ("a.b.plugins.modules.page", true),
            ("a.b.roles.web", true),
            ("a.b.plugins.filter.texts", false),
            ("a.b.plugins.module_utils.common", false),
        ] {
            let found = ContentName::of_class("a.b", class).expect("a part");
            assert_eq!(found.is_callable(), is_callable, "{class}");
        }
    }
}
