//! What is not done here. To leave it to the library would be wrong, which knows nothing of our teams.

use core::ffi::CStr;

use crate::interpose::interpose;
use crate::mode;

fn refuse(name: &CStr) -> ! {
    mode::refuse(format_args!("OpenMP: {} cannot be recorded", name.to_str().unwrap_or("?")))
}

macro_rules! refused {
    ($($name:ident $function:ident;)*) => {
        $(
            extern "C" fn $function() -> ! {
                // SAFETY: ends with its only zero.
                refuse(unsafe { CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) })
            }
        )*
        interpose! {
            $($name "rax" => $function, off $name;)*
        }
    };
}

refused! {
    __kmpc_doacross_init doacross_init;
    __kmpc_fork_teams fork_teams;
    __kmpc_fork_call_if fork_call_if;
    __kmpc_threadprivate_cached threadprivate_cached;
    __kmpc_taskred_init taskred_init;
    __kmpc_taskred_modifier_init taskred_modifier_init;
    __kmpc_task_reduction_init task_reduction_init;
    __kmpc_task_reduction_modifier_init task_reduction_modifier_init;
    __kmpc_taskloop_5 taskloop_5;
    __kmpc_sections_init sections_init;
    __kmpc_dist_for_static_init_4 dist_static_4;
    __kmpc_dist_dispatch_init_4 dist_dispatch_4;
    __kmpc_task_allow_completion_event completion_event;
}
