//! Writes a large trace for measurements: `cargo run --release --features strategies --example synthetic --
//! dense|large EVENTS SEED FILE`.

use foretrace_trace::file::Format;
use foretrace_trace::strategies::Synthetic;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, events, seed, file] = &args[..] else {
        return Err(std::io::Error::other("expected dense|large EVENTS SEED FILE"));
    };
    let number = |text: &str| text.parse::<u64>().map_err(std::io::Error::other);
    let (events, seed) = (number(events)? as usize, number(seed)?);
    let shape = match kind.as_str() {
        "dense" => Synthetic::dense(events, seed),
        "solved" => Synthetic { computed: 33, ..Synthetic::dense(events, seed) },
        "large" => Synthetic::large(events, seed),
        other => return Err(std::io::Error::other(format!("expected dense, solved or large, found {other}"))),
    };
    let path = Path::new(file);
    let format =
        Format::of_path(path).ok_or_else(|| std::io::Error::other(format!("{file}: no format has this ending")))?;
    foretrace_trace::write(path, &shape.trace(), format)
}
