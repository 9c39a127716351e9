//! Every crate that the workspace is built from comes from crates.io, under a licence that ours permits.

use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::process::Command;

const PERMITTED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Zlib",
    "MPL-2.0",
    "MIT-0",
    "BSL-1.0",
    "Unlicense",
    "0BSD",
];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The packages of the lock file; those of the workspace have no source.
fn packages() -> Vec<Value> {
    let arguments = ["metadata", "--locked", "--format-version", "1"];
    let cargo = Command::new(env!("CARGO")).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = cargo.expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("a list").clone()
}

/// Whether the permitted licences satisfy an SPDX expression.
fn is_permitted(licence: &str) -> bool {
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else { return false };
    expression.evaluate(|one| one.license.id().is_some_and(|id| PERMITTED.contains(&id.name)))
}

#[test]
fn licences_and_sources_are_permitted() {
    let packages = packages();
    let text = |package: &Value, field: &str| package[field].as_str().unwrap_or_default().to_string();
    let foreign: Vec<&Value> = packages.iter().filter(|package| !package["source"].is_null()).collect();
    assert!(foreign.len() > 50 && foreign.len() < packages.len(), "{} of {}", foreign.len(), packages.len());
    for package in foreign {
        let name = format!("{} {}", text(package, "name"), text(package, "version"));
        assert_eq!(text(package, "source"), CRATES_IO, "{name}");
        assert!(is_permitted(&text(package, "license")), "{name}: {}", text(package, "license"));
    }
}

#[test]
fn a_licence_that_asks_for_more_is_refused() {
    assert!(is_permitted("MIT OR GPL-3.0-only") && is_permitted("MIT/Apache-2.0"));
    for licence in ["GPL-3.0-only", "MIT AND LGPL-2.1-or-later", "", "LicenseRef-own"] {
        assert!(!is_permitted(licence), "{licence}");
    }
}
