//! Trace files: which format a file has, reading it, and writing it whole or not at all.

use crate::error::{Damaged, Problem, ReadError};
use crate::observed::Observed;
use crate::staged::{Staged, write_whole};
use crate::stream::{EventStream, TraceTail};
use crate::trace::Trace;
use crate::{binary, jsonl, std_format};
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// How the content of a trace is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// JSON Lines, `.jsonl`.
    Jsonl,
    /// The compact binary form, `.ftb`.
    Binary,
    /// The text format of RAPID, `.std`.
    Std,
}

/// The format of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The layout inside.
    pub layout: Layout,
    /// Whether it is compressed with Zstandard, `.zst`.
    pub compressed: bool,
}

impl Format {
    /// Plain JSON Lines.
    pub const JSONL: Format = Format { layout: Layout::Jsonl, compressed: false };

    /// The format that a file's name stands for, by its ending.
    pub fn of_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?;
        let (name, compressed) = name.strip_suffix(".zst").map_or((name, false), |inner| (inner, true));
        let layout = match name.rsplit_once('.')?.1 {
            "jsonl" => Layout::Jsonl,
            "ftb" => Layout::Binary,
            "std" => Layout::Std,
            _ => return None,
        };
        Some(Format { layout, compressed })
    }
}

/// The first bytes of a Zstandard frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

const BUFFER: usize = 1 << 18;

/// Reads the trace in a file, or from standard input where `path` is `-`, whatever its format: its content tells.
pub fn read(path: &Path) -> Result<Trace, ReadError> {
    Ok(read_observed(path)?.0)
}

/// The same, and what its recorded order shows.
pub fn read_observed(path: &Path) -> Result<(Trace, Observed), ReadError> {
    if path == Path::new("-") {
        return read_any(io::stdin().lock()).map_err(|error| error.in_file("<stdin>"));
    }
    let read = File::open(path).map_err(|error| ReadError::io(None, error)).and_then(read_any);
    let (mut trace, observed) = read.map_err(|error| error.in_file(&path.display().to_string()))?;
    let beside = locations_of(path);
    if Format::of_path(path).is_some_and(|format| format.layout == Layout::Std) && beside.is_file() {
        let table = File::open(&beside).map_err(|error| ReadError::io(None, error));
        let restored = table.and_then(|table| std_format::restore_locations(&mut trace, BufReader::new(table)));
        restored.map_err(|error| error.in_file(&beside.display().to_string()))?;
    }
    Ok((trace, observed))
}

/// The table of locations beside a trace in STD, which has numbers for them.
fn locations_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".locations");
    name.into()
}

/// As [`read_observed`] as long as `go_on` agrees, which is asked now and then; `None` where it does not.
///
/// # Errors
/// As [`read`].
pub fn read_observed_while(path: &Path, go_on: &dyn Fn() -> bool) -> Result<Option<(Trace, Observed)>, ReadError> {
    let stopped = Cell::new(false);
    let may_go_on = || {
        stopped.set(stopped.get() || !go_on());
        !stopped.get()
    };
    let result = if path == Path::new("-") {
        read_any(Watched { input: io::stdin().lock(), go_on: &may_go_on }).map_err(|error| error.in_file("<stdin>"))
    } else {
        let file = File::open(path).map_err(|error| ReadError::io(None, error));
        let read = file.and_then(|input| read_any(Watched { input, go_on: &may_go_on }));
        read.map_err(|error| error.in_file(&path.display().to_string()))
    };
    match result {
        Err(_) if stopped.get() => Ok(None),
        result => result.map(Some),
    }
}

/// The events of a trace as they come, from a file or from standard input where `path` is `-`.
///
/// # Errors
/// Where the start of the input is no trace's.
pub fn stream(path: &Path) -> Result<EventStream, ReadError> {
    let name = if path == Path::new("-") { "<stdin>".to_string() } else { path.display().to_string() };
    let input: io::Result<Box<dyn Read>> = match path == Path::new("-") {
        true => Ok(Box::new(io::stdin().lock())),
        false => File::open(path).map(|file| Box::new(file) as Box<dyn Read>),
    };
    let opened = input.map_err(|error| ReadError::io(None, error)).and_then(stream_any);
    opened.map(|stream| stream.of_file(&name)).map_err(|error| error.in_file(&name))
}

/// The latest events of a trace as they come, from a file or from standard input where `path` is `-`, with what they say of values.
///
/// # Errors
/// Where the start of the input is no trace's, or the trace is in the binary form.
pub fn tail(path: &Path) -> Result<TraceTail, ReadError> {
    stream(path).and_then(TraceTail::from_stream)
}

/// As [`tail`], of bytes; `name` stands for the file in messages.
///
/// # Errors
/// As [`tail`].
pub fn tail_from(input: impl Read + 'static, name: &str) -> Result<TraceTail, ReadError> {
    let stream = stream_any(Box::new(input)).map_err(|error| error.in_file(name))?;
    TraceTail::from_stream(stream.of_file(name))
}

fn stream_any(input: Box<dyn Read>) -> Result<EventStream, ReadError> {
    let input = Peeked::new(input).map_err(|error| ReadError::io(None, error))?;
    if !input.start().starts_with(&ZSTD_MAGIC) {
        return stream_plain(input);
    }
    let decoder = zstd::stream::read::Decoder::with_buffer(input).map_err(|error| ReadError::io(None, error))?;
    stream_plain(Peeked::new(Inside(decoder)).map_err(|error| ReadError::unreadable(None, None, error))?)
}

fn stream_plain<R: Read + 'static>(input: Peeked<R>) -> Result<EventStream, ReadError> {
    if input.start().starts_with(&binary::MAGIC[..1]) {
        return EventStream::of_binary(Box::new(input));
    }
    match input.start().iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Err(empty()),
        Some(b'{') => EventStream::of_jsonl(Box::new(input)),
        _ => Ok(EventStream::of_std(Box::new(input))),
    }
}

/// An input that fails when it is to stop.
struct Watched<'w, R> {
    input: R,
    go_on: &'w dyn Fn() -> bool,
}

/// So many bytes at most go by between two looks at the clock.
const MOST_AT_ONCE: usize = 1 << 16;

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !(self.go_on)() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "stopped"));
        }
        let most = buffer.len().min(MOST_AT_ONCE);
        self.input.read(&mut buffer[..most])
    }
}

/// Reads a trace from bytes; `name` stands for the file in messages.
pub fn read_from(input: impl Read, name: &str) -> Result<Trace, ReadError> {
    let (trace, _) = read_any(input).map_err(|error| error.in_file(name))?;
    Ok(trace)
}

fn read_any(input: impl Read) -> Result<(Trace, Observed), ReadError> {
    let mut input = Peeked::new(input).map_err(|error| ReadError::io(None, error))?;
    if !input.start().starts_with(&ZSTD_MAGIC) {
        return read_plain(&mut input);
    }
    let decoder = zstd::stream::read::Decoder::with_buffer(&mut input).map_err(|error| ReadError::io(None, error))?;
    let mut inside = Peeked::new(Inside(decoder)).map_err(|error| ReadError::unreadable(None, None, error))?;
    if inside.start().starts_with(&ZSTD_MAGIC) {
        let problem = Problem::new("a compressed file inside a compressed file", "a trace");
        return Err(ReadError::invalid(None, problem.at(None)));
    }
    read_plain(&mut inside)
}

fn read_plain<R: Read>(input: &mut Peeked<R>) -> Result<(Trace, Observed), ReadError> {
    let start = input.start();
    if start.starts_with(&binary::MAGIC[..1]) {
        return binary::read(input);
    }
    match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Err(empty()),
        Some(b'{') => jsonl::read(input),
        _ => std_format::read(input),
    }
}

fn empty() -> ReadError {
    ReadError::invalid(None, Problem::new("an empty file", "a trace").at(None))
}

/// What is inside a compressed file: what goes wrong there without the system having a part in it is damage.
struct Inside<R>(R);

impl<R: Read> Read for Inside<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match (error.raw_os_error(), error.kind()) {
            (None, io::ErrorKind::UnexpectedEof | io::ErrorKind::Other) => {
                io::Error::new(io::ErrorKind::InvalidData, Damaged(error.to_string()))
            }
            _ => error,
        })
    }
}

/// A buffered reader whose first bytes were seen before.
struct Peeked<R> {
    input: BufReader<io::Chain<io::Cursor<Vec<u8>>, R>>,
    start: Vec<u8>,
}

impl<R: Read> Peeked<R> {
    fn new(mut input: R) -> io::Result<Peeked<R>> {
        let mut start = Vec::new();
        input.by_ref().take(16).read_to_end(&mut start)?;
        let whole = io::Cursor::new(start.clone()).chain(input);
        Ok(Peeked { input: BufReader::with_capacity(BUFFER, whole), start })
    }

    fn start(&self) -> &[u8] {
        &self.start
    }
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer)
    }
}

impl<R: Read> BufRead for Peeked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.input.consume(amount);
    }
}

/// Writes a trace to a file: to another one next to it first, which then takes its place. A target that exists and
/// is no plain file (a pipe, a terminal) is written directly.
pub fn write(path: &Path, trace: &Trace, format: Format) -> io::Result<()> {
    if let Some(staged) = stage(path, trace, format)? {
        if format.layout == Layout::Std {
            write_whole(&locations_of(path), |out| std_format::write_locations(out, trace))?;
        }
        return staged.put_in_place();
    }
    let target = fs::OpenOptions::new().write(true).open(path)?;
    write_to(target, trace, format)
}

/// Writes a trace to a file next to another, whose place it takes when told to; nothing for a target that exists and is no plain
/// file.
pub fn stage(path: &Path, trace: &Trace, format: Format) -> io::Result<Option<Staged>> {
    if fs::metadata(path).is_ok_and(|target| !target.is_file()) {
        return Ok(None);
    }
    // A link stays a link: what it leads to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut staged = Staged::create(&target)?;
    write_to(&mut staged, trace, format)?;
    Ok(Some(staged))
}

/// Writes a trace to any output.
pub fn write_to(out: impl Write, trace: &Trace, format: Format) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    if format.compressed {
        let mut encoder = zstd::stream::write::Encoder::new(&mut out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
        encoder.include_checksum(true)?;
        write_plain(&mut encoder, trace, format.layout)?;
        encoder.finish()?;
    } else {
        write_plain(&mut out, trace, format.layout)?;
    }
    out.flush()
}

fn write_plain(out: &mut impl Write, trace: &Trace, layout: Layout) -> io::Result<()> {
    match layout {
        Layout::Jsonl => jsonl::write(out, trace),
        Layout::Binary => binary::write(out, trace),
        Layout::Std => std_format::write(out, trace),
    }
}
