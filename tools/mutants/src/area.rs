//! The areas: which files are changed, and which tests have to notice.

/// Files, and the tests that count for them.
#[derive(Clone, Debug, Hash)]
pub struct Area {
    /// Its name.
    pub name: String,
    /// Files below the root; what ends in `/` stands for all files below but tests.
    pub files: Vec<String>,
    /// Files below these folders that decide no verdict.
    pub but: Vec<String>,
    /// The targets whose tests count.
    pub tests: Vec<Target>,
    /// The names of their tests that do not count.
    pub skipped: Vec<String>,
    /// The address space that a test may use, in MB.
    pub memory: u64,
}

/// A target of a package.
#[derive(Clone, Debug, Hash)]
pub struct Target {
    /// The package.
    pub package: String,
    /// `lib` or the name of a test.
    pub name: String,
    /// The number of random traces for its oracle tests, if not their own.
    pub seeds: Option<u32>,
}

impl Target {
    /// Reads `PACKAGE/NAME` or `PACKAGE/NAME=SEEDS`.
    fn read(text: &str) -> Target {
        let (target, seeds) = text.split_once('=').map_or((text, None), |(target, seeds)| (target, seeds.parse().ok()));
        let (package, name) = target.split_once('/').unwrap_or((target, "lib"));
        Target { package: package.into(), name: name.into(), seeds }
    }
}

impl Area {
    /// Whether a file, named from the root, is changed.
    pub fn has(&self, file: &str) -> bool {
        let named = self.files.iter().any(|entry| match entry.ends_with('/') {
            true => {
                file.starts_with(entry.as_str())
                    && file.ends_with(".rs")
                    && !file.contains("/tests/")
                    && !file.ends_with("/tests.rs")
            }
            false => file == entry,
        });
        named && !self.but.iter().any(|left_out| file.starts_with(left_out.as_str()))
    }
}

/// The areas of this repository. Golden files do not count as tests: they show any change, right or wrong.
pub fn areas() -> Vec<Area> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let area = |name: &str, files: &str, but: &str, tests: &str, memory| Area {
        name: name.into(),
        files: words(files),
        but: words(but),
        tests: words(tests).iter().map(|test| Target::read(test)).collect(),
        // It is about leaving out whole rules, and takes longer than all others.
        skipped: words("every_rule_is_needed"),
        memory,
    };
    vec![
        area(
            "trace",
            "crates/trace/src/semantics.rs crates/trace/src/sync_state.rs crates/trace/src/data_rules.rs crates/trace/src/schedule.rs
             crates/trace/src/program_order.rs crates/trace/src/open_tries.rs crates/trace/src/violation.rs crates/trace/src/observe.rs",
            "",
            "foretrace-trace/lib foretrace-trace/bad_input foretrace-trace/corpus foretrace-trace/fuzz_corpus foretrace-trace/terms
             foretrace-checker/lib",
            4000,
        ),
        area("checker", "crates/checker/src/", "crates/checker/src/error.rs", "foretrace-checker/lib", 4000),
        area(
            "encodings",
            "encodings/src/",
            "encodings/src/paper/ encodings/src/smtlib.rs",
            "foretrace-encodings/lib foretrace-solve/lib foretrace-encodings/concurrent_ssa foretrace-encodings/folding foretrace-encodings/witnesses
             foretrace-analysis/solver=60 foretrace-analysis/filters=20 foretrace-analysis/use_after_free=40
             foretrace-analysis/other_ways foretrace-analysis/paths foretrace-analysis/blocks_by_solver foretrace-analysis/switches_oracle foretrace/off_path",
            8000,
        ),
        // What only proposes schedules, which the checker judges, decides no verdict.
        area(
            "filters",
            "crates/analysis/src/filters/ crates/analysis/src/use_after_free.rs",
            "crates/analysis/src/filters/report.rs crates/analysis/src/filters/early_witness.rs crates/analysis/src/filters/wake_search",
            "foretrace-analysis/lib foretrace-analysis/filters=20 foretrace-analysis/use_after_free=40",
            8000,
        ),
        area(
            "states",
            "crates/analysis/src/reachable.rs crates/analysis/src/reachable/independence.rs crates/trace/src/states.rs crates/analysis/src/workers/together.rs",
            "",
            "foretrace-analysis/lib=60 foretrace-analysis/solver=20 foretrace-analysis/switches_oracle",
            8000,
        ),
        area("walker", "crates/walker/src/interpret/", "", "foretrace-walker/lib foretrace/recorder", 64000),
    ]
}
