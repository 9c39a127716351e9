//! `foretrace man`: writes manual pages, for the installation.

use super::outcome::Outcome;
use anyhow::Context;
use foretrace::report::write_whole;
use std::path::{Path, PathBuf};

/// Write a manual page for each command
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  foretrace man ~/.local/share/man/man1")]
pub struct Args {
    /// The folder for the pages; made where it is missing
    folder: PathBuf,
}

/// Writes the pages.
pub fn run(args: &Args, cli: clap::Command) -> anyhow::Result<Outcome> {
    std::fs::create_dir_all(&args.folder).with_context(|| format!("cannot make {}", args.folder.display()))?;
    let mut cli = cli.disable_help_subcommand(true);
    cli.build();
    write_page(&cli, "foretrace", &args.folder)?;
    for command in cli.get_subcommands().filter(|command| !command.is_hide_set()) {
        write_page(command, &format!("foretrace-{}", command.get_name()), &args.folder)?;
    }
    Ok(Outcome::Fine)
}

fn write_page(command: &clap::Command, name: &str, folder: &Path) -> anyhow::Result<()> {
    // clap leaks the names of pages; there is one for each command
    let named = command.clone().name(&*name.to_owned().leak());
    let path = folder.join(format!("{name}.1"));
    write_whole(&path, |out| clap_mangen::Man::new(named).render(&mut &mut *out))
        .with_context(|| format!("cannot write {}", path.display()))
}
