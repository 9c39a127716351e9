//! Two threads add to an account by functions that are inlined, in a closure. With `fixed` they hold the lock from the first to the last.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Account {
    balance: Mutex<i64>,
    whole: Mutex<()>,
}

impl Account {
    #[inline]
    fn get(&self) -> i64 {
        *self.balance.lock().unwrap()
    }

    #[inline]
    fn set(&self, value: i64) {
        *self.balance.lock().unwrap() = value;
    }

    #[inline]
    fn deposit(&self, amount: i64) {
        let held = cfg!(feature = "fixed").then(|| self.whole.lock().unwrap());
        let now = self.get(); // first of deposit
        self.set(now + amount); // last of deposit
        drop(held);
    }
}

fn main() {
    let account = Arc::new(Account::default());
    let deposits = [1, 2].map(|amount| {
        let account = account.clone();
        thread::spawn(move || account.deposit(amount))
    });
    deposits.into_iter().for_each(|deposit| deposit.join().unwrap());
    std::process::exit(if account.get() == 3 { 0 } else { 3 });
}
