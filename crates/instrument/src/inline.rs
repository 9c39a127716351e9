//! Inlined code for accesses of a thread's own memory: the first part of the runtime's hooks of loads and stores (`hooks::access`,
//! `ownership`). Any other case is left to the hook.

use crate::llvm::{LlvmError, Module};
use foretrace_runtime::record::own::{
    ADDRESS, COUNTER, HEADER, LIMIT, LINE_BITS, MIRROR, NUMBER, OWNER, OWNERS, PENDING, SKEW,
};

/// The function that performs a load or store of so many bytes, inlined.
pub fn name(access: &str, bytes: u64) -> String {
    format!("foretrace.{access}{bytes}")
}

/// Puts these functions into a module.
pub fn add(module: &Module) -> Result<(), LlvmError> {
    let mut text = String::from(
        "@foretrace_owner = external thread_local(initialexec) global ptr\n\
         declare void @__foretrace_deliver() nounwind cold\n\
         declare ptr @llvm.threadlocal.address.p0(ptr)\n",
    );
    for bytes in [1, 2, 4, 8] {
        text += &load(bytes);
        text += &store(bytes);
    }
    text += "!0 = !{!\"branch_weights\", i32 2000, i32 1}\n";
    module.link(&text)
}

fn load(bytes: u64) -> String {
    let (bits, begin, end, name) = (bytes * 8, begin(bytes), end(), name("load", bytes));
    let widened = match bytes {
        8 => "  %word = or i64 %value, 0\n".to_string(),
        _ => format!("  %word = zext i{bits} %value to i64\n"),
    };
    format!(
        "declare i64 @__foretrace_load{bytes}(ptr, i64) nounwind\n\
         define linkonce_odr hidden i64 @{name}(ptr %address, i64 %place) alwaysinline nounwind {{\n{begin}\
         access:\n\
         \x20 %value = load volatile i{bits}, ptr %address, align {bytes}\n\
         \x20 %reflected = xor i64 %bits, {MIRROR}\n\
         \x20 %skewed = add i64 %reflected, {SKEW}\n\
         \x20 %mirror = inttoptr i64 %skewed to ptr\n\
         \x20 %known = load volatile i{bits}, ptr %mirror, align {bytes}\n{widened}\
         \x20 %same = icmp eq i{bits} %value, %known\n\
         \x20 %still = load volatile i64, ptr %thread\n\
         \x20 %on = icmp eq i64 %still, %place\n\
         \x20 %good = and i1 %same, %on\n\
         \x20 br i1 %good, label %done, label %give, !prof !0\n{end}\
         slow:\n\
         \x20 %recorded = notail call i64 @__foretrace_load{bytes}(ptr %address, i64 %place)\n\
         \x20 br label %out\n\
         out:\n\
         \x20 %result = phi i64 [ %word, %done ], [ %word, %deliver ], [ %recorded, %slow ]\n\
         \x20 ret i64 %result\n}}\n"
    )
}

fn store(bytes: u64) -> String {
    let (bits, begin, end, name) = (bytes * 8, begin(bytes), end(), name("store", bytes));
    let narrowed = match bytes {
        8 => "  %value = or i64 %word, 0\n".to_string(),
        _ => format!("  %value = trunc i64 %word to i{bits}\n"),
    };
    format!(
        "declare void @__foretrace_store{bytes}(ptr, i64, i64) nounwind\n\
         define linkonce_odr hidden void @{name}(ptr %address, i64 %word, i64 %place) alwaysinline nounwind {{\n{begin}\
         access:\n{narrowed}\
         \x20 store volatile i{bits} %value, ptr %address, align {bytes}\n\
         \x20 %still = load volatile i64, ptr %thread\n\
         \x20 %on = icmp eq i64 %still, %place\n\
         \x20 br i1 %on, label %reflect, label %give, !prof !0\n\
         reflect:\n\
         \x20 %reflected = xor i64 %bits, {MIRROR}\n\
         \x20 %skewed = add i64 %reflected, {SKEW}\n\
         \x20 %mirror = inttoptr i64 %skewed to ptr\n\
         \x20 store volatile i{bits} %value, ptr %mirror, align {bytes}\n\
         \x20 br label %done\n{end}\
         slow:\n\
         \x20 notail call void @__foretrace_store{bytes}(ptr %address, i64 %word, i64 %place)\n\
         \x20 br label %out\n\
         out:\n\
         \x20 ret void\n}}\n"
    )
}

/// Says what is accessed, then looks whether the line is the thread's own.
fn begin(bytes: u64) -> String {
    let unaligned = bytes - 1;
    format!(
        "  %bits = ptrtoint ptr %address to i64\n\
         \x20 %low = and i64 %bits, {unaligned}\n\
         \x20 %aligned = icmp eq i64 %low, 0\n\
         \x20 %slot = call ptr @llvm.threadlocal.address.p0(ptr @foretrace_owner)\n\
         \x20 %thread = load ptr, ptr %slot\n\
         \x20 %owns = icmp ne ptr %thread, null\n\
         \x20 %tries = and i1 %aligned, %owns\n\
         \x20 br i1 %tries, label %try, label %slow, !prof !0\n\
         try:\n\
         \x20 %said = getelementptr i8, ptr %thread, i64 {ADDRESS}\n\
         \x20 store volatile i64 %bits, ptr %said\n\
         \x20 %header = getelementptr i8, ptr %thread, i64 {HEADER}\n\
         \x20 store volatile i64 %place, ptr %header\n\
         \x20 fence syncscope(\"singlethread\") seq_cst\n\
         \x20 %line = lshr i64 %bits, {LINE_BITS}\n\
         \x20 %owner_at = getelementptr i32, ptr inttoptr (i64 {OWNERS} to ptr), i64 %line\n\
         \x20 %owner_word = load volatile i32, ptr %owner_at\n\
         \x20 %owner = and i32 %owner_word, {OWNER}\n\
         \x20 %number_at = getelementptr i8, ptr %thread, i64 {NUMBER}\n\
         \x20 %number = load volatile i32, ptr %number_at\n\
         \x20 %own = icmp eq i32 %owner, %number\n\
         \x20 %counter_at = getelementptr i8, ptr %thread, i64 {COUNTER}\n\
         \x20 %counter = load volatile ptr, ptr %counter_at\n\
         \x20 %count = load volatile i64, ptr %counter\n\
         \x20 %limit_at = getelementptr i8, ptr %thread, i64 {LIMIT}\n\
         \x20 %limit = load volatile i64, ptr %limit_at\n\
         \x20 %below = icmp ult i64 %count, %limit\n\
         \x20 %may = and i1 %own, %below\n\
         \x20 br i1 %may, label %access, label %give, !prof !0\n"
    )
}

/// Counts the access; a signal that came meanwhile has its turn. `give` leaves the access to the hook.
fn end() -> String {
    format!(
        "done:\n\
         \x20 %counted = add i64 %count, 1\n\
         \x20 store volatile i64 %counted, ptr %counter\n\
         \x20 fence syncscope(\"singlethread\") seq_cst\n\
         \x20 store volatile i64 0, ptr %header\n\
         \x20 %pending_at = getelementptr i8, ptr %thread, i64 {PENDING}\n\
         \x20 %pending = load volatile i8, ptr %pending_at\n\
         \x20 %quiet = icmp eq i8 %pending, 0\n\
         \x20 br i1 %quiet, label %out, label %deliver, !prof !0\n\
         deliver:\n\
         \x20 notail call void @__foretrace_deliver()\n\
         \x20 br label %out\n\
         give:\n\
         \x20 store volatile i64 0, ptr %header\n\
         \x20 br label %slow\n"
    )
}
