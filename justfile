# Everything that must hold; what continuous integration runs.
ci:
    scripts/test

# What a build needs and is missing.
setup:
    scripts/setup

# The main job on a shipped example; 1 is its exit code when something can happen.
example: setup
    cargo run --release -- predict examples/traces/bank-seed1.thread.jsonl || test $? = 1

# Takes over changed snapshots of what people see, after a look at the difference.
snapshots:
    INSTA_UPDATE=always cargo test --locked --workspace --test cli --test recorder --test litmus --test explain

# Installs for this user, or where PREFIX says: just install --prefix DIR
install *WHERE:
    scripts/install {{WHERE}}

# An archive and a Debian package, in target/release-files.
release:
    scripts/release

# The pages as a book, in target/book; installs mdbook first if it is missing.
book:
    scripts/setup --book
    env PATH="$PATH:third_party/tools/bin" mdbook build
