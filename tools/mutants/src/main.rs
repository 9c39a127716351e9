//! `scripts/mutants AREA [--only TEXT] [--share PERCENT] [--longest SECONDS] [--again] [--jobs N] [--list]`.

use anyhow::{Context, Result, bail};
use foretrace_mutants::outcome::Outcome;
use foretrace_mutants::{Options, area, outcome, run, tree};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    run_as_asked().unwrap_or_else(|error| {
        eprintln!("mutants: {error:#}"); // without the backtrace that anyhow adds if the environment asks for it
        ExitCode::from(2)
    })
}

fn run_as_asked() -> Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let areas = area::areas();
    let names: Vec<&str> = areas.iter().map(|area| area.name.as_str()).collect();
    let usage = format!("expected an area: {}", names.join(", "));
    let name = arguments.next().context(usage.clone())?;
    let area = areas.iter().find(|area| area.name == name).context(usage)?;
    let mut options = Options { jobs: std::thread::available_parallelism()?.get(), ..Options::default() };
    let mut is_list = false;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--only" => options.only = Some(value()?),
            "--jobs" => options.jobs = value()?.parse().context("--jobs needs a number")?,
            "--longest" => options.longest = Some(value()?.parse().context("--longest needs a number of seconds")?),
            "--share" => {
                options.share = Some(value()?.parse().context("--share needs a number of changes in a hundred")?)
            }
            "--again" => options.again = true,
            "--list" => is_list = true,
            _ => bail!(
                "no option {argument}: --only TEXT, --share PERCENT, --longest SECONDS, --again, --jobs N, --list"
            ),
        }
    }
    let root = PathBuf::from(".").canonicalize()?;
    let place = root.join("target/mutants");
    if is_list {
        let names = tree::names(&root, area)?;
        names.iter().filter(|name| options.asks(name)).for_each(|name| println!("{name}"));
        return Ok(ExitCode::SUCCESS);
    }
    let equivalents = outcome::equivalents(&std::fs::read_to_string("scripts/mutants.equivalent")?);
    let summary = run(&root, &place, area, &equivalents, &options)?;
    for (outcome, change) in &summary.unnoticed {
        println!("{}  {change}", if *outcome == Outcome::NotReached { "not reached" } else { "survived   " });
    }
    for change in &summary.wrongly_listed {
        println!("listed, but noticed or no change  {change}");
    }
    for test in &summary.too_long {
        println!("left out, takes too long  {test}");
    }
    if let Some(share) = options.share {
        println!("{share} % of the changes");
    }
    println!("| area | changes | reached | killed | by time | no difference | not noticed |");
    let (changes, reached, killed, timed_out) = (summary.changes, summary.reached, summary.killed, summary.timed_out);
    println!(
        "| {name} | {changes} | {reached} | {killed} | {timed_out} | {} | {} |",
        summary.listed,
        summary.unnoticed.len()
    );
    Ok(if summary.unnoticed.is_empty() && summary.wrongly_listed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
