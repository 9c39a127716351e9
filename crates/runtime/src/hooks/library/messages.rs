//! Addresses of sockets and messages, in structures that say how much room there is for them.

use super::call::Call;
use super::memory::{INT, POINTER, note, vectors};

/// Keeps how much room there is for an address, which the call replaces by the length of the address.
pub fn keep_room(call: Call, length: u64) {
    if length != 0 {
        let room = call.read(length, INT) as u32;
        call.thread.noted.set([call.site, u64::from(room), 0]);
    }
}

/// An address of a socket that was written into the room there was.
pub fn address_of_socket(call: Call, address: u64, length: u64) {
    if length == 0 {
        return;
    }
    // SAFETY: the program's variable, which the kernel has just written.
    let whole = u64::from(unsafe { (length as *const u32).read_volatile() });
    let room = match call.thread.noted.get() {
        [site, room, _] if site == call.site => room,
        _ => whole, // a handler of a signal has made such a call meanwhile
    };
    if address != 0 {
        note(call, address, whole.min(room));
    }
    note(call, length, INT);
}

/// What a `struct msghdr` lists is read, and the address that it is sent to.
pub fn sent(call: Call, header: u64) {
    let [name, name_length, parts, count, control, control_length] = header_of_message(header);
    if name != 0 {
        call.read_all(name, name_length & u64::from(u32::MAX));
    }
    vectors(parts, count, u64::MAX, |address, length| call.read_all(address, length));
    if control != 0 {
        call.read_all(control, control_length);
    }
}

fn header_of_message(header: u64) -> [u64; 6] {
    // SAFETY: the program's header, which the kernel reads.
    [0, 1, 2, 3, 4, 5].map(|index| unsafe { *((header + index * POINTER) as *const u64) })
}

/// Keeps how much room a `struct msghdr` has for the address of the sender and for control data.
pub fn keep_rooms_of_message(call: Call, header: u64) {
    let [_, name_length, .., control_length] = header_of_message(header);
    call.thread.noted.set([call.site, name_length & u64::from(u32::MAX), control_length]);
}

/// What `recvmsg` put into the memory that a `struct msghdr` lists.
pub fn received(call: Call, header: u64, length: u64, rooms: Option<(u64, u64)>) {
    const NAME_LENGTH: u64 = 8;
    const CONTROL_LENGTH: u64 = 40;
    const FLAGS: u64 = 48;
    let [name, name_length, parts, count, control, control_length] = header_of_message(header);
    let name_length = name_length & u64::from(u32::MAX);
    vectors(parts, count, length, |address, length| note(call, address, length));
    let (room, control_room) = rooms.unwrap_or((name_length, control_length));
    if name != 0 {
        note(call, name, name_length.min(room));
        note(call, header + NAME_LENGTH, INT);
    }
    if control != 0 {
        note(call, control, control_length.min(control_room));
    }
    note(call, header + CONTROL_LENGTH, POINTER);
    note(call, header + FLAGS, INT);
}
