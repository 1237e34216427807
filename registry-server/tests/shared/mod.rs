//! Helpers of tests that open registries of their own.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use pkgres_registry_server::{Environment, Problem, RegistryBackend};

/// An environment with a clock, and with random bytes that never repeat in this process.
pub(crate) fn environment(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Environment {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Environment::new(now, |bytes: &mut [u8]| {
        for chunk in bytes.chunks_mut(8) {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
            chunk.copy_from_slice(&number[..chunk.len()]);
        }
    })
}

/// The first token of a registry, with the scope `admin`.
#[allow(dead_code, reason = "not all tests use HTTP")]
pub(crate) fn first_token(registry: &RegistryBackend) -> String {
    let mut token = String::new();
    registry
        .create_first_token(|secret| {
            secret.clone_into(&mut token);
            Ok::<_, Problem>(())
        })
        .expect("a token");
    token
}
