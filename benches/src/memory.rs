//! How many bytes are allocated, and how many were at most.
//!
//! A program that asks has to make [`Counting`] its global allocator.

// An allocator cannot be written without; this one hands everything on to that of the system.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static IS_WATCHING: AtomicBool = AtomicBool::new(false);
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// The allocator of the system, which counts where it is asked to: counting takes time.
#[derive(Debug)]
pub struct Counting;

/// Begins to count, from zero.
pub fn start() {
    ALLOCATED.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    IS_COUNTING.store(true, Relaxed);
}

/// Does something during which it is watched how many bytes there are at most. Whatever was allocated since
/// the start and is still there counts: also what one solver left to the next.
pub fn watch<T>(work: impl FnOnce() -> T) -> T {
    IS_WATCHING.store(true, Relaxed);
    let result = work();
    IS_WATCHING.store(false, Relaxed);
    result
}

/// Ends counting: how many bytes more are allocated than at the start, and how many more were at
/// most while it was [watched](watch).
pub fn stop() -> (usize, usize) {
    IS_COUNTING.store(false, Relaxed);
    (bytes(&ALLOCATED), peak())
}

/// How many bytes more than at the start there were at most until now while it was [watched](watch).
pub fn peak() -> usize {
    bytes(&PEAK)
}

fn bytes(count: &AtomicIsize) -> usize {
    usize::try_from(count.load(Relaxed)).unwrap_or(0)
}

fn count(old: usize, new: usize) {
    if IS_COUNTING.load(Relaxed) {
        let more = new.cast_signed() - old.cast_signed();
        let allocated = ALLOCATED.fetch_add(more, Relaxed) + more;
        if IS_WATCHING.load(Relaxed) {
            PEAK.fetch_max(allocated, Relaxed);
        }
    }
}

// SAFETY: every call goes to the allocator of the system as it came, and counting does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), size);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
