//! The deeds of other programs in a recording, by sockets, pipes and terminals: connections, bytes that came, ends. The runtime plays them
//! in a replay.

use super::folder::Folder;
use super::kept::{files_of, kept};
use foretrace_report::write_whole;
use foretrace_runtime::outside::{
    ACCEPTED, CONNECTED, Call, Deed, ENDED, Head, INHERITED, Opening, SENT, SOCKET, WORD, WORDS_BEFORE_DEEDS,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io;
use std::path::{Path, PathBuf};

/// A connection that is under way is a success that comes later.
const UNDER_WAY: i32 = nix::libc::EINPROGRESS;

/// A call on sockets of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    call: Call,
    head: Head,
    result: i64,
    data: Vec<u8>,
}

/// Writes a file of what other programs did in a recording. Nothing if there were none.
///
/// # Errors
/// A file cannot be read or written.
pub fn write(recording: &Path, folder: &Folder) -> io::Result<Option<PathBuf>> {
    let files = files_of(recording)?;
    let mut entries: Vec<Entry> = files.iter().flat_map(|bytes| entries_of(bytes)).collect();
    entries.sort_by_key(|entry| entry.head.number);
    let (deeds, connections) = deeds_of(&entries);
    if deeds.is_empty() {
        return Ok(None);
    }
    let path = folder.path().join("sockets");
    let bytes = as_bytes(deeds, connections);
    write_whole(&path, |out| out.write_all(&bytes)).map_err(io::Error::other)?;
    Ok(Some(path))
}

/// The calls on sockets in a thread's file.
fn entries_of(bytes: &[u8]) -> Vec<Entry> {
    let on_sockets = kept(bytes).filter(|kept| kept.source == SOCKET);
    on_sockets.filter_map(|kept| entry(kept.detail, kept.result, kept.data)).collect()
}

fn entry(detail: u8, result: i64, data: &[u8]) -> Option<Entry> {
    use Call::{Accept, Connect, Input, Peek, Ready, Receive, Send};
    let call = [Receive, Peek, Accept, Connect, Send, Ready, Input].into_iter().find(|call| *call as u8 == detail)?;
    let (head, data) = data.split_at_checked(size_of::<Head>())?;
    let long = |at: usize| Some(u64::from_ne_bytes(head.get(at..at + 8)?.try_into().ok()?));
    let head = Head { number: long(0)?, socket: long(8)?, file: int(head, 16)?, error: int(head, 20)? };
    Some(Entry { call, head, result, data: data.to_vec() })
}

fn int(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl Entry {
    /// How a connection began, and the address: of the other side where it was accepted, the own where it was made.
    fn opening(&self) -> Option<(Opening, &[u8])> {
        let (opening, address) = self.data.split_at_checked(size_of::<Opening>())?;
        Some((Opening { by: int(opening, 0)?, own: int(opening, 4)? }, address))
    }

    fn begins(&self, call: Call) -> bool {
        self.call == call && (self.result >= 0 || call == Call::Connect && self.head.error == UNDER_WAY)
    }
}

/// A deed with the bytes that were sent.
type WithBytes<'e> = (Deed, &'e [u8]);

/// What other programs did, in order, and by how many connections. Those whose both ends are the program's are its own.
fn deeds_of(entries: &[Entry]) -> (Vec<WithBytes<'_>>, usize) {
    let addresses = |call: Call| -> FxHashSet<&[u8]> {
        let begun = entries.iter().filter(|entry| entry.begins(call));
        begun.filter_map(Entry::opening).map(|(_, address)| address).filter(|address| address.len() > 2).collect()
    };
    let (accepted, made) = (addresses(Call::Accept), addresses(Call::Connect));
    let mut deeds: Vec<WithBytes> = Vec::new();
    let mut connections: FxHashMap<u64, u32> = FxHashMap::default();
    let mut count = 0;
    for Head { socket, file, .. } in entries.iter().filter(|entry| entry.call == Call::Input).map(|entry| &entry.head) {
        connections.entry(*socket).or_insert_with(|| {
            let deed = Deed { number: 0, connection: count, kind: INHERITED, at: *file as u64, bytes: *socket };
            deeds.push((deed, &[][..]));
            count += 1;
            count - 1
        });
    }
    for entry in entries {
        let Head { number, socket, .. } = entry.head;
        let deed = |connection, kind, at, bytes| Deed { number, connection, kind, at, bytes };
        match entry.call {
            Call::Accept | Call::Connect if entry.begins(entry.call) => {
                let Some((opening, address)) = entry.opening() else { continue };
                let (others, kind) = match entry.call {
                    Call::Accept => (&made, ACCEPTED),
                    _ => (&accepted, CONNECTED),
                };
                if opening.own != 0 || others.contains(address) {
                    continue;
                }
                connections.insert(socket, count);
                deeds.push((deed(count, kind, opening.by as u64, 0), &[][..]));
                count += 1;
            }
            Call::Receive | Call::Input if entry.result >= 0 => {
                let Some(&connection) = connections.get(&socket) else { continue };
                let kind = if entry.result == 0 { ENDED } else { SENT };
                deeds.push((deed(connection, kind, 0, entry.data.len() as u64), &entry.data[..]));
            }
            _ => {}
        }
    }
    (deeds, count as usize)
}

fn as_bytes(deeds: Vec<WithBytes>, connections: usize) -> Vec<u8> {
    let mut at = (WORDS_BEFORE_DEEDS * WORD + deeds.len() * size_of::<Deed>()) as u64;
    let mut head: Vec<u8> = [deeds.len() as u64, connections as u64].into_iter().flat_map(u64::to_ne_bytes).collect();
    let mut tail = Vec::new();
    for (mut deed, bytes) in deeds {
        if deed.kind == SENT {
            deed.at = at;
            at += deed.bytes;
            tail.extend_from_slice(bytes);
        }
        head.extend(deed.number.to_ne_bytes());
        head.extend([deed.connection, deed.kind].into_iter().flat_map(u32::to_ne_bytes));
        head.extend([deed.at, deed.bytes].into_iter().flat_map(u64::to_ne_bytes));
    }
    head.extend(tail);
    head
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_runtime::outside::{FILLER, KEY_SHIFT};

    fn began(call: Call, number: u64, socket: u64, own: i32, address: &[u8]) -> Entry {
        let head = Head { number, socket, file: 9, error: 0 };
        let data = [&3i32.to_ne_bytes()[..], &own.to_ne_bytes(), address].concat();
        Entry { call, head, result: 0, data }
    }

    fn received(number: u64, socket: u64, text: &[u8]) -> Entry {
        let head = Head { number, socket, file: 9, error: 0 };
        Entry { call: Call::Receive, head, result: text.len() as i64, data: text.to_vec() }
    }

    fn told(entries: &[Entry]) -> Vec<(u64, u32, u32, &[u8])> {
        deeds_of(entries).0.into_iter().map(|(deed, bytes)| (deed.number, deed.connection, deed.kind, bytes)).collect()
    }

    #[test]
    fn what_another_program_sends_is_played() {
        let entries = [
            began(Call::Accept, 1, 50, 0, b"client"),
            received(2, 50, b"set"),
            began(Call::Connect, 3, 60, 0, b"here"),
            received(4, 60, b"answer"),
            received(5, 50, b""),
        ];
        let expected: [(u64, u32, u32, &[u8]); 5] = [
            (1, 0, ACCEPTED, b""),
            (2, 0, SENT, b"set"),
            (3, 1, CONNECTED, b""),
            (4, 1, SENT, b"answer"),
            (5, 0, ENDED, b""),
        ];
        assert_eq!(told(&entries), expected);
    }

    #[test]
    fn what_the_program_sends_itself_is_not() {
        let by_address =
            [began(Call::Connect, 1, 60, 0, b"one"), began(Call::Accept, 2, 50, 0, b"one"), received(3, 50, b"x")];
        assert_eq!(told(&by_address), []);
        let by_process = [began(Call::Accept, 1, 50, 1, b""), received(2, 50, b"x")];
        assert_eq!(told(&by_process), []);
    }

    #[test]
    fn input_is_there_from_the_start() {
        let input = |number, text: &[u8]| Entry { call: Call::Input, ..received(number, 40, text) };
        let entries = [began(Call::Accept, 1, 50, 0, b"client"), input(2, b"x"), input(3, b"")];
        let expected: [(u64, u32, u32, &[u8]); 4] =
            [(0, 0, INHERITED, b""), (1, 1, ACCEPTED, b""), (2, 0, SENT, b"x"), (3, 0, ENDED, b"")];
        assert_eq!(told(&entries), expected);
    }

    #[test]
    fn a_file_is_read_up_to_its_end_and_no_further() {
        let mut words = vec![u64::from(FILLER) << KEY_SHIFT | 8, 7];
        words.extend([
            u64::from(SOCKET) << 8 << KEY_SHIFT | 27,
            3,
            4,
            50,
            9,
            u64::from_ne_bytes(*b"set\0\0\0\0\0"),
            0,
            1,
        ]);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(entries_of(&bytes), [received(4, 50, b"set")]);
        assert_eq!(entries_of(&bytes[..58]), []);
        assert_eq!(entries_of(&bytes[..3]), []);
    }
}
