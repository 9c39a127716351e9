//! `foretrace completions`: scripts for shells.

use super::outcome::Outcome;
use std::io::Write;

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  foretrace completions bash > ~/.local/share/bash-completion/completions/foretrace
  foretrace completions zsh > ~/.zfunc/_foretrace
  foretrace completions fish > ~/.config/fish/completions/foretrace.fish")]
pub struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the script.
pub fn run(args: &Args, mut cli: clap::Command) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli, "foretrace", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Outcome::Fine)
}
