//! Two readers of an inbox. Wrong: a reader asks for the number of letters, and then takes one for sure.
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Inbox {
    letters: Mutex<VecDeque<u32>>,
    arrived: Condvar,
}

impl Inbox {
    fn put(&self, letter: u32) {
        self.letters.lock().unwrap().push_back(letter);
        self.arrived.notify_all();
    }

    fn take(&self) -> Option<u32> {
        if cfg!(feature = "right") {
            let mut letters = self.letters.lock().unwrap();
            loop {
                match letters.pop_front() {
                    Some(0) => {
                        letters.push_back(0);
                        return None;
                    }
                    Some(letter) => return Some(letter),
                    None => letters = self.arrived.wait(letters).unwrap(),
                }
            }
        }
        let mut letters = self.letters.lock().unwrap();
        while letters.is_empty() {
            letters = self.arrived.wait(letters).unwrap();
        }
        drop(letters);
        let letter = self.letters.lock().unwrap().pop_front().expect("a letter is there");
        if letter == 0 {
            self.put(0);
            return None;
        }
        Some(letter)
    }
}

fn main() {
    let inbox = Arc::new(Inbox::default());
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let inbox = inbox.clone();
            thread::spawn(move || std::iter::from_fn(|| inbox.take()).count())
        })
        .collect();
    for letter in 1..4 {
        inbox.put(letter);
    }
    inbox.put(0);
    let read: usize = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
    assert_eq!(read, 3);
}
