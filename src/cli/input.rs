//! The input of programs that are run many times.

use super::shell::quoted;
use anyhow::Context;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

const STANDARD_INPUT: &str = "/proc/self/fd/0";

/// The file that is redirected to us: each run reads it from its start.
pub fn file() -> anyhow::Result<Option<PathBuf>> {
    if !std::fs::metadata(STANDARD_INPUT).is_ok_and(|file| file.is_file()) {
        return Ok(None);
    }
    let path = std::fs::read_link(STANDARD_INPUT).context("cannot find the file that is redirected to this command")?;
    Ok(Some(if path.exists() { path } else { own_descriptor() }))
}

/// Our standard input as other processes find it. A shell deletes the file of a here-document, which is there as long as we have it open.
fn own_descriptor() -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/0", std::process::id()))
}

/// What a shell needs after a command in a folder (else ours) to give it the same input: ` < FILE`, or nothing.
pub fn redirection(input: Option<&Path>, folder: Option<&Path>) -> String {
    let Some(path) = input.filter(|path| *path != own_descriptor()) else { return String::new() };
    let folder = folder.map(Path::to_path_buf).or_else(|| std::env::current_dir().ok());
    let shown = folder.and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path);
    format!(" < {}", quoted(shown))
}

/// Said where a pipe brings input.
pub const OF_PIPE: &str =
    "a pipe brings input, which no run reads: redirect a file (< FILE), which each run reads from its start";

/// Whether a pipe brings input. No run reads it: each would need all of it.
pub fn is_from_pipe() -> bool {
    let stdin = std::io::stdin();
    let mut polled = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    std::fs::metadata(STANDARD_INPUT).is_ok_and(|file| file.file_type().is_fifo())
        && poll(&mut polled, PollTimeout::ZERO).is_ok()
        && polled[0].revents().is_some_and(|events| events.contains(PollFlags::POLLIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirection_is_relative_to_the_folder_of_the_command() {
        let shown = |folder: &str| redirection(Some(Path::new("/srv/of mine/in put")), Some(Path::new(folder)));
        assert_eq!(shown("/srv/of mine"), " < 'in put'");
        assert_eq!(shown("/srv/of yours"), " < '/srv/of mine/in put'");
        assert_eq!(redirection(Some(Path::new("/proc/cpuinfo")), None), " < /proc/cpuinfo");
        assert_eq!(redirection(Some(&own_descriptor()), None), "", "nobody else has it");
    }
}
