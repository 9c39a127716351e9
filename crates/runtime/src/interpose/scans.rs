//! `scanf` and its like, which read from a stream. Headers lead to one of three variants: that of the language's version, or the first one.

use core::ffi::{CStr, c_char, c_int, c_void};

use super::streams::{reading, standard_input};
use super::{interpose, real};

/// Defines the four functions of a variant: from standard input and from a stream, with variable arguments and with a list of them. The
/// real one has a stream and a list.
macro_rules! scans {
    ($($scanf:ident $fscanf:ident $vscanf:ident $vfscanf:ident $name:literal;)*) => { $(
        #[allow(non_snake_case, reason = "names of the library")]
        mod $fscanf {
            use super::*;

            const NAME: &CStr = $name;

            extern "C" fn of_stream(stream: *mut c_void, format: *const c_char, list: *mut c_void, place: usize) -> c_int {
                reading(stream, NAME, place, || real::$vfscanf(stream, format, list))
            }

            extern "C" fn of_input(format: *const c_char, list: *mut c_void, place: usize) -> c_int {
                of_stream(standard_input(), format, list, place)
            }

            interpose! {
                $vscanf "rdx" => of_input;
                $vfscanf "rcx" => of_stream;
            }

            /// The arguments that follow the format become a list: pointers, of which five come in registers.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub extern "C" fn $scanf() {
                core::arch::naked_asm!(
                    concat!(".weak ", stringify!($scanf)),
                    "push rbp",
                    "mov rbp, rsp",
                    "sub rsp, 80",
                    "mov [rsp + 8], rsi", // the registers, from the second argument on
                    "mov [rsp + 16], rdx",
                    "mov [rsp + 24], rcx",
                    "mov [rsp + 32], r8",
                    "mov [rsp + 40], r9",
                    "mov dword ptr [rsp + 48], 8", // where in what follows the next one is
                    "mov dword ptr [rsp + 52], 48", // no floating-point numbers
                    "lea rax, [rbp + 16]",
                    "mov [rsp + 56], rax", // those on the stack
                    "mov [rsp + 64], rsp",
                    "lea rsi, [rsp + 48]",
                    "mov rdx, [rbp + 8]",
                    "call {scan}",
                    "leave",
                    "ret",
                    scan = sym of_input,
                )
            }

            /// The arguments that follow stream and format become a list: pointers, of which four come in registers.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub extern "C" fn $fscanf() {
                core::arch::naked_asm!(
                    concat!(".weak ", stringify!($fscanf)),
                    "push rbp",
                    "mov rbp, rsp",
                    "sub rsp, 80",
                    "mov [rsp + 16], rdx", // the registers, from the third argument on
                    "mov [rsp + 24], rcx",
                    "mov [rsp + 32], r8",
                    "mov [rsp + 40], r9",
                    "mov dword ptr [rsp + 48], 16", // where in what follows the next one is
                    "mov dword ptr [rsp + 52], 48", // no floating-point numbers
                    "lea rax, [rbp + 16]",
                    "mov [rsp + 56], rax", // those on the stack
                    "mov [rsp + 64], rsp",
                    "lea rdx, [rsp + 48]",
                    "mov rcx, [rbp + 8]",
                    "call {scan}",
                    "leave",
                    "ret",
                    scan = sym of_stream,
                )
            }
        }
    )* };
}

scans! {
    scanf fscanf vscanf vfscanf c"fscanf";
    __isoc99_scanf __isoc99_fscanf __isoc99_vscanf __isoc99_vfscanf c"fscanf";
    __isoc23_scanf __isoc23_fscanf __isoc23_vscanf __isoc23_vfscanf c"fscanf";
    wscanf fwscanf vwscanf vfwscanf c"fwscanf";
    __isoc99_wscanf __isoc99_fwscanf __isoc99_vwscanf __isoc99_vfwscanf c"fwscanf";
    __isoc23_wscanf __isoc23_fwscanf __isoc23_vwscanf __isoc23_vfwscanf c"fwscanf";
}
