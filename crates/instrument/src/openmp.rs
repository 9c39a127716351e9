//! What the runtime needs to know of a program with OpenMP before it runs.

use crate::llvm::Module;

/// Defined by each file that asks for the number of a thread.
const NUMBERS: &str = "__foretrace_thread_numbers";

/// Tells the runtime that the program asks for the number of a thread, if this file does.
pub fn tell_runtime(module: &Module) {
    if module.function("omp_get_thread_num").is_some() {
        module.define_flag(NUMBERS);
    }
}
