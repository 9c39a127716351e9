//! A test that was stopped is kept in a folder, with the recordings and schedules that wait, so that another command goes on with it.

use super::kept::copy;
use super::settings::TestError;
use super::state::State;
use super::subject::Tested;
use super::workplace::Workplace;
use foretrace_report::write_whole;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The folder among what is kept of a program.
const FOLDER: &str = "unfinished";
/// The same while it is written.
const HALF_WRITTEN: &str = "unfinished.new";
/// The file with what the test knows.
const STATE: &str = "state.json";
/// The folder for its recordings and schedules.
const RUNS: &str = "runs";
/// What the names of packed schedules end with, and how well they are packed: by little, in little time.
const PACKED: &str = ".zst";
const FAST: i32 = 1;

/// What the file holds.
#[derive(Serialize, Deserialize)]
struct Kept {
    tested: Tested,
    state: State,
}

/// Keeps what a test knows, whose runs lie in the folders of `work`, below `folder`.
///
/// # Errors
/// A file cannot be read or written.
pub fn keep_unfinished(mut state: State, tested: &Tested, work: &Workplace, folder: &Path) -> Result<(), TestError> {
    let (new, whole) = (folder.join(HALF_WRITTEN), folder.join(FOLDER));
    remove(&new)?;
    let runs = new.join(RUNS);
    std::fs::create_dir_all(&runs).map_err(at(&runs))?;
    carry(&mut state, |path| work.below(path), &runs, pack)?;
    for path in state.paths() {
        *path = path.strip_prefix(&runs).map_err(|_| outside(path))?.to_path_buf();
    }
    let file = new.join(STATE);
    let kept = Kept { tested: tested.clone(), state };
    let write = |out: &mut dyn io::Write| {
        serde_json::to_writer(&mut *out, &kept)?;
        out.write_all(b"\n")
    };
    write_whole(&file, write).map_err(at(&file))?;
    remove(&whole)?;
    std::fs::rename(&new, &whole).map_err(at(&whole))
}

/// Whether a test that was stopped is kept below `folder`.
pub fn is_kept(folder: &Path) -> bool {
    folder.join(FOLDER).join(STATE).is_file()
}

/// What a stopped test knew, which is kept below `folder`, if it was a test of the same. Its runs come to the disk, in a folder of `work`.
///
/// # Errors
/// None is kept there, it is a test of something else, or a file cannot be read.
pub fn go_on_from(folder: &Path, tested: &Tested, work: &Workplace) -> Result<State, TestError> {
    let file = folder.join(FOLDER).join(STATE);
    let refused = |why: String| TestError::Resume(why, folder.to_path_buf());
    if !is_kept(folder) {
        return Err(refused("keeps no test that a limit or Ctrl-C has stopped".to_string()));
    }
    let text = std::fs::read(&file).map_err(at(&file))?;
    let kept: Kept = serde_json::from_slice(&text).map_err(|error| at(&file)(error.into()))?;
    if let Some(why) = kept.tested.difference(tested) {
        return Err(refused(why));
    }
    let (mut state, runs) = (kept.state, folder.join(FOLDER).join(RUNS));
    for path in state.paths() {
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(refused(format!("expected paths below {}, found {}", runs.display(), path.display())));
        }
        *path = runs.join(&*path);
    }
    carry(&mut state, |path| path.strip_prefix(&runs).ok(), work.on_disk(), unpack)?;
    Ok(state)
}

/// Removes what is kept of a test that was stopped; the folder, too, where it kept nothing else.
///
/// # Errors
/// It cannot be removed.
pub fn forget(folder: &Path) -> Result<(), TestError> {
    let kept = folder.join(FOLDER);
    if kept.is_dir() {
        remove(&kept)?;
        let _ = std::fs::remove_dir(folder); // it keeps finds
    }
    Ok(())
}

/// Copies recordings and schedules to a folder, by their paths below the one where they are, and names them by where they are then.
fn carry(
    state: &mut State,
    below: impl Fn(&Path) -> Option<&Path>,
    to: &Path,
    copy_schedule: impl Fn(&Path, PathBuf) -> io::Result<PathBuf>,
) -> Result<(), TestError> {
    for recording in state.recordings() {
        copy(&recording, &to.join(below(&recording).ok_or_else(|| outside(&recording))?))?;
    }
    for path in state.paths() {
        let mut new = to.join(below(path).ok_or_else(|| outside(path))?);
        if path.is_file() {
            let around = new.parent().unwrap_or(to);
            std::fs::create_dir_all(around).map_err(at(around))?;
            new = copy_schedule(path, new).map_err(at(path))?;
        } else if !new.is_dir() {
            return Err(at(path)(io::ErrorKind::NotFound.into()));
        }
        *path = new;
    }
    Ok(())
}

/// Copies a schedule packed, to the path with `.zst`: it has a line for each event, and most of a line is in the next one, too.
fn pack(from: &Path, to: PathBuf) -> io::Result<PathBuf> {
    let mut packed = to.into_os_string();
    packed.push(PACKED);
    zstd::stream::copy_encode(File::open(from)?, File::create(&packed)?, FAST)?;
    Ok(packed.into())
}

/// Undoes [`pack`].
fn unpack(from: &Path, mut to: PathBuf) -> io::Result<PathBuf> {
    if to.as_os_str().as_encoded_bytes().ends_with(PACKED.as_bytes()) {
        to.set_extension("");
        zstd::stream::copy_decode(File::open(from)?, File::create(&to)?)?;
    } else {
        std::fs::copy(from, &to)?;
    }
    Ok(to)
}

fn outside(path: &Path) -> TestError {
    TestError::Io(path.to_path_buf(), io::Error::other("internal error: not a file of this test"))
}

fn remove(folder: &Path) -> Result<(), TestError> {
    match folder.is_dir() {
        true => std::fs::remove_dir_all(folder).map_err(at(folder)),
        false => Ok(()),
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> TestError {
    let path = path.to_path_buf();
    move |error| TestError::Io(path.clone(), error)
}
