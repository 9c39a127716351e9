//! Two guests want one seat. Whether it is free is looked up in one hold of the lock, and it is taken in another; with the feature
//! `fixed` both are in one.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

type Seats = Mutex<HashMap<u32, u32>>;

#[cfg(not(feature = "fixed"))]
fn book(seats: &Seats, seat: u32, guest: u32) -> bool {
    let is_taken = seats.lock().unwrap().contains_key(&seat); // first
    if is_taken {
        return false;
    }
    seats.lock().unwrap().insert(seat, guest); // last
    true
}

#[cfg(feature = "fixed")]
fn book(seats: &Seats, seat: u32, guest: u32) -> bool {
    let mut seats = seats.lock().unwrap();
    if seats.contains_key(&seat) {
        return false;
    }
    seats.insert(seat, guest);
    true
}

fn main() {
    let seats: Arc<Seats> = Arc::default();
    seats.lock().unwrap().insert(1, 100);
    let book_of = |guest| {
        let seats = seats.clone();
        thread::spawn(move || book(&seats, 7, guest))
    };
    let guests: Vec<_> = (0..2).map(book_of).collect();
    let booked = guests.into_iter().map(|guest| guest.join().unwrap());
    std::process::exit(if booked.filter(|booked| *booked).count() == 1 { 0 } else { 3 });
}
