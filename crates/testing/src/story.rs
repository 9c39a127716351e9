//! Tells in a few lines what happened in a failed run: where a thread was interrupted, the values of the accesses, and what was lost.

use super::attempt::{Access, Attempt, Cycle, CycleKind};
use foretrace_harness::{Death, Event, Sources, Stretch};
use foretrace_report::{below_project, cut, short_name, shown_word};
use foretrace_trace::Pattern;

/// How the name of memory begins that is known by the place of its allocation alone.
const ALLOCATED: &str = "heap@";

/// Widest line of source that is shown.
const WIDEST_TEXT: usize = 48;

/// Widest name of a thread, widest place, and widest variable.
const WIDEST_THREAD: usize = 30;
const WIDEST_PLACE: usize = 28;
const WIDEST_VARIABLE: usize = 24;
/// The widest column of what accesses of a block do.
const WIDEST_ACT: usize = 40;

/// Widest variables of a title.
const WIDEST_VARIABLES: usize = 40;

/// Widest line of a story, and what is left in it for the text of the source. What an access does is cut for that, but not to less.
const WIDEST_LINE: usize = 95;
const LEAST_TEXT: usize = 24;
const LEAST_ACT: usize = 20;

/// The variable and who meets there, as a headline.
pub fn title(attempt: &Attempt) -> String {
    let variable = short_variables(&below_folders(&attempt.variable), WIDEST_VARIABLES);
    let (first, remote) = attempt.functions();
    if attempt.is_use_after_free() {
        let by = if remote.is_empty() { String::new() } else { format!(" by `{}`", short_name(remote)) };
        return format!("{} is used after its memory was freed{by}", cut(&variable, 60));
    }
    if attempt.cycle.as_ref().is_some_and(|cycle| cycle.kind == CycleKind::OtherWay) {
        let branch = &attempt.accesses[0];
        let what = branch.text.as_deref().map_or(branch.place.clone(), |text| format!("`{}`", one_line(text)));
        return format!("other values of {} lead another way at {what}", cut(&variable, 60));
    }
    if attempt.cycle.is_some() {
        let who = if first.is_empty() { String::new() } else { format!(", `{}` is not atomic", short_name(first)) };
        return format!("a block is interrupted between uses of {}{who}", cut(&variable, 60));
    }
    let what = match attempt.pattern {
        Pattern::Rww => "lost update",
        Pattern::Rwr => "a write comes between two reads",
        Pattern::Wwr => "a write is overwritten before it is read back",
        Pattern::Wrw => "an unfinished update is read",
        Pattern::Www => "a write comes between two writes",
    };
    let who = match first == remote {
        _ if first.is_empty() => String::new(),
        true => format!(", `{}` against itself", short_name(first)),
        false if remote.is_empty() => {
            format!(", `{}` interrupted by {}", short_name(first), number(&attempt.accesses[1].thread))
        }
        false => format!(", `{}` interrupted by `{}`", short_name(first), short_name(remote)),
    };
    format!("{what} on {variable}{who}")
}

/// The lines, by what the three accesses saw where that is known.
pub fn lines(attempt: &Attempt, seen: Option<&[Option<Event>; 3]>) -> Vec<String> {
    let values = values(attempt.pattern, seen);
    let plain = |access: &Access| access.text.as_deref().map(one_line).unwrap_or_default();
    let cells: Vec<[String; 4]> = match &attempt.cycle {
        None => (0..3).map(|role| cells(attempt, role, values[role].as_deref())).collect(),
        Some(Cycle { path, .. }) => path
            .iter()
            .map(|(access, act)| [access.thread.clone(), short_act(act), access.place.clone(), plain(access)])
            .collect(),
    };
    let mut cells: Vec<[String; 4]> = cells
        .into_iter()
        .map(|[thread, act, place, text]| {
            [cut(&thread, WIDEST_THREAD).into_owned(), below_folders(&act), short_place(&place), text]
        })
        .collect();
    let width =
        |cells: &[[String; 4]], column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let others = width(&cells, 0) + width(&cells, 2) + 3 * "  ".len() + LEAST_TEXT;
    let widest_act = WIDEST_LINE.saturating_sub(others).max(LEAST_ACT);
    for row in &mut cells {
        row[1] = cut(&act_within(&row[1], widest_act), widest_act).into_owned();
    }
    let widths = [0, 1, 2].map(|column| width(&cells, column));
    let row = |cells: &[String; 4]| {
        let [thread, act, place, text] = cells;
        let line = format!("{thread:<0$}  {act:<1$}  {place:<2$}  {text}", widths[0], widths[1], widths[2]);
        line.trim_end().to_string()
    };
    let mut lines: Vec<String> = cells.iter().map(row).collect();
    lines.push(match &attempt.cycle {
        None => meaning(attempt, &values),
        Some(Cycle { thread, other, kind: CycleKind::UseAfterFree, .. }) => {
            format!("freed: {} uses memory that {} has freed", number(thread), number(other))
        }
        Some(Cycle { thread, kind: CycleKind::OtherWay, .. }) => {
            format!("another way: {} goes by values that the analysed run did not have there", number(thread))
        }
        Some(Cycle { thread, other, .. }) => format!(
            "torn: {} comes between what {} does in one block; in no order of whole blocks does that happen",
            number(other),
            number(thread)
        ),
    });
    lines
}

/// A turn of a run: the lines between which its thread went on, and the text of the last one.
pub fn turn(Stretch { thread, ends: [from, to] }: &Stretch, sources: Option<&Sources>) -> String {
    let text = sources.and_then(|sources| sources.line(&format!("{to}:0"))).map(one_line).unwrap_or_default();
    let [first, last] = [from, to].map(|place| below_project(place));
    let way = if from == to { format!("at {last}") } else { format!("from {first} to {last}") };
    format!("{thread} goes on {way}  {text}").trim_end().to_string()
}

/// What a thread did at a place of the program, and the text of that line.
pub fn asked(thread: &str, does: &str, place: &str, text: Option<&str>) -> String {
    let text = text.map(one_line).unwrap_or_default();
    format!("{thread} {does} at {}  {text}", short_place(place)).trim_end().to_string()
}

/// Where a thread of a run came last, and the text of that line.
pub fn last_place(thread: &str, place: &str, sources: Option<&Sources>) -> String {
    at_place(thread, "came last to", place, sources)
}

/// Where a signal killed a thread, and the text of that line.
pub fn death(Death { thread, place, is_there }: &Death, sources: Option<&Sources>) -> String {
    at_place(thread, if *is_there { "dies at" } else { "dies after" }, place, sources)
}

fn at_place(thread: &str, does: &str, place: &str, sources: Option<&Sources>) -> String {
    let text = sources.and_then(|sources| sources.line(&format!("{place}:0"))).map(one_line).unwrap_or_default();
    format!("{thread} {does} {}  {text}", below_project(place)).trim_end().to_string()
}

/// Whether an access of the pattern writes.
fn writes(pattern: Pattern, role: usize) -> bool {
    let written = match pattern {
        Pattern::Rwr => [false, true, false],
        Pattern::Rww => [false, true, true],
        Pattern::Wwr => [true, true, false],
        Pattern::Www => [true, true, true],
        Pattern::Wrw => [true, false, true],
    };
    written[role]
}

fn cells(attempt: &Attempt, role: usize, value: Option<&str>) -> [String; 4] {
    let Access { thread, place, text, .. } = &attempt.accesses[role];
    let text = text.as_deref().map(one_line).unwrap_or_default();
    [thread.clone(), act(attempt.pattern, role, value), place.clone(), text]
}

/// A variable, or a text with its name, without the folders of the file that allocates it: `heap@queue.h:735+180`.
pub fn below_folders(text: &str) -> String {
    let Some((before, place)) = text.split_once(ALLOCATED) else { return text.to_string() };
    let (variable, after) = place.split_at(place.find(' ').unwrap_or(place.len()));
    let file = variable.rsplit_once('/').map_or(variable, |(_, file)| file);
    format!("{before}{ALLOCATED}{file}{}", below_folders(after))
}

/// Variables, with `, ` between them. If they are too wide, they lose the modules and functions in front of their names, and most fields.
fn short_variables(variables: &str, most: usize) -> String {
    if variables.chars().count() <= most {
        return variables.to_string();
    }
    let short =
        |variable| few_fields(variable_within(variable, 0)).unwrap_or_else(|| variable_within(variable, 0).to_string());
    variables.split(", ").map(short).collect::<Vec<_>>().join(", ")
}

/// A variable without as many of the modules and functions in front of its name as make it too wide: what tells is its end.
fn variable_within(mut variable: &str, most: usize) -> &str {
    while variable.chars().count() > most {
        let path = variable.find(['<', '(', '[', '.', '@', ' ']).map_or(variable, |end| &variable[..end]);
        let Some(at) = path.find(':') else { break };
        variable = variable[at..].trim_start_matches(':');
    }
    variable
}

/// What is done, and to which variable.
fn verb_and_variable(act: &str) -> Option<(&str, &str)> {
    const UPDATES: &str = "reads and writes";
    match act.strip_prefix(UPDATES) {
        Some(variable) => Some((&act[..UPDATES.len()], variable.trim_start())),
        None => act.split_once(' '),
    }
}

/// What an access does, with its variable without so many modules and functions, or else with its last field alone.
fn act_within(act: &str, most: usize) -> String {
    let Some((verb, variable)) = verb_and_variable(act) else { return act.to_string() };
    let most = most.saturating_sub(verb.len() + 1);
    let variable = variable_within(variable, most);
    let fields = variable.rsplit(':').next().unwrap_or(variable); // before that is a file, or a function
    match parts(fields, &['.', '…']).as_slice() {
        [_, .., last] if variable.chars().count() > most && !last.is_empty() && last.chars().count() < most => {
            format!("{verb} …{last}")
        }
        _ => format!("{verb} {variable}"),
    }
}

/// A variable with its first two fields and the last one, where it has more.
fn few_fields(variable: &str) -> Option<String> {
    match *parts(variable, &['.']) {
        [object, first, _, .., last] => Some(format!("{object}.{first}…{last}")),
        _ => None,
    }
}

/// The parts of a variable between separators. The dots of `Node<..>` stand for what was left out of a name, and separate nothing; nor do
/// those of a file.
fn parts<'a>(variable: &'a str, separators: &[char]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut in_file) = (0, 0_usize, false);
    for (at, letter) in variable.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '@' => in_file = true,
            ':' => in_file = false,
            _ if depth == 0 && !in_file && separators.contains(&letter) => {
                parts.push(&variable[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&variable[start..]);
    parts
}

/// What an access does, where the fields between the first two and the last of its variable are left out if they are many.
fn short_act(act: &str) -> String {
    let Some((verb, variable)) = verb_and_variable(act) else { return act.to_string() };
    let variable = &below_folders(variable);
    let variable = variable_within(variable, WIDEST_VARIABLE);
    let short = few_fields(variable).filter(|_| variable.chars().count() > WIDEST_VARIABLE);
    let variable = short.as_deref().unwrap_or(variable);
    let told = match *parts(variable, &['.', '…']) {
        // Not even the name of the object has room.
        [object, .., last] if verb.len() + object.chars().count() + 2 >= WIDEST_ACT => format!("{verb} …{last}"),
        _ => format!("{verb} {variable}"),
    };
    cut(&told, WIDEST_ACT).into_owned()
}

/// A place, or several of one way, without as many of the folders in front as make it too wide. The file and the line stay.
fn short_place(place: &str) -> String {
    let mut short = place.to_string();
    while short.chars().count() > WIDEST_PLACE {
        let places: Vec<&str> = short.split(", then ").collect();
        let widest = (0..places.len()).filter(|at| places[*at].contains('/')).max_by_key(|at| places[*at].len());
        let Some((widest, (_, below))) = widest.and_then(|at| Some((at, places[at].split_once('/')?))) else { break };
        let all = places.iter().enumerate().map(|(at, place)| if at == widest { below } else { place });
        short = all.collect::<Vec<_>>().join(", then ");
    }
    short
}

/// A line of source without the blanks around and in it.
fn one_line(text: &str) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), WIDEST_TEXT).into_owned()
}

fn act(pattern: Pattern, role: usize, value: Option<&str>) -> String {
    let verb = if writes(pattern, role) { "writes" } else { "reads" };
    match value {
        Some(value) => format!("{verb} {value}"),
        None => verb.to_string(),
    }
}

/// The values that the accesses of the pattern wrote or read, of the bytes that all three touch: a wider access has more, which is of no
/// interest here.
fn values(pattern: Pattern, seen: Option<&[Option<Event>; 3]>) -> [Option<String>; 3] {
    let event = |role: usize| seen.and_then(|seen| seen[role].as_ref());
    let common = Event::common_bytes((0..3).filter_map(event));
    std::array::from_fn(|role| {
        let event = event(role)?;
        let value = if writes(pattern, role) { event.written()? } else { event.read()? };
        let (part, bytes) = event.part(value, &common)?;
        Some(shown_word(part, bytes))
    })
}

fn meaning(attempt: &Attempt, values: &[Option<String>; 3]) -> String {
    let [first, remote, _] = &attempt.accesses;
    let (own, other) = (number(&first.thread), number(&remote.thread));
    let value = |role: usize| values[role].as_deref();
    let known = |role: usize| value(role).map(|value| format!(" {value}")).unwrap_or_default();
    let or = |role: usize, other: &str| value(role).map_or_else(|| other.to_string(), |value| format!("the {value}"));
    match attempt.pattern {
        Pattern::Rww => {
            let (lost, old) = (or(1, "the write"), or(0, "what"));
            format!("lost: {lost} of {other}; {own} overwrites it, going by {old} it read before")
        }
        Pattern::Rwr if value(0).is_some() && value(0) == value(2) => {
            format!("changed back: {own} reads the same twice, but {other} wrote{} between the reads", known(1))
        }
        Pattern::Rwr if value(1).zip(value(2)).is_some_and(|(written, read)| written != read) => {
            let written = or(1, "what");
            format!(
                "changed: {own} goes by both reads; {written} that {other} wrote between them is overwritten before the second"
            )
        }
        Pattern::Rwr => format!("changed: {own} goes by both reads, and {other} wrote{} between them", known(1)),
        Pattern::Wwr => format!("lost: {} of {own}; it reads back what {other} wrote", or(0, "the write")),
        Pattern::Wrw => format!("half done: {other} reads{} before {own} has finished its update", known(1)),
        Pattern::Www => format!("lost: {} of {other}, written in the middle of an update of {own}", or(1, "the write")),
    }
}

/// A thread's name without what it runs.
fn number(name: &str) -> &str {
    name.split_once(" (").map_or(name, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn an_attempt() -> Attempt {
        Attempt {
            kind: crate::attempt::Kind::Block,
            class: String::new(),
            variable: String::new(),
            pattern: Pattern::Rwr,
            accesses: Default::default(),
            cycle: None,
            also: Vec::new(),
            to_make: None,
            witness: Default::default(),
            recording: Default::default(),
            seed: 0,
            rank: Default::default(),
        }
    }

    #[test]
    fn a_turn_is_told_by_its_lines_and_the_text_of_the_last() {
        let kept = r#"{"foretrace":1,"files":{"a.c":"int x;\n  x =  1;\n"},"places":{}}"#;
        let sources: Sources = serde_json::from_str(kept).expect("as recordings keep it");
        let turn = |from: &str, to: &str| {
            let ends = [from, to].map(str::to_string);
            super::turn(&Stretch { thread: "thread 2".to_string(), ends }, Some(&sources))
        };
        let header = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/move.h:9";
        assert_eq!(turn(header, "a.c:2"), "thread 2 goes on from c++/12/bits/move.h:9 to a.c:2  x = 1;");
        assert_eq!(turn("a.c:1", "a.c:1"), "thread 2 goes on at a.c:1  int x;");
        assert_eq!(turn("a.c:1", "b.c:7"), "thread 2 goes on from a.c:1 to b.c:7", "its text is not there");
        assert_eq!(last_place("thread 1", "a.c:2", Some(&sources)), "thread 1 came last to a.c:2  x = 1;");
        let mut dying = Death { thread: "thread 1".into(), place: "a.c:2".into(), is_there: true };
        assert_eq!(death(&dying, Some(&sources)), "thread 1 dies at a.c:2  x = 1;");
        dying.is_there = false;
        assert_eq!(death(&dying, Some(&sources)), "thread 1 dies after a.c:2  x = 1;");
    }

    #[test]
    fn memory_is_named_by_the_file_that_allocates_it() {
        assert_eq!(below_folders("reads heap@./queue/block.h:735+180"), "reads heap@block.h:735+180");
        assert_eq!(below_folders("heap@/a/b.c:1, heap@c/d.c:2[3].next"), "heap@b.c:1, heap@d.c:2[3].next");
        assert_eq!(below_folders("table.size"), "table.size");
    }

    #[test]
    fn the_text_of_the_source_has_room_beside_long_names() {
        let access = |place: &str| Access {
            thread: "thread 2 (main::lambda)".to_string(),
            place: place.to_string(),
            text: Some("slot[tail % size] = value;".to_string()),
            ..Access::default()
        };
        let path = ["writes", "reads"].map(|verb| {
            let act = format!("{verb} Container<Entry>.blocks_of_entries.first.value");
            (access("folder/another_folder/queue.h:1234"), act)
        });
        let cycle = Cycle {
            path: path.to_vec(),
            thread: "thread 2 (x)".to_string(),
            other: "thread 3 (x)".to_string(),
            kind: CycleKind::Block,
        };
        let attempt = Attempt { cycle: Some(cycle), ..an_attempt() };
        for line in &lines(&attempt, None)[..2] {
            assert!(line.chars().take(WIDEST_LINE).collect::<String>().contains("slot[tail % size]"), "{line}");
        }
    }

    /// Modules are cut off first: two variables of one module would look alike.
    #[test]
    fn a_long_variable_keeps_its_end() {
        assert_eq!(short_act("writes ledger::lazy::tests::TABLE.ready"), "writes lazy::tests::TABLE.ready");
        assert_eq!(act_within("writes tests::TABLE.ready", 20), "writes TABLE.ready");
        assert_eq!(act_within("reads Registry.map…growth_left", 20), "reads …growth_left");
        assert_eq!(act_within("reads heap@a_long_queue.h:7", 20), "reads heap@a_long_queue.h:7");
        let act = "reads Registry.map.base.table.table.growth_left";
        assert_eq!(short_act(act), "reads Registry.map…growth_left");
        assert_eq!(
            act_within("reads (std) _Sp_counted_ptr_inplace<..>", 20),
            "reads (std) _Sp_counted_ptr_inplace<..>"
        );
        assert_eq!(act_within("reads (std) _Sp_counted_ptr_inplace<..>._M_count", 20), "reads …_M_count");
        assert_eq!(
            short_variables("current, (std) _Sp_counted_ptr_inplace<..>.id", 30),
            "current, (std) _Sp_counted_ptr_inplace<..>.id"
        );
        assert_eq!(short_act("reads heap@../a/long/way/to/queue.cpp:10+4 = 0"), "reads heap@queue.cpp:10+4 = 0");
        assert_eq!(short_act("reads (std) _Sp_counted_ptr_inplace<..>._M_use_count"), "reads …_M_use_count");
        let both = short_act("reads and writes (std) _Sp_counted_ptr_inplace<..>");
        assert_eq!(both, "reads and writes (std) _Sp_counted_ptr_…");
        assert_eq!(act_within(&both, 24), both);
        assert_eq!(variable_within("Bus_Test::TestBody:bus.subs_[0]", 24), "TestBody:bus.subs_[0]");
        assert_eq!(variable_within("heap@queue.h:735+180.next_of_all", 20), "heap@queue.h:735+180.next_of_all");
        assert_eq!(variable_within("(std) Inner<a::Packet<usize>>.result", 20), "(std) Inner<a::Packet<usize>>.result");
        let two = "ledger::lazy::tests::TABLE.ready, ledger::lazy::tests::TABLE.value";
        assert_eq!(short_variables(two, 40), "TABLE.ready, TABLE.value");
        assert_eq!(short_variables("lazy::TABLE.ready", 40), "lazy::TABLE.ready");
    }

    /// Who reads a third value has not read what the other thread wrote: that write is gone.
    #[test]
    fn a_write_between_two_reads_may_be_gone_before_the_second() {
        let access = |thread: &str| Access { thread: thread.to_string(), ..Access::default() };
        let attempt = Attempt { accesses: ["2 (a)", "3", "2 (a)"].map(access), cycle: None, ..an_attempt() };
        let told = |values: [&str; 3]| meaning(&attempt, &values.map(|value| Some(value.to_string())));
        assert_eq!(told(["0", "7", "7"]), "changed: 2 goes by both reads, and 3 wrote 7 between them");
        assert!(told(["0", "7", "0"]).starts_with("changed back: 2"));
        let gone = "changed: 2 goes by both reads; the 7 that 3 wrote between them is overwritten before the second";
        assert_eq!(told(["0", "7", "9"]), gone);
    }

    #[test]
    fn a_long_place_keeps_its_lines() {
        let places = [
            ("bank.c:26", "bank.c:26"),
            ("share/cthreadpool/src/thpool.c:367", "cthreadpool/src/thpool.c:367"),
            ("share/a-long-name-of-a-folder/thpool.c:367", "thpool.c:367"),
            ("drv.c:15, then share/cthreadpool/thpool.c:243", "drv.c:15, then thpool.c:243"),
            ("a_file_with_a_very_long_name.cpp:1234", "a_file_with_a_very_long_name.cpp:1234"),
        ];
        for (place, short) in places {
            assert_eq!(short_place(place), short);
        }
    }
}
