//! The Merkle tree of RFC 6962, section 2.1: one digest for a list of strings, and short proofs (audit paths) that a
//! string is at its position in the list.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};

use super::Digest;

/// A Merkle tree in memory: a change costs less than building it again.
///
/// ```
/// use pkgres_registry_client::protocol::{MerkleTree, leaf_hash, root_of_path};
///
/// let leaves = ["a", "b", "c"].map(|text| leaf_hash(text.as_bytes()));
/// let mut tree = MerkleTree::new(leaves.to_vec());
/// let path = tree.audit_path(1).expect("there is a second leaf");
/// assert_eq!(root_of_path(&leaves[1], 1, 3, &path), Some(tree.root()));
///
/// tree.insert(1, leaf_hash(b"ab"));
/// assert_eq!(tree.len(), 4);
/// # assert_ne!(tree.root(), MerkleTree::new(leaves.to_vec()).root());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MerkleTree {
    /// The hashes, from the leaves up. A node without a neighbour is its own parent, which gives
    /// the same tree as splitting at the largest power of two.
    levels: Vec<Vec<Digest>>,
}

impl MerkleTree {
    /// The tree over leaves that were [hashed](leaf_hash).
    pub fn new(leaves: Vec<Digest>) -> Self {
        let mut tree = Self {
            levels: vec![leaves],
        };
        tree.renew(0);
        tree
    }

    /// The number of leaves.
    pub fn len(&self) -> usize {
        self.levels[0].len()
    }

    /// Whether it has no leaves.
    pub fn is_empty(&self) -> bool {
        self.levels[0].is_empty()
    }

    /// The leaves.
    pub fn leaves(&self) -> &[Digest] {
        &self.levels[0]
    }

    /// The root.
    pub fn root(&self) -> Digest {
        let top = self.levels.last().and_then(|level| level.first());
        top.copied().unwrap_or_else(empty_root)
    }

    /// The audit path of a leaf: the hashes beside its path to the root, from the leaf upwards; `None` if there is no
    /// such leaf.
    pub fn audit_path(&self, index: usize) -> Option<Vec<Digest>> {
        if index >= self.len() {
            return None;
        }
        let beside = self
            .levels
            .iter()
            .enumerate()
            .filter_map(|(height, level)| {
                let neighbour = (index >> height) ^ 1;
                level.get(neighbour).copied()
            });
        Some(beside.collect())
    }

    /// The part of an [audit path](Self::audit_path) that a reader needs who has seen other leaves of the tree: it ends
    /// at the first node in `shown`, to which its own nodes are added.
    pub fn rest_of_path(&self, index: usize, shown: &mut ShownNodes) -> Option<Vec<Digest>> {
        if index >= self.len() {
            return None;
        }
        let mut beside = Vec::new();
        for (height, level) in self.levels.iter().enumerate() {
            let at = index >> height;
            if !shown.0.insert((height, at)) {
                break;
            }
            if let Some(neighbour) = level.get(at ^ 1) {
                shown.0.insert((height, at ^ 1));
                beside.push(*neighbour);
            }
        }
        Some(beside)
    }

    /// Replaces a leaf, in time logarithmic in their number.
    pub fn replace(&mut self, index: usize, leaf: Digest) {
        self.levels[0][index] = leaf;
        for height in 1..self.levels.len() {
            let at = index >> height;
            self.levels[height][at] = parent(&self.levels[height - 1], at);
        }
    }

    /// Inserts a leaf before the one at `index`, or at the end, in time linear in the number of leaves after it.
    pub fn insert(&mut self, index: usize, leaf: Digest) {
        self.levels[0].insert(index, leaf);
        self.renew(index);
    }

    /// Removes a leaf, in time linear in the number of leaves after it.
    pub fn remove(&mut self, index: usize) {
        self.levels[0].remove(index);
        self.renew(index);
    }

    /// Computes the nodes above the leaves from `index` on.
    fn renew(&mut self, index: usize) {
        let mut height = 0;
        while self.levels[height].len() > 1 {
            if self.levels.len() == height + 1 {
                self.levels.push(Vec::new());
            }
            let (below, above) = self.levels.split_at_mut(height + 1);
            let (below, above) = (&below[height], &mut above[0]);
            above.truncate(index >> (height + 1));
            for at in above.len()..below.len().div_ceil(2) {
                above.push(parent(below, at));
            }
            height += 1;
        }
        self.levels.truncate(height + 1);
    }
}

/// The node at a place above a level.
fn parent(below: &[Digest], at: usize) -> Digest {
    match below.get(2 * at + 1) {
        Some(right) => node_hash(&below[2 * at], right),
        None => below[2 * at],
    }
}

/// The hash of a leaf.
pub fn leaf_hash(leaf: &[u8]) -> Digest {
    let mut hasher = Sha256::new();
    hasher.update([0]);
    hasher.update(leaf);
    Digest(hasher.finalize().into())
}

fn node_hash(left: &Digest, right: &Digest) -> Digest {
    let mut hasher = Sha256::new();
    hasher.update([1]);
    hasher.update(left.0);
    hasher.update(right.0);
    Digest(hasher.finalize().into())
}

/// The root of a tree without leaves.
pub fn empty_root() -> Digest {
    Digest::of(b"")
}

/// The root to which an audit path leads from a leaf at a position in a tree of `size` leaves; `None` if the path has
/// a length other than it must have.
pub fn root_of_path(leaf: &Digest, index: u64, size: u64, path: &[Digest]) -> Option<Digest> {
    let (mut at, mut last) = (index, size.checked_sub(1)?);
    if at > last {
        return None;
    }
    let mut hash = *leaf;
    let mut path = path.iter();
    while last > 0 {
        if at & 1 == 1 {
            hash = node_hash(path.next()?, &hash);
        } else if at < last {
            hash = node_hash(&hash, path.next()?);
        }
        at >>= 1;
        last >>= 1;
    }
    path.next().is_none().then_some(hash)
}

/// The nodes of a tree that a reader has seen, by height and position.
#[derive(Debug, Default)]
pub struct ShownNodes(HashSet<(usize, usize)>);

/// The nodes of one tree that audit paths have proved. A path is followed only up to a proved node, which many leaves
/// share.
///
/// ```
/// use pkgres_registry_client::protocol::{MerkleTree, ProvedNodes, leaf_hash};
///
/// let leaves = ["a", "b", "c"].map(|text| leaf_hash(text.as_bytes()));
/// let tree = MerkleTree::new(leaves.to_vec());
/// let mut proved = ProvedNodes::new(tree.root(), 3);
/// for (index, leaf) in (0..).zip(&leaves) {
///     let path = tree.audit_path(index).expect("there is such a leaf");
///     assert!(proved.prove(leaf, index as u64, &path));
///     assert!(!proved.prove(&leaf_hash(b"other"), index as u64, &path));
/// }
/// ```
#[derive(Debug)]
pub struct ProvedNodes {
    root: Digest,
    size: u64,
    /// By height, and position at that height.
    nodes: HashMap<(u32, u64), Digest>,
    /// The nodes of the path that is being followed.
    followed: Vec<((u32, u64), Digest)>,
}

impl ProvedNodes {
    /// The tree with this root and `size` leaves; nothing else about it is proved yet.
    pub fn new(root: Digest, size: u64) -> Self {
        Self {
            root,
            size,
            nodes: HashMap::new(),
            followed: Vec::new(),
        }
    }

    /// Whether an audit path leads from a leaf at a position to the root, or to a node that an earlier path proved.
    pub fn prove(&mut self, leaf: &Digest, index: u64, path: &[Digest]) -> bool {
        self.followed.clear();
        let is_proved = self.follow(leaf, index, path) == Some(true);
        if is_proved {
            self.nodes.extend(self.followed.drain(..));
        }
        is_proved
    }

    fn follow(&mut self, leaf: &Digest, index: u64, path: &[Digest]) -> Option<bool> {
        let (mut at, mut last, mut height) = (index, self.size.checked_sub(1)?, 0);
        if at > last {
            return None;
        }
        let mut hash = *leaf;
        let mut path = path.iter();
        while last > 0 {
            if let Some(known) = self.nodes.get(&(height, at)) {
                return Some(*known == hash);
            }
            self.followed.push(((height, at), hash));
            if at & 1 == 1 {
                let beside = path.next()?;
                self.followed.push(((height, at - 1), *beside));
                hash = node_hash(beside, &hash);
            } else if at < last {
                let beside = path.next()?;
                self.followed.push(((height, at + 1), *beside));
                hash = node_hash(&hash, beside);
            }
            at >>= 1;
            last >>= 1;
            height += 1;
        }
        Some(hash == self.root && path.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the RFC writes it: split at the largest power of two below the number of leaves.
    fn root_by_definition(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => empty_root(),
            [leaf] => *leaf,
            leaves => {
                let split = leaves.len().next_power_of_two() / 2;
                let (left, right) = leaves.split_at(split);
                node_hash(&root_by_definition(left), &root_by_definition(right))
            }
        }
    }

    fn leaves(count: usize) -> Vec<Digest> {
        (0..count).map(|at| leaf_hash(&at.to_be_bytes())).collect()
    }

    #[test]
    fn the_root_is_the_one_of_the_rfc() {
        // The leaves and roots that the tests of Certificate Transparency's reference use.
        let inputs: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let leaves: Vec<Digest> = inputs.iter().map(|leaf| leaf_hash(leaf)).collect();
        for (count, root) in [
            (
                0,
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                1,
                "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            ),
            (
                2,
                "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            ),
            (
                3,
                "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            ),
            (
                8,
                "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
            ),
        ] {
            let tree = MerkleTree::new(leaves[..count].to_vec());
            assert_eq!(tree.root().to_string(), root, "{count}");
        }
    }

    #[test]
    fn every_leaf_of_every_small_tree_can_be_proved() {
        for count in 0..70 {
            let leaves = leaves(count);
            let tree = MerkleTree::new(leaves.clone());
            assert_eq!(tree.root(), root_by_definition(&leaves), "{count}");
            assert_eq!(tree.audit_path(count), None);
            for (index, leaf) in leaves.iter().enumerate() {
                let path = tree.audit_path(index).expect("the leaf is there");
                let root = |leaf: &Digest, index: usize, size: usize, path: &[Digest]| {
                    root_of_path(leaf, index as u64, size as u64, path)
                };
                let proved = Some(tree.root());
                assert_eq!(root(leaf, index, count, &path), proved);
                assert_ne!(root(&leaf_hash(b"other"), index, count, &path), proved);
                assert_ne!(root(leaf, index ^ 1, count, &path), proved);
                assert_ne!(root(leaf, index, count * 2 + 1, &path), proved);
                let longer = [&path[..], &[leaf_hash(b"more")]].concat();
                assert_ne!(root(leaf, index, count, &longer), proved);
                if let Some((_, shorter)) = path.split_last() {
                    assert_ne!(root(leaf, index, count, shorter), proved);
                }
            }
        }
        assert_eq!(root_of_path(&leaf_hash(b""), 0, 0, &[]), None);
    }

    proptest! {
        #[test]
        fn shared_proofs_agree_with_single_proofs(
            count in 1_usize..70,
            asked in proptest::collection::vec((0_usize..75, 0_usize..80, any::<bool>(), 0_usize..12), 0..60),
        ) {
            let leaves = leaves(count);
            let tree = MerkleTree::new(leaves.clone());
            let mut proved = ProvedNodes::new(tree.root(), count as u64);
            for (of, at, is_right, damaged) in asked {
                let mut path = tree.audit_path(of).unwrap_or_default();
                if let (false, Some(hash)) = (is_right, path.get_mut(damaged)) {
                    *hash = leaf_hash(b"damaged");
                }
                let at = if is_right { of } else { at };
                let leaf = leaves.get(of).copied().unwrap_or_else(empty_root);
                let alone = root_of_path(&leaf, at as u64, count as u64, &path) == Some(tree.root());
                let together = proved.prove(&leaf, at as u64, &path);
                // Above where two paths meet, the second is not followed.
                prop_assert!(together || !alone);
                prop_assert!(!together || leaves.get(at) == Some(&leaf));
            }
        }

        #[test]
        fn seen_nodes_are_left_out(
            count in 1_usize..70,
            asked in proptest::collection::vec(0_usize..70, 0..60),
        ) {
            let leaves = leaves(count);
            let tree = MerkleTree::new(leaves.clone());
            let mut proved = ProvedNodes::new(tree.root(), count as u64);
            let (mut shown, mut hashes) = (ShownNodes::default(), 0);
            for at in asked.into_iter().map(|at| at % count) {
                let path = tree.rest_of_path(at, &mut shown).expect("a leaf");
                hashes += path.len();
                prop_assert!(proved.prove(&leaves[at], at as u64, &path));
                prop_assert!(!proved.prove(&leaf_hash(b"other"), at as u64, &path));
            }
            // No more than there are nodes beside others.
            prop_assert!(hashes < 2 * count);
        }

        #[test]
        fn a_changed_tree_equals_a_new_tree(
            count in 0_usize..40,
            changes in proptest::collection::vec((0_u8..3, 0_usize..1000, any::<u8>()), 0..30),
        ) {
            let mut leaves = leaves(count);
            let mut tree = MerkleTree::new(leaves.clone());
            for (kind, at, byte) in changes {
                let leaf = leaf_hash(&[byte]);
                if kind == 0 || leaves.is_empty() {
                    let at = at % (leaves.len() + 1);
                    leaves.insert(at, leaf);
                    tree.insert(at, leaf);
                } else if kind == 1 {
                    let at = at % leaves.len();
                    leaves[at] = leaf;
                    tree.replace(at, leaf);
                } else {
                    let at = at % leaves.len();
                    leaves.remove(at);
                    tree.remove(at);
                }
                prop_assert_eq!(tree.root(), root_by_definition(&leaves));
                prop_assert_eq!(&tree, &MerkleTree::new(leaves.clone()));
            }
        }

        #[test]
        fn invalid_proofs_prove_nothing(index: u64, size: u64, path in proptest::collection::vec(any::<[u8; 32]>(), 0..70)) {
            let path: Vec<Digest> = path.into_iter().map(Digest).collect();
            let _ = root_of_path(&leaf_hash(b""), index, size, &path);
        }
    }
}
