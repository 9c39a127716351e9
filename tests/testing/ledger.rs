//! A ledger of accounts: each account has a lock, and a reader-writer lock guards the map of accounts. `withdraw` reads a balance in one
//! critical section and writes it in another. `scripts/testing` builds it as a crate without dependencies.
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

#[derive(Debug, PartialEq)]
pub enum Error {
    NoAccount(u32),
    Insufficient { wanted: i64, had: i64 },
    Closed(u32),
}

#[derive(Debug, Default)]
pub struct Account {
    balance: i64,
    closed: bool,
    history: Vec<i64>,
}

#[derive(Default)]
pub struct Ledger {
    accounts: RwLock<HashMap<u32, Arc<Mutex<Account>>>>,
    transfers: AtomicU64,
}

impl Ledger {
    pub fn open(&self, id: u32, balance: i64) {
        self.accounts.write().unwrap().insert(id, Arc::new(Mutex::new(Account { balance, ..Account::default() })));
    }

    fn account(&self, id: u32) -> Result<Arc<Mutex<Account>>, Error> {
        self.accounts.read().unwrap().get(&id).cloned().ok_or(Error::NoAccount(id))
    }

    pub fn balance(&self, id: u32) -> Result<i64, Error> {
        Ok(self.account(id)?.lock().unwrap().balance)
    }

    /// The balance is looked at in one critical section and changed in another.
    pub fn withdraw(&self, id: u32, amount: i64) -> Result<(), Error> {
        let had = self.balance(id)?;
        if had < amount {
            return Err(Error::Insufficient { wanted: amount, had });
        }
        let account = self.account(id)?;
        let mut account = account.lock().unwrap();
        if account.closed {
            return Err(Error::Closed(id));
        }
        account.balance = had - amount;
        account.history.push(-amount);
        Ok(())
    }

    pub fn deposit(&self, id: u32, amount: i64) -> Result<(), Error> {
        let account = self.account(id)?;
        let mut account = account.lock().unwrap();
        if account.closed {
            return Err(Error::Closed(id));
        }
        account.balance += amount;
        account.history.push(amount);
        Ok(())
    }

    pub fn transfer(&self, from: u32, to: u32, amount: i64) -> Result<(), Error> {
        self.withdraw(from, amount)?;
        self.deposit(to, amount)?;
        let n = self.transfers.load(Ordering::Relaxed);
        self.transfers.store(n + 1, Ordering::Relaxed);
        Ok(())
    }

    pub fn total(&self) -> i64 {
        self.accounts.read().unwrap().values().map(|a| a.lock().unwrap().balance).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_keep_the_total() {
        let ledger = Arc::new(Ledger::default());
        for id in 0..3 {
            ledger.open(id, 100);
        }
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let ledger = ledger.clone();
                std::thread::spawn(move || ledger.transfer(n, (n + 1) % 3, 10 * (n as i64 + 1)).unwrap())
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(ledger.total(), 300);
    }
}
