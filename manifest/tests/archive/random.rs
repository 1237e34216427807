//! Random files and random damage.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use pkgres_manifest::{Archive, write_archive};
use proptest::prelude::*;

use crate::accepted::accepted;
use crate::{changed_limits, open, path};

/// Checks that another reader sees the same files.
pub(crate) fn assert_same_as_zip_crate(archive: &Archive) {
    let mut other = zip::ZipArchive::new(Cursor::new(archive.bytes())).expect("a zip file");
    let mut seen = BTreeMap::new();
    for index in 0..other.len() {
        let mut file = other.by_index(index).expect("an entry");
        let mut content = Vec::new();
        file.read_to_end(&mut content).expect("a content");
        if file.is_dir() {
            assert_eq!(content, b"");
            continue;
        }
        let name = String::from_utf8(file.name_raw().to_vec()).expect("UTF-8");
        assert_eq!(file.name().expect("UTF-8"), name);
        assert!(!file.is_symlink() && file.is_file());
        assert_eq!(seen.insert(name, content), None);
    }
    let files: BTreeMap<String, Vec<u8>> = archive
        .files()
        .map(|file| {
            let content = archive.read(&file.path).expect("a listed file");
            assert_eq!(content.len() as u64, file.size);
            (file.path.to_string(), content)
        })
        .collect();
    assert!(files == seen, "{:?}", archive.files().collect::<Vec<_>>());
}

/// Random files, of which none is a folder of another one.
fn files() -> impl Strategy<Value = BTreeMap<String, (bool, Vec<u8>)>> {
    let content = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        (any::<u8>(), 0_usize..200_000).prop_map(|(byte, size)| vec![byte; size]),
    ];
    let name = "[a-c\u{e9}][a-c. 0]{0,2}[a-c](/[a-c]{1,2}){0,3}";
    proptest::collection::btree_map(name, (any::<bool>(), content), 1..12).prop_map(|files| {
        let is_folder = |name: &str| {
            let folder = format!("{name}/");
            files.keys().any(|other| other.starts_with(&folder))
        };
        let kept = files.iter().filter(|(name, _)| !is_folder(name));
        kept.map(|(name, file)| (name.clone(), file.clone()))
            .collect()
    })
}

fn changes() -> impl Strategy<Value = Vec<(u8, prop::sample::Index, u8)>> {
    proptest::collection::vec((0_u8..4, any::<prop::sample::Index>(), any::<u8>()), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn written_archives_hold_their_files(files in files()) {
        let limits = changed_limits(|limits| limits.unpacked_ratio = 2000);
        let arguments = files.iter().map(|(name, (executable, content))| {
            (path(name), *executable, content.clone())
        });
        let bytes = write_archive(arguments.clone(), &limits).expect("an archive");
        prop_assert!(bytes == write_archive(arguments.rev(), &limits).expect("an archive"));
        let archive = Archive::open("x", bytes, &limits).expect("an archive");
        assert_same_as_zip_crate(&archive);
        let read: BTreeMap<String, (bool, Vec<u8>)> = archive
            .files()
            .map(|file| {
                let content = archive.read(&file.path).expect("a listed file");
                (file.path.to_string(), (file.executable, content))
            })
            .collect();
        prop_assert!(read == files);
    }

    #[test]
    fn changed_archives_are_rejected_or_read_alike(
        which in any::<prop::sample::Index>(),
        changes in changes(),
    ) {
        let archives = accepted();
        let mut bytes = which.get(&archives).1.clone();
        for (kind, index, byte) in changes {
            let at = index.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        if let Ok(archive) = open(bytes) {
            assert_same_as_zip_crate(&archive);
        }
    }
}
