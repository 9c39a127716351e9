//! Sessions end when they are idle. Wrong: the sweeper looks for idle ones with a read lock and removes them later, though one may be in use again.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

#[derive(Default)]
struct Sessions {
    all: RwLock<HashMap<u32, Mutex<u32>>>,
}

impl Sessions {
    fn touch(&self, id: u32) -> bool {
        let all = self.all.read().unwrap();
        let Some(session) = all.get(&id) else { return false };
        *session.lock().unwrap() += 1;
        true
    }

    fn uses(&self, id: u32) -> u32 {
        self.all.read().unwrap().get(&id).map_or(0, |session| *session.lock().unwrap())
    }

    fn sweep(&self) -> u32 {
        if cfg!(feature = "right") {
            let mut all = self.all.write().unwrap();
            let before: u32 = all.values().map(|session| *session.lock().unwrap()).sum();
            all.retain(|_, session| *session.lock().unwrap() > 0);
            let after: u32 = all.values().map(|session| *session.lock().unwrap()).sum();
            before - after
        } else {
            let idle: Vec<u32> = {
                let all = self.all.read().unwrap();
                all.iter().filter(|(_, session)| *session.lock().unwrap() == 0).map(|(id, _)| *id).collect()
            };
            let mut all = self.all.write().unwrap();
            idle.into_iter().filter_map(|id| all.remove(&id)).map(|session| *session.lock().unwrap()).sum()
        }
    }
}

fn main() {
    let sessions = Arc::new(Sessions::default());
    for id in 0..2 {
        sessions.all.write().unwrap().insert(id, Mutex::new(0));
    }
    let users: Vec<_> = (0..2)
        .map(|id| {
            let sessions = sessions.clone();
            thread::spawn(move || sessions.touch(id) && sessions.uses(id) == 0)
        })
        .collect();
    let sweeper = {
        let sessions = sessions.clone();
        thread::spawn(move || sessions.sweep())
    };
    let lost = sweeper.join().unwrap();
    for user in users {
        user.join().unwrap();
    }
    assert_eq!(lost, 0, "a session in use was swept");
}
