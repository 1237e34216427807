//! How much a thread allocates.

// An allocator cannot be written without; this one hands everything on to that of the system.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What was allocated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// The number of allocations and of changes of their sizes.
    pub(crate) allocations: usize,
    /// Their sizes in sum.
    pub(crate) bytes: usize,
}

thread_local! {
    static WORK: Cell<Work> = const { Cell::new(Work { allocations: 0, bytes: 0 }) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocator of the system, which counts for each thread.
struct Counting;

/// Returns what this thread allocates during some work.
pub(crate) fn during(work: impl FnOnce()) -> Work {
    WORK.set(Work::default());
    work();
    WORK.get()
}

fn count(bytes: usize) {
    // A thread that ends can allocate when its locals are gone.
    let _ = WORK.try_with(|work| {
        let Work {
            allocations,
            bytes: before,
        } = work.get();
        work.set(Work {
            allocations: allocations + 1,
            bytes: before + bytes,
        });
    });
}

// SAFETY: every call goes to the allocator of the system as it came, and counting does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A buffer that grows is moved at worst: all of it counts, so that growing in equal steps is seen.
        count(size);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
