//! The input of programs that are run many times.

use super::shell::quoted;
use anyhow::Context;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The file that is redirected to us: each run reads it from its start.
pub fn file() -> anyhow::Result<Option<PathBuf>> {
    let is_file = std::fs::metadata("/proc/self/fd/0").is_ok_and(|file| file.is_file());
    if !is_file {
        return Ok(None);
    }
    let path =
        std::fs::read_link("/proc/self/fd/0").context("cannot find the file that is redirected to this command")?;
    // A shell deletes the file of a here-document; it is there as long as we have it open.
    let ours = || PathBuf::from(format!("/proc/{}/fd/0", std::process::id()));
    Ok(Some(if path.exists() { path } else { ours() }))
}

/// What a shell needs after a command to give it the same input: ` < FILE`, or nothing.
pub fn redirection(input: Option<&Path>) -> String {
    let Some(path) = input.filter(|path| !path.starts_with("/proc")) else { return String::new() };
    let folder = std::env::current_dir().ok();
    let shown = folder.and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path);
    format!(" < {}", quoted(shown.as_os_str()))
}

/// Said where a pipe brings input.
pub const OF_PIPE: &str =
    "a pipe brings input, which no run reads: redirect a file (< FILE), which each run reads from its start";

/// Whether a pipe brings input. No run reads it: each would need all of it.
pub fn is_from_pipe() -> bool {
    let stdin = std::io::stdin();
    let mut polled = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    std::fs::metadata("/proc/self/fd/0").is_ok_and(|file| file.file_type().is_fifo())
        && poll(&mut polled, PollTimeout::ZERO).is_ok()
        && polled[0].revents().is_some_and(|events| events.contains(PollFlags::POLLIN))
}
