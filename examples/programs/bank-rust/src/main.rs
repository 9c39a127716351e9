//! A lost update. A deposit reads the balance in one critical section and writes it in another: each access is
//! under the lock, the deposit as a whole is not.
//!
//! The second customer comes in through a branch office, a thread that starts a thread, and so usually finds
//! the first deposit done. If the two overlap, one of them is lost.

use std::sync::Mutex;
use std::thread;

struct Account {
    balance: i64,
}

static ACCOUNT: Mutex<Account> = Mutex::new(Account { balance: 100 });

fn get_balance() -> i64 {
    let account = ACCOUNT.lock().unwrap();
    account.balance // @first
}

fn set_balance(balance: i64) {
    let mut account = ACCOUNT.lock().unwrap();
    account.balance = balance; // @remote @second
}

fn deposit(amount: i64) {
    foretrace::atomic!("deposit", {
        if cfg!(feature = "fixed") {
            ACCOUNT.lock().unwrap().balance += amount;
        } else {
            set_balance(get_balance() + amount);
        }
    });
}

fn branch_office(amount: i64) {
    thread::spawn(move || deposit(amount)).join().unwrap();
}

fn main() {
    set_balance(100);
    let counter = thread::spawn(|| deposit(10));
    let branch = thread::spawn(|| branch_office(20));
    counter.join().unwrap();
    branch.join().unwrap();

    let balance = get_balance();
    println!("balance {balance}, expected 130");
    if balance != 130 {
        std::process::exit(1);
    }
}
