//! A stack whose operations are marked, one of them left by a panic, and a set.

use std::collections::BTreeSet;
use std::sync::Mutex;

struct Stack(Mutex<Vec<i32>>);

impl Stack {
    fn push(&self, value: i32) {
        let operation = foretrace::operation!(self, "push", value);
        self.0.lock().unwrap().push(value);
        operation.returns(())
    }

    fn pop(&self) -> Option<i32> {
        let operation = foretrace::operation!(self, "pop");
        let value = self.0.lock().unwrap().pop();
        operation.returns(value)
    }

    fn peek(&self) -> i32 {
        let operation = foretrace::operation!(self, "peek");
        let value = *self.0.lock().unwrap().last().expect("a value");
        operation.returns(value)
    }
}

fn main() {
    let stack = Stack(Mutex::new(Vec::new()));
    let set = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            stack.push(-1);
            let operation = foretrace::operation!(&set, "add", 5u8);
            let is_new = set.lock().unwrap().insert(5u8);
            operation.returns(is_new)
        });
    });
    assert_eq!((stack.pop(), stack.pop()), (Some(-1), None));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| stack.peek())).is_err());
    let operation = foretrace::operation!((), "nothing");
    operation.returns(());
}
