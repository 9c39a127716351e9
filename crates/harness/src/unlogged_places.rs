//! Where in the code accesses without a record are: a file in the recording's folder says it, since the log does not.

use foretrace_report::write_whole;
use foretrace_walker::Walked;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

/// The file in a recording's folder.
const UNLOGGED: &str = "unlogged.zst";

/// Where in the code accesses without a record are.
#[derive(Default)]
pub(super) struct UnloggedPlaces {
    /// Per thread, ascending: the position of an access, its place, and how often the thread was there before.
    threads: FxHashMap<String, Vec<(u64, u64, u64)>>,
}

impl UnloggedPlaces {
    /// What a recording's folder keeps; nothing where every access has a record.
    pub fn read(recording: &Path) -> io::Result<UnloggedPlaces> {
        let file = match File::open(recording.join(UNLOGGED)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(UnloggedPlaces::default()),
            opened => opened?,
        };
        let mut all = UnloggedPlaces::default();
        let mut times = FxHashMap::default();
        for line in BufReader::new(zstd::Decoder::new(file)?).lines() {
            all.add(&line?, &mut times).ok_or_else(|| io::Error::other("not the accesses of a recording"))?;
        }
        Ok(all)
    }

    /// `times` says how often a thread was at a place.
    fn add(&mut self, line: &str, times: &mut FxHashMap<(String, u64), u64>) -> Option<()> {
        let mut words = line.split(' ');
        let (path, at, place) = (words.next()?.to_string(), words.next()?.parse().ok()?, words.next()?);
        let place = u64::from_str_radix(place, 16).ok()?;
        let before = times.entry((path.clone(), place)).or_default();
        self.threads.entry(path).or_default().push((at, place, *before));
        *before += 1;
        Some(())
    }

    /// All places, in no order.
    pub fn all(&self) -> impl Iterator<Item = u64> {
        self.threads.values().flatten().map(|(_, place, _)| *place)
    }

    /// The place of a thread's access, and how often the thread was there before without a record.
    pub fn of_access(&self, path: &str, at: u64) -> Option<(u64, u64)> {
        let accesses = self.threads.get(path)?;
        let (_, place, before) = accesses[accesses.binary_search_by_key(&at, |(at, ..)| *at).ok()?];
        Some((place, before))
    }
}

/// Keeps beside a recording's trace where the accesses without a record are.
///
/// # Errors
/// The file cannot be written.
pub fn keep_unlogged(recording: &Path, walked: &Walked) -> io::Result<()> {
    let threads = &walked.trace.threads;
    write_whole(&recording.join(UNLOGGED), |out| {
        let mut packed = zstd::Encoder::new(out, 0)?;
        for one in &walked.statistics.unlogged {
            let Some(path) = threads[one.thread.index()].path.as_deref() else { continue };
            writeln!(packed, "{path} {} {:x}", one.at, one.place)?;
        }
        packed.finish().map(|_| ())
    })
}
