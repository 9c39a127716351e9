//! `_FORTIFY_SOURCE` makes calls of functions like `memcpy` calls of variants that check the sizes of arrays (`__memcpy_chk`). Where the
//! program is recorded they become calls of the functions themselves, whose accesses are known. The driver leaves the macro out of
//! command lines; these calls are of programs whose source defines it.

use crate::llvm::{Builder, Linkage, Module, Opcode, Type, Value};

/// The checked variants, without `__` and `_chk`, by the positions of the arguments that the functions do not have.
const CHECKED: [(&[usize], &str); 8] = [
    (&[0], "printf vprintf wprintf vwprintf"),
    (
        &[1],
        "fprintf vfprintf fwprintf vfwprintf dprintf vdprintf asprintf vasprintf syslog vsyslog obstack_printf \
         obstack_vprintf fgets fgets_unlocked fgetws fgetws_unlocked fread fread_unlocked getwd",
    ),
    (&[1, 2], "sprintf vsprintf"),
    (&[2, 3], "snprintf vsnprintf swprintf vswprintf"),
    (
        &[2],
        "strcpy stpcpy strcat wcscpy wcpcpy wcscat getcwd realpath getgroups gethostname getdomainname getlogin_r wctomb \
         explicit_bzero",
    ),
    (
        &[3],
        "memcpy memmove mempcpy memset strncpy stpncpy strncat strlcpy strlcat wmemcpy wmemmove wmempcpy wmemset wcsncpy \
         wcpncpy wcsncat wcslcpy wcslcat read recv recvfrom readlink confstr ttyname_r ptsname_r poll mbstowcs wcstombs \
         wcrtomb inet_pton",
    ),
    (&[4], "pread pread64 readlinkat ppoll mbsrtowcs wcsrtombs inet_ntop"),
    (&[5], "mbsnrtowcs wcsnrtombs"),
];

/// The function that a symbol checks, and the positions of the arguments that it does not have.
fn unchecked(symbol: &str) -> Option<(&str, &'static [usize])> {
    let name = symbol.strip_prefix("__")?.strip_suffix("_chk")?;
    let (extra, _) = CHECKED.iter().find(|(_, names)| names.split(' ').any(|known| known == name))?;
    Some((name, extra))
}

/// Lets calls of checked variants call the functions themselves.
pub fn call_unchecked(module: &Module) {
    let builder = Builder::new(module.context());
    for checked in module.functions().into_iter().filter(|function| function.is_declaration()) {
        let symbol = checked.name();
        let Some((name, extra)) = unchecked(&symbol) else { continue };
        let known = module.function(name);
        if known.is_some_and(|function| !function.is_declaration() && function.linkage() != Linkage::Elsewhere) {
            continue; // the program has a function of its own with this name
        }
        let Some(ty) = type_without(module, checked, extra) else { continue };
        let function = known.unwrap_or_else(|| module.declare(name, ty));
        let is_call = |user: &Value| matches!(user.opcode(), Opcode::Call | Opcode::Invoke) && user.callee() == checked;
        for call in checked.users().into_iter().filter(is_call) {
            replace(&builder, call, (function, ty), extra);
        }
    }
}

/// The type of a function without some of its parameters, if it has them all.
fn type_without(module: &Module, function: Value, extra: &[usize]) -> Option<Type> {
    let parameters: Vec<Type> = function.parameters().into_iter().map(Value::ty).collect();
    let all = function.function_type();
    if extra.iter().any(|at| *at >= parameters.len()) {
        return None;
    }
    let left = without(&parameters, extra);
    Some(match all.is_variadic() {
        true => module.context().variadic_function(&left, all.returned()),
        false => module.context().function(&left, all.returned()),
    })
}

fn replace(builder: &Builder, call: Value, (function, ty): (Value, Type), extra: &[usize]) {
    let arguments = without(&call.arguments(), extra);
    builder.before(call);
    let new = match call.is_invoke() {
        true => {
            let [next, unwind] = call.successors()[..] else { return };
            builder.invoke(ty, function, &arguments, next, unwind)
        }
        false => builder.call(ty, function, &arguments),
    };
    let name = call.name();
    call.replace_with(new);
    call.erase();
    if !name.is_empty() {
        new.set_name(&name);
    }
}

fn without<T: Copy>(all: &[T], extra: &[usize]) -> Vec<T> {
    all.iter().enumerate().filter(|(at, _)| !extra.contains(at)).map(|(_, one)| *one).collect()
}
