//! Instruments one file of bitcode: `instrument IN.bc OUT.o [--as-shipped] [--show]`.

use foretrace_instrument::{Options, instrument};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let [input, output] = files.as_slice() else { return Err("usage: instrument IN.bc OUT.o".into()) };
    let options = Options { as_shipped: flags.iter().any(|flag| flag == "--as-shipped"), ..Options::default() };
    let made = instrument(&std::fs::read(input)?, input, options)?;
    std::fs::write(output, &made.object)?;
    for (function, why) in &made.left {
        eprintln!("{function} is left as it is: {why}");
    }
    if flags.iter().any(|flag| flag == "--show") {
        println!("{:#?}", made.unit);
    }
    Ok(())
}
