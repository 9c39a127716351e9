"""Where the twin of an example has its fix, by the lines of the source, and how a repair lies to that.

The twin is the same source with FIXED (C, C++) or the feature `fixed` (Rust). Its fix reaches, per function, from the first line that
differs to the last one; a guard that is added reaches to the end of its block. What is called there belongs to it.
"""
import re

GUARD = re.compile(r"\b(lock_guard|scoped_lock|unique_lock)\b")
FUNCTION = re.compile(r"^\s*(?:pub )?fn (\w+)|^(?: {4})?(?!\s)[A-Za-z_][\w\s*&:<>,]*?[\s*&](\w+)\([^;]*\)(?: const)?\s*\{?\s*$")


def functions(lines):
    """Of each function its name, its first and its last line (from 1)."""
    found, at = [], 0
    while at < len(lines):
        match = FUNCTION.match(lines[at])
        if match and not lines[at].rstrip().endswith(";"):
            depth, end = 0, at
            for end in range(at, len(lines)):
                depth += lines[end].count("{") - lines[end].count("}")
                if depth == 0 and "}" in lines[end]:
                    break
            found.append((match.group(1) or match.group(2), at + 1, end + 1))
            at = end
        at += 1
    return found


def block_end(lines, at):
    """The last line of the block that line `at` is in, by its indentation."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    end = at
    while end + 1 < len(lines) and (not lines[end + 1].strip() or lines[end + 1].startswith((" " * indent, "#"))):
        end += 1
    return end


def differing(lines, is_rust):
    """The lines, from 0, that the fix adds or takes away."""
    if is_rust:
        starts = [at for at, line in enumerate(lines) if 'cfg!(feature = "fixed")' in line]
        ends = [at if lines[at].rstrip().endswith(";") else block_end(lines, at) for at in starts]
        return {line for at, end in zip(starts, ends) for line in range(at, end + 1)}
    found, open_at = set(), None
    for at, line in enumerate(lines):
        if line.startswith(("#ifdef FIXED", "#ifndef FIXED")):
            open_at = at
        elif line.startswith("#endif") and open_at is not None:
            found.update(range(open_at, at + 1))
            if GUARD.search("".join(lines[open_at:at])):
                found.update(range(at, block_end(lines, open_at + 1) + 1))
            open_at = None
    return found


def reach(source, is_rust):
    """The lines that differ, and all lines that the fix reaches, each from 1."""
    lines = source.read_text().splitlines()
    all_functions = functions(lines)
    changed = {at + 1 for at in differing(lines, is_rust)}
    reached = set(changed)
    for _, first, last in all_functions:
        own = [line for line in changed if first <= line <= last]
        if own:
            reached.update(range(min(own), max(own) + 1))
    text = "\n".join(lines[line - 1] for line in sorted(reached))
    for name, first, last in all_functions:
        if re.search(rf"\b{name}\(", text):
            reached.update(range(first, last + 1))
    return changed, reached


def place(repair, source, is_rust):
    """How the first repair lies to the fix of the twin."""
    changed, reached = reach(source, is_rust)
    spans = [(one["first"], one["last"]) for section in repair["sections"] for one in section["lines"]]
    if all(first in reached and last in reached for first, last in spans):
        return "within"
    around = set().union(*(range(first, last + 1) for first, last in spans))
    return "around" if changed <= around else "elsewhere"
