//! The stable codes of findings.

use std::fmt;

macro_rules! codes {
    ($($(#[doc = $documentation:literal])+ $name:ident = $number:literal, $title:literal;)+) => {
        /// The stable code of a finding, shown as `PK` and four digits.
        ///
        /// A code keeps its meaning for ever; codes of findings that no longer exist are not
        /// used again.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $documentation])+ $name,)+
        }

        impl Code {
            /// Every code, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The number after `PK`.
            pub fn number(self) -> u16 {
                match self { $(Self::$name => $number,)+ }
            }

            /// What the code stands for, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// What the code stands for and what to do about it, in a few sentences.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$name => concat!($($documentation, "\n"),+),)+ }
            }
        }
    };
}

codes! {
    /// An input is larger, deeper or has more parts than its limit. The message names the limit
    /// and its value; limits can be raised by programs that embed the libraries.
    Limit = 1, "a limit is exceeded";
    /// The text is not well-formed YAML or JSON.
    Syntax = 2, "not well-formed";
    /// A spec such as `>1`, `>=1` or `*` stands unquoted in YAML, where these characters mean
    /// something else: `>1` is an empty block of text and the others are errors. Quote the spec.
    UnquotedSpec = 3, "the spec must be quoted";
    /// A mapping has the same key twice. Readers of YAML differ in which one they take, so
    /// neither is taken.
    DuplicateKey = 4, "a key stands twice";
    /// Anchors, aliases, merge keys, tags and directives are not allowed: no real package uses
    /// them, and each of them has been the way into some reader of YAML.
    ForbiddenYaml = 5, "a feature of YAML that is not allowed";
    /// The text is not UTF-8, or holds control characters.
    Encoding = 6, "not plain UTF-8 text";
    /// A field is missing, has the wrong shape or a value that is not allowed.
    Field = 7, "a field is wrong";
    /// A text is not the fully qualified name of a package or class.
    Name = 8, "not a fully qualified name";
    /// A text is not a version in the sense of Semantic Versioning 2.0.
    Version = 9, "not a version";
    /// A text is not a spec.
    Spec = 10, "not a spec";
    /// No registry has a package of this name.
    UnknownPackage = 11, "no such package";
    /// The requirements on a package leave none of its versions.
    NoVersion = 12, "no version satisfies everyone";
    /// A class extends a class that no package which is required defines, in any version that
    /// could be chosen.
    ClassUnavailable = 13, "a class is not available";
    /// A class would inherit two classes of one name: the same class in two versions, or a class
    /// that two packages define.
    Diamond = 14, "a class would inherit two versions of one class";
    /// Classes extend each other in a circle.
    ClassCycle = 15, "classes extend each other";
    /// The solver found no answer in the steps that it was given. This says nothing about whether
    /// there is a solution; `--max-steps` gives it more steps.
    GaveUp = 16, "gave up";
    /// A package requires itself. A package finds its own classes without a requirement.
    SelfRequirement = 17, "a package requires itself";
    /// The `Format` of a package is a version of a known format that is not supported.
    Format = 18, "an unknown format";
    /// A path leaves the package, or could not be stored on every file system.
    Path = 19, "not a path inside the package";
    /// The lockfile is damaged or was edited by hand.
    LockUnreadable = 20, "the lockfile cannot be read";
    /// The lockfile does not fit the manifest or the registries any more.
    LockStale = 21, "the lockfile is out of date";
    /// The lockfile holds the markers of a merge conflict, or two versions of a package where
    /// one is expected.
    LockConflict = 22, "the lockfile is an unresolved merge";
    /// The lockfile was written by a newer pkgres.
    LockFormat = 23, "the lockfile is of a newer format";
    /// There is no lockfile.
    LockMissing = 24, "there is no lockfile";
    /// An archive is not a plain zip file: a byte belongs to no record or to two, headers
    /// disagree, or an entry is not a plain stored or deflated file.
    Archive = 30, "not a package archive";
    /// A folder or archive is not a package: the manifest or a class file is missing.
    PackageShape = 31, "not a package";
    /// A file has another digest than the one that was recorded for it.
    Digest = 32, "the digest differs";
    /// A registry could not be read. This is not the same as a registry without the package.
    RegistryUnreachable = 40, "a registry cannot be reached";
    /// A registry holds two releases with the same name and version but different content.
    DuplicateRelease = 41, "a release stands twice";
    /// A package in a registry cannot be read; the rest of the registry can.
    BrokenPackage = 42, "a package cannot be read";
    /// A line of an index is not an index record.
    IndexRecord = 43, "not an index record";
    /// What a registry says of its state does not fit what it said before: it is not signed by the
    /// key that is known, it is older, it has expired, or a document does not belong to it. Either
    /// the registry was restored or moved, or somebody stands between. Ask whoever runs it.
    Untrusted = 44, "the state of a registry cannot be believed";
    /// Something is needed that is not in the cache, and `--offline` forbids to ask for it.
    Offline = 45, "not in the cache";
    /// A registry wants to know who asks, or does not let them. `pkgres login` keeps a token.
    Denied = 46, "a registry denies access";
    /// A registry refused to publish or to withdraw a release.
    Refused = 47, "a registry refused";
    /// A database offers no TLS, though its address asks for it with `sslmode`.
    NoTls = 48, "TLS is asked for and not offered";
    /// The certificate of a database is by an authority that is not believed, for another host, or
    /// out of date. `sslrootcert` in the address names the file of an authority of one's own.
    Certificate = 49, "a certificate is not trusted";
    /// A document of a class file does not define a class, or a part of one is not what it has to be.
    ClassFile = 50, "not a class file";
    /// A class has no usable name, or two classes have the same one.
    ClassName = 51, "a class name is wrong";
    /// A namespace prefix is not declared or not well-formed.
    Namespace = 52, "a namespace is wrong";
    /// `Extends` is not a class name or a list of them, or names what cannot be extended.
    Extends = 53, "`Extends` is wrong";
    /// A contract is not an expression that can be read.
    Contract = 54, "a contract is wrong";
    /// The `Usage` of a property is none of those that there are.
    PropertyUsage = 55, "no such usage of a property";
    /// A document is not an object model.
    Model = 60, "not an object model";
    /// Several packages define the class of an object that names no package.
    ModelAmbiguous = 61, "an object's package is ambiguous";
    /// An object is pinned to a version that is not there any more.
    ModelGone = 62, "a pinned version is gone";
    /// An object does not fulfil the contract of the property that holds it.
    ModelContract = 63, "a contract is not met";
    /// The object model leaves something unpinned, or lists packages that no object uses.
    ModelUnpinned = 64, "the object model is not fully pinned";
    /// A package takes any version 0 of the core library because its manifest says nothing.
    CoreUnpinned = 70, "the core library is unpinned";
    /// A spec that no version matches.
    EmptySpec = 71, "no version matches the spec";
    /// A key that means nothing here.
    UnknownKey = 72, "an unknown key";
    /// A package is required but none of its classes is named.
    UnusedRequirement = 73, "a requirement is not used";
    /// The manifest lists a class that its file does not define.
    ClassNotDefined = 74, "a class is listed but not defined";
    /// The classes of a package of this type are not read.
    ClassesNotRead = 75, "the classes were not read";
    /// A class is used that no package which is required defines.
    UndefinedUse = 76, "a class is used but not defined";
    /// A contract has parts that only the deployment engine can check.
    ContractNotChecked = 77, "a contract was not checked";
    /// A registry published a release and says that something may be amiss, such as a name that is
    /// easily taken for that of a package of others.
    PublishWarning = 78, "a registry warns of a release";
    /// A file cannot be read or written.
    File = 90, "a file cannot be read or written";
    /// The command line or the settings make no sense together.
    Usage = 91, "wrong usage";
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PK{:04}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_ascending() {
        assert!(
            Code::ALL
                .windows(2)
                .all(|pair| pair[0].number() < pair[1].number())
        );
        assert_eq!(Code::NoVersion.to_string(), "PK0012");
        assert!(Code::GaveUp.explanation().contains("--max-steps"));
    }
}
