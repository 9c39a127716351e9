//! A lock-free stack (Treiber's) whose `pop` falls for ABA. It reads the head and the node below it, and puts that in the head's
//! place if the head is still the same. When the head was taken meanwhile, and the node below it, and then the head
//! was put back, it looks the same, but the node below it now belongs to somebody else.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

const NODES: usize = 4;
const END: u64 = 0;
const INDEX: u64 = u32::MAX as u64;
/// With every change the head gets another number in its upper half; the same head is then not the same.
const CHANGE: u64 = if cfg!(feature = "fixed") { 1 << 32 } else { 0 };

/// Nodes are numbered from 1; each knows the one below it.
struct Stack {
    head: AtomicU64,
    below: [AtomicU64; NODES],
}

static STACK: Stack = Stack { head: AtomicU64::new(END), below: [const { AtomicU64::new(END) }; NODES] };

impl Stack {
    fn below(&self, node: u64) -> &AtomicU64 {
        &self.below[node as usize - 1]
    }

    fn push(&self, node: u64) {
        loop {
            let head = self.head.load(SeqCst);
            self.below(node).store(head & INDEX, SeqCst);
            let next = (head & !INDEX).wrapping_add(CHANGE) | node;
            let swapped = self.head.compare_exchange(head, next, SeqCst, SeqCst);
            if swapped.is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<u64> {
        loop {
            let head = self.head.load(SeqCst); // @first
            let node = head & INDEX;
            if node == END {
                return None;
            }
            let below = self.below(node).load(SeqCst);
            let next = (head & !INDEX).wrapping_add(CHANGE) | below;
            let swapped = self.head.compare_exchange(head, next, SeqCst, SeqCst); // @remote @second
            if swapped.is_ok() {
                return Some(node);
            }
        }
    }
}

/// Takes a node for good.
fn taker() -> u64 {
    foretrace::atomic!("pop", { STACK.pop().unwrap() })
}

/// Takes two nodes, and puts the first one back.
fn changer() -> u64 {
    let first = STACK.pop().unwrap();
    let second = STACK.pop().unwrap();
    STACK.push(first);
    second
}

fn main() {
    for node in [3, 2, 1] {
        STACK.push(node);
    }
    let changer = thread::spawn(changer);
    let taker = thread::spawn(|| thread::spawn(taker).join().unwrap());
    let taken = [changer.join().unwrap(), taker.join().unwrap()];
    let left = STACK.pop();
    println!("taken: {taken:?}, left: {left:?}");
    if left.is_some_and(|node| taken.contains(&node)) {
        std::process::exit(1);
    }
}
