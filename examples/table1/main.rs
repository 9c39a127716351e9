//! Table 1 of the Fusion paper, re-created: `scripts/table1`.
//!
//! Each row's program runs once, and its trace is analysed as the paper does it. The paper's own programs are not to be had
//! any more: these are made so that their counts are the paper's (`docs/measurements.md`, *Table 1*).

mod bank;
mod measure;
mod rows;

use anyhow::{Context, bail, ensure};
use foretrace::options::Strategy;
use measure::{Measured, measure};
use rows::{Figures, PAPER};
use std::io::Write;
use std::time::Duration;

/// What a strategy may take for one row, where nothing else is said.
const LIMIT: Duration = Duration::from_secs(600);

const USAGE: &str = "usage: scripts/table1 [--times [--limit SECONDS]] [ROW…]
           the table, or some of its rows; with the time of the paper's way, cut off at so many seconds a row (600)
       scripts/table1 --programs DIR
           writes the programs";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, folder] = &arguments[..]
        && flag == "--programs"
    {
        return write_programs(folder);
    }
    table(&Choices::from(arguments)?)
}

/// What is asked for.
struct Choices {
    times: bool,
    limit: Duration,
    rows: Vec<String>,
}

impl Choices {
    fn from(arguments: Vec<String>) -> anyhow::Result<Choices> {
        let mut choices = Choices { times: false, limit: LIMIT, rows: Vec::new() };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--times" => choices.times = true,
                "--limit" => {
                    let seconds = arguments.next().and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0);
                    choices.limit = Duration::from_secs(seconds.with_context(|| USAGE)?);
                }
                name if PAPER.iter().any(|(row, _)| *row == name) => choices.rows.push(argument),
                _ => bail!("no such row: {argument}\n{USAGE}"),
            }
        }
        Ok(choices)
    }

    fn include(&self, name: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|row| row == name)
    }
}

fn write_programs(folder: &str) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.to_string())?;
    for (name, _) in PAPER {
        let path = format!("{folder}/{name}.lit");
        let (text, _) = rows::program(name).with_context(|| format!("no such row: {name}"))?;
        std::fs::write(&path, text).with_context(|| path.clone())?;
    }
    Ok(())
}

fn table(choices: &Choices) -> anyhow::Result<()> {
    let Choices { times, limit, .. } = *choices;
    let out = &mut std::io::stdout().lock();
    write!(out, "{:<11}{:>6}{:>11}{:>16}{:>8}", "", "thrds", "svars", "events", "regions")?;
    write!(out, "{:>11}{:>9}{:>9}{:>9}{:>17}", "orig-pavs", "hb-pavs", "sym-avs", "w/o data", "sym-time (s)")?;
    writeln!(out, "{}", if times { format!("{:>11}{:>10}", "paper's way", "ratio") } else { String::new() })?;
    let (mut sums, mut slower) = ([0.0; 2], Vec::new());
    for (name, paper) in PAPER.iter().filter(|(name, _)| choices.include(name)) {
        let found = measure(name, Strategy::Demand, limit)?;
        ensure!(found.is_whole(), "{name}: not everything was decided in {limit:?}");
        write_row(out, name, paper, &found.figures)?;
        if times {
            let seconds = [found.figures.seconds, baseline(name, &found, limit)?];
            let cut = if seconds[1] >= limit.as_secs_f64() { ">" } else { "" };
            write!(out, "{:>11}{:>10.1}", format!("{cut}{:.3}", seconds[1]), seconds[1] / seconds[0])?;
            sums = [sums[0] + seconds[0], sums[1] + seconds[1]];
            slower.extend((seconds[0] > seconds[1]).then_some(*name));
        }
        writeln!(out)?;
    }
    if times {
        let ratio = sums[1] / sums[0];
        writeln!(out, "\nwhole table: {:.3} s, the paper's way {:.3} s: {ratio:.1} times as long", sums[0], sums[1])?;
        writeln!(out, "slower rows: {}", if slower.is_empty() { "none".into() } else { slower.join(", ") })?;
    }
    writeln!(
        out,
        "\nEach cell: found (in the paper). Events: the paper's after its simplification; ours are all there are."
    )?;
    Ok(())
}

/// The time of the paper's way, up to the limit; what it decides must be the same.
fn baseline(name: &str, found: &Measured, limit: Duration) -> anyhow::Result<f64> {
    let baseline = measure(name, Strategy::Paper, limit)?;
    for (triple, feasible) in &baseline.verdicts {
        ensure!(found.verdicts.get(triple) == Some(feasible), "{name}: the strategies do not agree on {triple}");
    }
    Ok(baseline.figures.seconds)
}

fn write_row(out: &mut dyn Write, name: &str, paper: &Figures, found: &Figures) -> std::io::Result<()> {
    let cell = |ours: u64, theirs: u64| format!("{ours} ({theirs})");
    let size = |ours: usize, theirs: usize| format!("{ours} ({theirs})");
    write!(out, "{name:<11}{:>6}{:>11}", found.threads, size(found.shared, paper.shared))?;
    write!(out, "{:>16}{:>8}", size(found.events.0, paper.events.0), found.regions)?;
    write!(out, "{:>11}", cell(found.candidates, paper.candidates))?;
    write!(out, "{:>9}", cell(found.after_orders, paper.after_orders))?;
    write!(out, "{:>9}", cell(found.feasible, paper.feasible))?;
    write!(out, "{:>9}", cell(found.without_data, paper.without_data))?;
    write!(out, "{:>17}", format!("{:.3} ({})", found.seconds, paper.seconds))
}
