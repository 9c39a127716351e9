//! The side-car says what the source does.

use crate::build::{Mode, build, clang};
use foretrace_instrument::sidecar::{Callee, Function, Instruction, Op, Type, Unit, decode, encode};

/// Instruments some code.
fn unit_of(file: &str, code: &str, mode: Mode) -> Option<Unit> {
    let clang = clang(file.ends_with(".cpp"))?;
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join(file);
    std::fs::write(&source, code).expect("written");
    Some(build(&clang, &source, mode, &folder.path().join("code.o")))
}

fn function<'a>(unit: &'a Unit, symbol: &str) -> &'a Function {
    unit.functions.iter().find(|function| function.symbol == symbol).expect("the function is described")
}

fn instructions(function: &Function) -> impl Iterator<Item = &Instruction> {
    function.blocks.iter().flat_map(|block| &block.instructions)
}

#[test]
fn sites_are_numbered_one_by_one() {
    let code = "int f(int x) { return x ? f(x - 1) : 3; }\nint g(void) { return f(2); }";
    let Some(unit) = unit_of("code.c", code, Mode::Faithful) else { return };
    let mut next = 0;
    for function in &unit.functions {
        assert_eq!(function.site, next);
        next += 1;
        for block in &function.blocks {
            assert_eq!(block.first, next);
            next += u32::try_from(block.instructions.len()).expect("few");
        }
    }
    assert_eq!(unit.functions.len(), 2);
    assert_eq!(decode(&encode(&unit)).expect("a frame"), [unit]);
}

#[test]
fn accesses_keep_their_order_positions_and_names() {
    let code = "struct account { int id, balance; } *acct;\n\
                void deposit(int amount) {\n  int sum = acct->balance + amount;\n  acct->balance = sum;\n}\n";
    let Some(unit) = unit_of("code.c", code, Mode::Faithful) else { return };
    let deposit = function(&unit, "deposit");
    let accesses: Vec<(bool, u32)> = instructions(deposit)
        .filter_map(|instruction| {
            let line = unit.locations[instruction.location as usize].line;
            match instruction.op {
                Op::Load { hooked: true, atomic: false, .. } => Some((false, line)),
                Op::Store { hooked: true, atomic: false, size: 4, .. } => Some((true, line)),
                _ => None,
            }
        })
        .collect();
    assert_eq!(accesses, [(false, 3), (false, 3), (false, 4), (true, 4)]);
    assert_eq!(deposit.parameters[0].name, "amount");
    assert_eq!(unit.locations[deposit.location as usize].line, 2);
    let sum = instructions(deposit).find(|instruction| instruction.name == "sum").expect("a value named sum");
    assert!(matches!(sum.op, Op::Binary { .. }));
    let position = &unit.locations[sum.location as usize];
    assert_eq!((position.function.as_str(), position.inlined_at), ("deposit", 0));
    assert!(unit.files[position.file as usize].ends_with("code.c"));
}

#[test]
fn memory_that_never_escapes_has_no_hooks() {
    let code = "void see(int *);\nint f(int i) {\n\
                volatile int mine = i; int seen = 2; int table[4] = {1, 2, 3, 4};\n\
                see(&seen); return mine + seen + table[i]; }";
    let Some(unit) = unit_of("code.c", code, Mode::Faithful) else { return };
    let allocas = instructions(function(&unit, "f")).filter_map(|instruction| match instruction.op {
        Op::Alloca { escapes, .. } => Some((instruction.name.as_str(), escapes)),
        _ => None,
    });
    let mut allocas: Vec<(&str, bool)> = allocas.collect();
    allocas.sort_unstable();
    assert_eq!(allocas, [("mine", false), ("seen", true), ("table", true)]);
}

#[test]
fn results_are_recorded_unless_the_callee_surely_is_instrumented() {
    let code = "static int mine(void) { return 1; }\nint weak(void) __attribute__((weak));\nint weak(void) { return 2; }\n\
                int theirs(void); int (*pointer)(void);\n\
                int f(void) { return mine() + weak() + theirs() + pointer(); }";
    let Some(unit) = unit_of("code.c", code, Mode::Faithful) else { return };
    let calls = instructions(function(&unit, "f")).filter_map(|instruction| match &instruction.op {
        Op::Call { callee: Callee::Symbol(name), result, .. } => Some((name.as_str(), *result)),
        Op::Call { callee: Callee::Pointer(_), result, .. } => Some(("", *result)),
        _ => None,
    });
    assert_eq!(calls.collect::<Vec<_>>(), [("mine", false), ("weak", true), ("theirs", true), ("", true)]);
}

#[test]
fn atomic_accesses_say_so() {
    let code = "_Atomic int a; long long b;\nint f(void) { a = 1; __atomic_fetch_add(&b, 2, 0); return a; }";
    let Some(unit) = unit_of("code.c", code, Mode::Faithful) else { return };
    let f = function(&unit, "f");
    assert!(
        instructions(f)
            .any(|instruction| matches!(instruction.op, Op::Store { atomic: true, hooked: true, size: 4, .. }))
    );
    assert!(instructions(f).any(|instruction| matches!(instruction.op, Op::Update { size: 8, .. })));
    assert!(
        instructions(f)
            .any(|instruction| matches!(instruction.op, Op::Load { atomic: true, hooked: true, size: 4, .. }))
    );
}

#[test]
fn methods_and_inlined_positions_are_qualified() {
    let code = "namespace bank { struct Account { int balance; void deposit(int n) { balance += n; } }; }\n\
                inline int twice(int *p) { return *p * 2; }\n\
                int f(bank::Account *a) {\n  a->deposit(3);\n  return twice(&a->balance);\n}\n";
    let Some(unit) = unit_of("code.cpp", code, Mode::Faithful) else { return };
    assert!(unit.functions.iter().any(|function| function.name == "bank::Account::deposit"));
    let Some(unit) = unit_of("code.cpp", code, Mode::AsShipped("-O2")) else { return };
    assert!(unit.as_shipped);
    let inlined = unit.locations.iter().find(|location| location.function == "twice" && location.inlined_at != 0);
    let outer = &unit.locations[inlined.expect("an inlined position").inlined_at as usize];
    assert_eq!((outer.function.as_str(), outer.line), ("f", 5));
}

#[test]
fn structs_and_odd_integers_are_accessed_in_scalars() {
    let code = "struct pair { long a; double b; } p;\nstruct pair get(void) { return p; }\n\
                struct __attribute__((packed)) { char c; int x : 24; } odd;\nint read(void) { return odd.x; }";
    let Some(unit) = unit_of("code.c", code, Mode::Faithful) else { return };
    for function in &unit.functions {
        for instruction in instructions(function) {
            if let Op::Load { size, .. } = instruction.op {
                assert!(matches!(size, 1 | 2 | 4 | 8) && instruction.ty.bits() > 0, "{instruction:?}");
            }
            assert!(!matches!(instruction.op, Op::Wide { .. }));
        }
    }
    assert_eq!(function(&unit, "get").returns, Type::Aggregate(vec![Type::Int(64), Type::Float(64)]));
}

#[test]
fn other_flags_make_another_unit() {
    let code = "int f(int *p) { return *p; }";
    let Some(one) = unit_of("code.c", code, Mode::Faithful) else { return };
    let Some(other) = unit_of("code.c", code, Mode::AsShipped("-O1")) else { return };
    assert_ne!(one.id, other.id);
}
