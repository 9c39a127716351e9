//! A program of a workspace: with a library, a build script, a procedural macro and a feature.

use std::thread;

fn main() {
    assert!(cfg!(foretrace));
    let two: Vec<_> = (0..2).map(|_| thread::spawn(counter::count)).collect();
    two.into_iter().for_each(|one| one.join().unwrap());
    let loud = if cfg!(feature = "loud") { "!" } else { "" };
    println!("{} {} {} {loud}", env!("FROM_BUILD"), made::answer!(), counter::counted());
    let debug = if cfg!(debug_assertions) { "debug" } else { "release" };
    println!("{debug} {:?}", std::env::args().skip(1).collect::<Vec<_>>());
    std::process::exit(7);
}
