//! The stable codes of findings.

use std::fmt;

macro_rules! codes {
    ($($(#[doc = $documentation:literal])+ $name:ident = $number:literal, $title:literal;)+) => {
        /// The stable code of a finding, shown as `PK` and four digits.
        ///
        /// A code never changes its meaning, and the number of a code that was removed is never
        /// reused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $documentation])+ $name,)+
        }

        impl Code {
            /// All codes, ordered by number.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The number after `PK`.
            pub fn number(self) -> u16 {
                match self { $(Self::$name => $number,)+ }
            }

            /// The meaning of the code in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// The meaning of the code and what to do about it, in a few sentences.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$name => concat!($($documentation, "\n"),+),)+ }
            }
        }
    };
}

codes! {
    /// An input is larger, more deeply nested or has more elements than the limit. The message gives the limit and its
    /// value. Programs that embed the libraries can raise limits. On the command line, settings raise the limits for
    /// registries on the network, and a hint names the setting.
    Limit = 1, "a limit is exceeded";
    /// The text is not well-formed YAML or JSON.
    Syntax = 2, "malformed YAML or JSON";
    /// A spec that begins with `>`, `>=` or `*` has no quotes. Without them, YAML reads `>1` as a block scalar, and
    /// rejects `>=1` and `*`.
    UnquotedSpec = 3, "a spec without quotes";
    /// A mapping has the same key twice. YAML readers disagree about which of the two values counts, so pkgres takes
    /// neither.
    DuplicateKey = 4, "a duplicate key";
    /// The file uses an anchor, an alias, a merge key, a directive, or a tag other than `!yaql` in a
    /// class file. pkgres does not allow them: no known package uses them, and each has made some
    /// YAML reader vulnerable.
    ForbiddenYaml = 5, "a forbidden feature of YAML";
    /// The text is not UTF-8, begins with a byte order mark where none is allowed, or contains
    /// control characters.
    Encoding = 6, "not plain UTF-8 text";
    /// A field is missing, has the wrong type, or has a value that is not allowed.
    Field = 7, "an invalid field";
    /// The text is not a fully qualified name, such as `org.example.Name`.
    Name = 8, "an invalid name";
    /// The text is not a version. Versions follow Semantic Versioning 2.0; `1` and `1.2` are short
    /// for `1.0.0` and `1.2.0`.
    Version = 9, "an invalid version";
    /// The text is not a spec, such as `1.2` or `>=1.2, <3`. `pkgres spec SPEC` shows what a spec
    /// means.
    Spec = 10, "an invalid spec";
    /// No registry has a package of this name. Check the spelling, and that pkgres reads the registry
    /// that has the package.
    UnknownPackage = 11, "an unknown package";
    /// The requirements for a package exclude all of its versions. The message names the requirements that conflict,
    /// each with its owner. If there are many, `pkgres explain` lists them all.
    NoVersion = 12, "no version satisfies all requirements";
    /// A class extends another one, but none of the releases that can be chosen defines that
    /// class. A class may extend classes of its own package, of the core library and of packages
    /// that the manifest requires directly.
    ClassUnavailable = 13, "a parent class is not available";
    /// A class would inherit two classes of the same name: two versions of one class, or two
    /// different classes of that name from two packages.
    Diamond = 14, "a class would inherit two versions of one class";
    /// Classes extend each other in a cycle.
    ClassCycle = 15, "classes extend each other";
    /// The solver reached its limit of steps before it found an answer. There may or may not be a
    /// solution. `--max-steps` sets a higher limit.
    GaveUp = 16, "the solver gave up";
    /// A package requires itself. A package finds its own classes without that.
    SelfRequirement = 17, "a package requires itself";
    /// The manifest's `Format` names a version of MuranoPL or Heat.HOT that pkgres does not
    /// support.
    Format = 18, "an unsupported format";
    /// A path leads outside of the package, or is not valid on every file system.
    Path = 19, "an invalid path";
    /// The lockfile is damaged, or an edit by hand broke it.
    LockUnreadable = 20, "the lockfile cannot be read";
    /// The lockfile no longer matches the manifest or the registries. The message lists each difference.
    LockStale = 21, "the lockfile is out of date";
    /// The lockfile contains the markers of a merge conflict, or two versions of a package where only one is expected.
    LockConflict = 22, "the lockfile is an unresolved merge";
    /// A newer version of pkgres wrote the lockfile.
    LockFormat = 23, "the lockfile has a newer format";
    /// The command needs a lockfile and there is none. `pkgres lock` writes it.
    LockMissing = 24, "there is no lockfile";
    /// An archive cannot be read. Class packages are zip files without gaps, overlaps or contradictory headers, whose
    /// entries are stored or deflated; `pkgres pack` makes them. A collection is a gzipped tar file.
    Archive = 30, "an invalid package archive";
    /// The folder or archive is not a package: its manifest or one of its class files is missing.
    PackageShape = 31, "not a package";
    /// The content of a release or file does not match the digest that was recorded for it.
    Digest = 32, "a digest does not match";
    /// A registry cannot be read. It may still have the package, so pkgres does not continue without
    /// it. `pkgres serve` reports the same if it cannot open its data or listen at its address, and `pkgres fetch`
    /// if a registry has no archive of a release that it lists.
    RegistryUnreachable = 40, "a registry cannot be read";
    /// A registry has two releases of the same name and version with different content. In a folder of class packages,
    /// this is an error. In an index file and among releases of other ecosystems, it is a warning, and the version is
    /// not used unless the lockfile has the digest of one of them.
    DuplicateRelease = 41, "a duplicate release";
    /// A package in a registry cannot be read. pkgres uses the rest of the registry.
    BrokenPackage = 42, "a package cannot be read";
    /// A line of an index file is not an index record.
    IndexRecord = 43, "an invalid index record";
    /// The signed state of a registry contradicts what was seen before: the known key did not sign
    /// it, it is older, it has expired, or it does not cover a document. Either the registry was
    /// moved, restored from a backup or replaced by another one at the same address, or an attacker tampers
    /// with the connection. Ask the operator of the registry. If the change is legitimate,
    /// `pkgres cache forget NAME` makes pkgres trust the registry again as if for the first time.
    Untrusted = 44, "the state of a registry is not trusted";
    /// `--offline` is set, and something that the command needs is not in the cache. Run the
    /// command once without `--offline`.
    Offline = 45, "not in the cache";
    /// A registry requires a token or rejected the token that was sent, or pkgres cannot read the stored token.
    /// `pkgres login` stores a token.
    Denied = 46, "a registry denies access";
    /// A registry rejected a request to publish or yank a release, or to change owners or tokens.
    Rejected = 47, "a registry rejects a request";
    /// The address of the database asks for TLS with `sslmode`, and the database does not offer it.
    NoTls = 48, "the database offers no TLS";
    /// The certificate of the database has expired, is for another host, or was issued by an authority that is not
    /// trusted.
    Certificate = 49, "a certificate is not trusted";
    /// A document in a class file does not define a class, or a part of the class has the wrong
    /// form.
    ClassFile = 50, "an invalid class file";
    /// A class has no valid name, or two classes have the same name. One class of a file may omit `Name`: it is then the
    /// class that the manifest lists for the file.
    ClassName = 51, "an invalid class name";
    /// A class name has a prefix that is not declared under `Namespaces`, or its full form is not a valid class
    /// name.
    Namespace = 52, "an invalid namespace";
    /// `Extends` is neither a class name nor a list of class names, names a class twice, or names
    /// the class itself.
    Extends = 53, "an invalid `Extends`";
    /// A contract cannot be parsed, calls a function that does not exist, or rejects the default of its property. The
    /// deployment engine would report this only when it checks a value against the contract.
    Contract = 54, "an invalid contract";
    /// A property, method or argument has a `Usage` that does not exist.
    PropertyUsage = 55, "an unknown usage";
    /// The body of a method uses a member that its class does not have, calls a method with arguments that it does
    /// not take, or creates an object without the values that it needs. The member may have been removed from a
    /// required package: `pkgres semver` shows what changed between two of its versions.
    MemberUnavailable = 56, "a used member is not available";
    /// The document is not an object model, an object has a class that no package defines, or its header has two
    /// versions that contradict each other: pkgres reads `version`, and Murano reads the version in `type` or, without
    /// one, `classVersion`.
    Model = 60, "an invalid object model";
    /// Several packages define the class of an object that does not name its package. Add `package`
    /// to the object's header.
    ModelAmbiguous = 61, "the package of an object is ambiguous";
    /// An object is pinned to a version that no longer exists. `pkgres pin --fallback` takes the newest version that
    /// can be chosen with the same major and minor number or, if there is none, with the same major number.
    ModelGone = 62, "a pinned version is gone";
    /// A value in the object model violates the contract of the property that holds it.
    ModelContract = 63, "a contract is violated";
    /// An object has no pinned version, or the model's list of packages does not match its objects.
    /// `pkgres pin` writes both.
    ModelUnpinned = 64, "the object model is not fully pinned";
    /// The manifest does not require the core library. Without a requirement, only its 0.x versions can be chosen,
    /// but newer ones exist. To use them, add the core library to `Require`.
    CoreUnpinned = 70, "newer versions of the core library are not accepted";
    /// No version can match the spec, as in `>=2, <1`.
    EmptySpec = 71, "a spec that matches no version";
    /// A file has an unknown key. It may be misspelt, or belong somewhere else.
    UnknownKey = 72, "an unknown key";
    /// The manifest requires a package, but the package's classes are not used. The requirement may
    /// be superfluous.
    UnusedRequirement = 73, "an unused requirement";
    /// The manifest lists a class that its file does not define.
    ClassNotDefined = 74, "a listed class is not defined";
    /// pkgres does not read the classes of packages with this `Format`, or no registry has the package, so it checks
    /// nothing about them.
    ClassesNotRead = 75, "classes were not read";
    /// A class uses another one that no required package defines.
    UndefinedUse = 76, "a used class is not defined";
    /// A contract has parts that only the deployment engine can evaluate, or no registry has the class that declares
    /// it. pkgres checked the rest.
    ContractNotChecked = 77, "a contract was not checked";
    /// A registry published the release, but warns about it: for example, its name is easily
    /// confused with that of another owner's package.
    PublishWarning = 78, "a registry warns about a release";
    /// The differences between the classes of two versions of a package require a larger version bump.
    /// Dependants rely on the bump: a package that requires `1` gets every version below 2.
    /// `pkgres semver` lists the differences, and `pkgres explain RULE` explains the rule of each.
    VersionBump = 79, "the version bump is too small";
    /// A model extends types of a model that it does not require, or a collection imports modules of a collection that
    /// is not among its dependencies. So nothing ensures that a suitable release of the other one is chosen, or that it
    /// is chosen at all.
    NotRequired = 85, "a package that is not required";
    /// A range allows versions that lack something that is imported, or the newest version in the range lacks something
    /// that is used. pkgres never chooses a version that lacks an import, but other programs do. A version that lacks
    /// something that is only used, such as a module in a playbook, is excluded by `--strict-uses`.
    RangeTooWide = 86, "a range allows versions that lack something";
    /// Something that is used is deprecated, and the range already allows a version that no longer has it.
    RemovedSoon = 87, "something that is used will be removed";
    /// A file cannot be read or written.
    File = 90, "a file cannot be read or written";
    /// Arguments or settings are invalid, or contradict each other.
    Usage = 91, "wrong usage";
    /// A validation file does not follow the grammar: it has an unknown key or validator, a value of the wrong
    /// kind, or a reserved name.
    Validation = 95, "an invalid validation file";
    /// A validation uses an argument that it does not declare. Scripts get no value for it, and a choice that
    /// depends on it cannot be made.
    UndeclaredArgument = 96, "an argument is not declared";
    /// An `argument_case` has no case for one of the choices of its argument. With this choice, the validators of
    /// all its cases are skipped, and nothing reports it.
    ChoiceWithoutCase = 97, "a choice has no case";
    /// A case never applies: an earlier case covers its operating system or value, or its value is not among the
    /// choices of the argument.
    UnreachableCase = 98, "a case is never reached";
    /// A validation runs a script that the package does not have.
    ScriptMissing = 99, "a script is missing";
    /// An interface, or an entry about interfaces in a manifest, is wrong: it has an unknown key, platforms that
    /// contradict each other, an invalid schema of returned values, or the name of a class or interface that does
    /// not exist.
    Interface = 100, "an invalid interface";
    /// A class is declared to implement an interface, but neither the class nor its ancestors have one of the
    /// interface's functions. A call of the function fails.
    NotImplemented = 101, "a function of an interface is not implemented";
    /// A class has a function of an interface, but with different arguments: a call that the interface allows would
    /// fail.
    SignatureMismatch = 102, "the signature of a function is not that of its interface";
    /// A class has a public method that none of its interfaces has, or that one of them will remove. Callers who
    /// rely on the interface should not call it.
    DeprecatedFunction = 103, "a function is deprecated";
    /// A class has a function on a platform where it does not apply according to the interface, or the interface
    /// says of one platform both that it supports the function and that the function does not apply there.
    InterfaceConflict = 104, "an interface and a class contradict each other";
    /// A resources file is wrong: it has an unknown key, a resource without a kind and a name, the same resource
    /// twice, an edge that names no resource, a property that the kind does not have, or a class that the package
    /// does not define.
    Resource = 105, "an invalid resource";
    /// A template in a resource names a value that does not exist or is not a scalar, or a string contains `${` but
    /// is not a valid template.
    ResourceTemplate = 106, "a template of a resource cannot be filled in";
    /// A resource could not be checked or changed on a machine. The resources that come after it were not checked.
    ResourceFailed = 107, "a resource failed";
    /// A value of a validation has no quotes, and some YAML readers take it for a number or another type: other
    /// programs may turn `1.10` into `1.1`.
    ValueNotText = 110, "a value is not text";
    /// A machine does not meet the conditions of its validation, or a validator could not make it meet them.
    ValidationFailed = 111, "a machine fails its validation";
    /// A validator that was only allowed to test changed something, or tried to, and still succeeded. Its result is
    /// meaningless.
    TestChanges = 112, "a test cannot be trusted";
    /// A machine cannot be reached by `ssh`, or the connection to it was lost. The message has the reason that
    /// `ssh` reports. The configuration of `ssh` decides which host keys are accepted; nothing asks for a password.
    MachineUnreachable = 115, "a machine cannot be reached";
    /// A function cannot be called or has no valid result: the class does not have the function, the platform does not
    /// support it, the arguments are wrong, or the function returned something that its interface does not allow.
    Call = 116, "a function call failed";
    /// The proof of a certificate does not prove its claim: a step does not follow, or a file is damaged. The
    /// problem, the names of its variables and the proof belong together. `problem.opb` and `names.json` are
    /// trusted: edits to them that leave the proof valid are not detected.
    ProofRejected = 120, "a rejected certificate";
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
