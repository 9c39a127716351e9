//! The logs of a recording: opened, checked, read record by record; and finished after the run.

mod finish;
pub(crate) mod missing;
mod records;
mod snapshot;

pub use finish::finish_logs;
pub use records::Records;
pub use snapshot::Snapshots;

use crate::error::WalkError;
use foretrace_runtime::record::{
    COUNT_WORD, FileHeader, HEADER_WORDS, Kind, LEFT_OVER, MAGIC, Site, TRIED, WOKEN_SPURIOUSLY, count_of, fail,
    order_of,
};
use rustc_hash::FxHashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of a word.
const WORD: usize = 8;

/// A record of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it says.
    pub kind: Kind,
    /// Where in the program it comes from: of instrumented code a site, else a return address.
    pub place: u64,
    /// The words after its header, as many as its kind has; the others are 0.
    pub words: [u64; 4],
    /// How many counted things the thread did before it. Of a record without an order those up to the last record with one.
    pub at: u64,
}

impl Record {
    /// Its place as a site of instrumented code.
    #[inline]
    pub fn site(&self) -> Site {
        Site(self.place)
    }

    /// Its order number; nothing where its kind has none.
    #[inline]
    pub fn order(&self) -> Option<u64> {
        self.kind.ordered().then(|| order_of(self.words[self.kind.words() - 2]))
    }

    /// Whether a call that took a lock, counted down, woke or joined might have come back without it.
    pub fn is_tried(&self) -> bool {
        !(self.kind == Kind::Wake && self.words[1] == WOKEN_SPURIOUSLY) && self.words[1] & TRIED != 0
    }

    /// Of an allocation, how many bytes it gives.
    #[inline]
    pub fn allocated(&self) -> u64 {
        self.words[1] & !LEFT_OVER
    }

    /// Of an allocation, whether its memory holds what a freed block left there.
    pub fn is_left_over(&self) -> bool {
        self.words[1] & LEFT_OVER != 0
    }

    /// What an access left in its memory.
    #[inline]
    pub fn left_behind(&self) -> u64 {
        match self.kind {
            Kind::Update1 | Kind::Update2 | Kind::Update4 | Kind::Update8 => self.words[2],
            _ => self.words[1],
        }
    }

    /// What a write found, where its record has that.
    #[inline]
    pub fn replaced(&self) -> Option<u64> {
        self.kind.is_replace().then(|| self.words[2])
    }
}

/// An order number that is not above the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disorder {
    /// Where its record starts.
    pub byte: u64,
    pub found: u64,
    pub before: u64,
}

/// The log of one thread, whole and in memory.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    bytes: Vec<u8>,
    header: FileHeader,
    scan: Scan,
    stop: u64,
    /// Where it is read from: a byte, and the counted records before it.
    start: (usize, u64),
}

impl Log {
    /// Opens a log and checks that it is whole: of our version, and ended by a `Stop` record.
    pub fn open(path: &Path) -> Result<Log, WalkError> {
        let bytes = contents(path)?;
        let header = read_header(path, &bytes)?;
        let scan = scan(&bytes);
        match scan.stop {
            Some(stop) => {
                let (path, start) = (path.to_path_buf(), (HEADER_WORDS * WORD, 0));
                Ok(Log { path, bytes, header, scan, stop, start })
            }
            None => Err(WalkError::CutOff { path: path.to_path_buf(), byte: scan.end as u64 }),
        }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it starts with.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// How many records it has.
    pub fn len(&self) -> u64 {
        self.scan.records
    }

    /// How many counted things the thread did.
    pub fn counted(&self) -> u64 {
        self.scan.counted
    }

    /// Whether accesses were left out.
    pub fn leaves_out(&self) -> bool {
        self.scan.leaves_out
    }

    /// Whether code with gcc's hooks was called.
    pub fn has_calls(&self) -> bool {
        self.scan.has_calls
    }

    /// What unseen calls concern and do to it: the second words of their records, each once.
    pub(crate) fn unseen(&self) -> &[u64] {
        &self.scan.unseen
    }

    /// Whether it says that the run ended since all threads waited.
    pub fn ends_in_deadlock(&self) -> bool {
        self.scan.deadlock
    }

    /// The first order number that is out of order.
    pub(crate) fn disorder(&self) -> Option<Disorder> {
        self.scan.disorder
    }

    /// Whether it has no records at all.
    pub fn is_empty(&self) -> bool {
        self.scan.records == 0
    }

    /// Why it ends: one of [`foretrace_runtime::record::stop`].
    pub fn stopped_by(&self) -> u64 {
        self.stop
    }

    /// Its records from the first on.
    pub fn records(&self) -> Records<'_> {
        let (position, at) = self.start;
        Records::from(&self.bytes[..self.scan.end], position, at)
    }

    /// How many counted things the thread did before them.
    pub fn counted_before(&self) -> u64 {
        self.start.1
    }

    /// The record that says so, if the log does not begin with the thread.
    pub fn cut(&self) -> Option<Record> {
        let first = Records::new(&self.bytes[..self.scan.end]).peek();
        first.filter(|record| record.kind == Kind::Cut)
    }

    /// From now on its records begin here.
    pub(crate) fn start_at(&mut self, start: (usize, u64)) {
        self.start = start;
    }
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + WORD)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// All of a file. It is not mapped: a file that gets shorter meanwhile must not end us.
fn contents(path: &Path) -> Result<Vec<u8>, WalkError> {
    fs::read(path).map_err(|error| WalkError::io(path, error))
}

fn read_header(path: &Path, bytes: &[u8]) -> Result<FileHeader, WalkError> {
    let at = |index: usize| word(bytes, index * WORD);
    let not_a_log = || WalkError::NotALog { path: path.to_path_buf() };
    let magic = at(0).ok_or_else(not_a_log)?;
    if magic != MAGIC {
        let (found, expected) = (magic.to_le_bytes(), MAGIC.to_le_bytes());
        if found[..7] != expected[..7] {
            return Err(not_a_log());
        }
        return Err(WalkError::LogVersion { path: path.to_path_buf(), found: found[7], expected: expected[7] });
    }
    let field = |index| at(index).ok_or(WalkError::CutOff { path: path.to_path_buf(), byte: bytes.len() as u64 });
    Ok(FileHeader {
        magic,
        thread: field(1)?,
        parent: field(2)?,
        nth: field(3)?,
        start: field(4)?,
        count: field(COUNT_WORD)?,
        reserved: [field(6)?, field(7)?],
    })
}

/// What a log's records show.
#[derive(Default, Debug)]
struct Scan {
    /// The byte after the last whole record.
    end: usize,
    records: u64,
    counted: u64,
    leaves_out: bool,
    has_calls: bool,
    /// What unseen calls concern and do to it: the second words of their records, each once.
    unseen: Vec<u64>,
    deadlock: bool,
    disorder: Option<Disorder>,
    stop: Option<u64>,
}

/// Goes through all records, up to the first that is not whole or a `Stop`. What [`Records`] would show, of words alone.
fn scan(bytes: &[u8]) -> Scan {
    let words = bytes.as_chunks::<WORD>().0;
    let at = |index: usize| words.get(index).map(|word| u64::from_le_bytes(*word));
    let mut scan = Scan::default();
    let (mut position, mut counted, mut expected, mut before) = (HEADER_WORDS, 0, Some(0), 0);
    while let Some(kind) = at(position).and_then(Kind::from_header) {
        let end = position + kind.words();
        let Some(last) = at(end - 1) else { break };
        scan.records += u64::from(kind != Kind::Skip);
        scan.has_calls |= kind == Kind::Called;
        if kind == Kind::Unseen {
            let object = at(position + 2).filter(|object| !scan.unseen.contains(object));
            scan.unseen.extend(object);
        }
        scan.deadlock |= kind == Kind::Fail && at(position + 1) == Some(fail::DEADLOCK);
        match kind {
            Kind::Skip => counted = last,
            Kind::Cut => expected = None, // a `Skip` tells
            Kind::Stop => scan.stop = Some(last),
            kind if kind.ordered() => {
                // A record that was never finished is the last that the thread began.
                let done = count_of(last, counted).unwrap_or_else(|| counted.max(at(COUNT_WORD).unwrap_or(0)));
                scan.leaves_out |= expected.is_some_and(|expected| expected != done);
                counted = done + u64::from(kind.counted());
                expected = Some(counted);
                let found = order_of(last);
                if found != 0 && found <= before {
                    scan.disorder.get_or_insert(Disorder { byte: (position * WORD) as u64, found, before });
                }
                before = if found == 0 { before } else { found };
            }
            _ => {}
        }
        position = end;
        if kind == Kind::Stop {
            break;
        }
    }
    scan.end = (position * WORD).min(bytes.len());
    scan.counted = counted.max(at(COUNT_WORD).unwrap_or(0));
    scan.leaves_out |= expected.is_some_and(|expected| expected < scan.counted);
    scan
}

/// All logs of a recording, by thread number.
pub fn open_logs(recording: &Path) -> Result<Vec<Log>, WalkError> {
    let mut logs = log_files(recording)?.iter().map(|path| Log::open(path)).collect::<Result<Vec<Log>, _>>()?;
    if logs.is_empty() {
        return Err(WalkError::NoLogs { path: recording.to_path_buf() });
    }
    logs.sort_by_key(|log| log.header.thread);
    if let Some(twice) = logs.windows(2).find(|pair| pair[0].header.thread == pair[1].header.thread) {
        let (first, second) = (&twice[0], &twice[1]);
        return Err(WalkError::SameThread { first: first.path.clone(), second: second.path.clone() });
    }
    Ok(logs)
}

/// The place of each log's thread in the tree of threads, as the runtime counts them: `0` is the first, `0.2` its second
/// child. Threads that no recorded thread created are roots as well, `1` and so on.
pub fn thread_paths(logs: &[Log]) -> Vec<String> {
    paths(logs.iter().map(Log::header))
}

fn paths<'h>(headers: impl Iterator<Item = &'h FileHeader>) -> Vec<String> {
    let mut known: FxHashMap<u64, String> = FxHashMap::default();
    let mut paths = Vec::new();
    for header in headers {
        // Numbers are given in order of creation: a parent's path is known before its children's.
        let path = match known.get(&header.parent) {
            Some(parent) => format!("{parent}.{}", header.nth),
            None => header.nth.to_string(),
        };
        known.insert(header.thread, path.clone());
        paths.push(path);
    }
    paths
}

/// The files `thread-<number>.log` of a folder, sorted by name.
fn log_files(recording: &Path) -> Result<Vec<PathBuf>, WalkError> {
    files(recording, ".log")
}

/// The files of threads whose name ends so.
fn files(recording: &Path, end: &str) -> Result<Vec<PathBuf>, WalkError> {
    let failed = |error| WalkError::io(recording, error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(recording).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let is_log = name.to_str().is_some_and(|name| name.starts_with("thread-") && name.ends_with(end));
        if is_log {
            paths.push(recording.join(name));
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_runtime::record::{header, stamp, stop};

    fn log(words: &[u64]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thread-1.log");
        let head = [MAGIC, 1, 0, 0, 0, 0, 0, 0];
        let bytes: Vec<u8> = head.iter().chain(words).flat_map(|word| word.to_le_bytes()).collect();
        fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn a_killed_process_leaves_a_log_that_can_be_finished_and_read() {
        let load = [header(Kind::Load4, 7), 0x1000, 42, 1];
        let words: Vec<u64> = load.iter().copied().chain([header(Kind::BranchTrue, 8), 0, 0, 0]).collect();
        let (folder, path) = log(&words);
        let end = (HEADER_WORDS + 5) * WORD;
        assert!(matches!(Log::open(&path), Err(WalkError::CutOff { byte, .. }) if byte == end as u64));
        finish_logs(folder.path()).unwrap();
        finish_logs(folder.path()).unwrap(); // changes nothing more
        let log = Log::open(&path).unwrap();
        let records: Vec<Record> = log.records().collect();
        assert_eq!(records.iter().map(|r| r.kind).collect::<Vec<_>>(), [Kind::Load4, Kind::BranchTrue, Kind::Stop]);
        assert_eq!((records[0].order(), records[0].at, records[1].at), (Some(1), 0, 1));
        assert_eq!((log.stopped_by(), log.len()), (stop::END, 3));
    }

    #[test]
    fn stamps_tell_how_many_accesses_were_left_out() {
        let load = |order, count| [header(Kind::Load4, 7), 0x1000, 42, stamp(order, count)];
        let skip = [header(Kind::Skip, 0), 0x3_0001];
        let stop = [header(Kind::Stop, 0), stop::END];
        let branch = [header(Kind::BranchTrue, 8)];
        let words = [&load(3, 2)[..], &branch, &load(9, 0x1_0002), &branch, &skip, &load(12, 0x3_0005), &stop].concat();
        let (_folder, path) = log(&words);
        let log = Log::open(&path).unwrap();
        let counted = log.records().filter(|record| record.kind.ordered());
        assert_eq!(counted.map(|record| record.at).collect::<Vec<_>>(), [2, 0x1_0002, 0x3_0005]);
        assert_eq!((log.counted(), log.leaves_out()), (0x3_0006, true));
    }

    #[test]
    fn a_record_whose_words_are_missing_is_cut_away() {
        let (folder, path) = log(&[header(Kind::Load4, 7), 0x1000]);
        finish_logs(folder.path()).unwrap();
        assert_eq!(Log::open(&path).unwrap().records().count(), 1);
    }

    #[test]
    fn threads_are_named_by_who_created_them() {
        let header = |thread, parent, nth| FileHeader {
            magic: MAGIC,
            thread,
            parent,
            nth,
            start: 0,
            count: 0,
            reserved: [0; 2],
        };
        // The fourth came from outside, and has a child.
        let headers = [header(1, 0, 0), header(2, 1, 1), header(3, 2, 1), header(4, 0, 1), header(5, 4, 1)];
        assert_eq!(paths(headers.iter()), ["0", "0.1", "0.1.1", "1", "1.1"]);
    }

    #[test]
    fn another_version_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thread-1.log");
        let mut magic = MAGIC.to_le_bytes();
        magic[7] = 9;
        fs::write(&path, [magic; 9].concat()).unwrap();
        assert!(matches!(Log::open(&path), Err(WalkError::LogVersion { found: 9, expected: 3, .. })));
    }
}
