//! Operations on concurrent objects: `call` and `return` events of a recording.

/// Begins an operation on an object, which lasts as long as the value that this gives.
///
/// The object is a reference (or `()` if there is only one), the method a string literal; arguments follow. [`Operation::returns`]
/// says what the operation gives. The result of an operation that is left without it, as by a panic, is not known.
///
/// ```
/// # use foretrace_marker as foretrace;
/// # use std::sync::Mutex;
/// struct Stack(Mutex<Vec<i32>>);
/// impl Stack {
///     fn push(&self, value: i32) {
///         let operation = foretrace::operation!(self, "push", value);
///         self.0.lock().unwrap().push(value);
///         operation.returns(())
///     }
///     fn pop(&self) -> Option<i32> {
///         let operation = foretrace::operation!(self, "pop");
///         let value = self.0.lock().unwrap().pop();
///         operation.returns(value)
///     }
/// }
/// let stack = Stack(Mutex::new(Vec::new()));
/// stack.push(1);
/// assert_eq!((stack.pop(), stack.pop()), (Some(1), None));
/// ```
#[macro_export]
macro_rules! operation {
    ((), $method:literal $(, $argument:expr)* $(,)?) => {
        $crate::operation!(@begin 0, $method $(, $argument)*)
    };
    (@begin $object:expr, $method:literal $(, $argument:expr)*) => {{
        $($crate::Given::give(&$argument);)*
        $crate::Operation::begin($object, ::core::concat!($method, "\0"))
    }};
    ($object:expr, $method:literal $(, $argument:expr)* $(,)?) => {
        $crate::operation!(@begin ::core::ptr::from_ref($object).cast::<u8>() as usize, $method $(, $argument)*)
    };
}

/// An operation that lasts as long as this value. Made by [`operation!`](crate::operation!).
#[must_use = "it ends when it is dropped"]
pub struct Operation {
    #[cfg(foretrace)]
    object: usize,
    #[cfg(foretrace)]
    method: &'static str,
    #[cfg(foretrace)]
    has_result: bool,
}

/// A value that a recording can have: an argument or a result of an operation.
pub trait Given {
    /// Notes the value for the mark that follows.
    #[doc(hidden)]
    fn give(&self);
}

#[cfg(not(foretrace))]
fn say(_value: u64, _given: u64) {}

/// The second word of the runtime's record.
mod given {
    pub(super) const INTEGER: u64 = 0;
    #[cfg(foretrace)]
    pub(super) const UNKNOWN: u64 = 1;
    pub(super) const TRUTH: u64 = 2;
    pub(super) const NOTHING: u64 = 3;
}

macro_rules! integers {
    ($($integer:ty)*) => { $(
        impl Given for $integer {
            #[inline(always)]
            fn give(&self) {
                say(*self as u64, given::INTEGER);
            }
        }
    )* };
}

integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize char);

impl Given for bool {
    #[inline(always)]
    fn give(&self) {
        say(u64::from(*self), given::TRUTH);
    }
}

impl Given for () {
    #[inline(always)]
    fn give(&self) {
        say(0, given::NOTHING);
    }
}

impl<T: Given> Given for Option<T> {
    #[inline(always)]
    fn give(&self) {
        match self {
            Some(value) => value.give(),
            None => say(0, given::NOTHING),
        }
    }
}

/// An error is what an operation gives that found nothing.
impl<T: Given, E> Given for Result<T, E> {
    #[inline(always)]
    fn give(&self) {
        match self {
            Ok(value) => value.give(),
            Err(_) => say(0, given::NOTHING),
        }
    }
}

impl<T: Given + ?Sized> Given for &T {
    #[inline(always)]
    fn give(&self) {
        (**self).give();
    }
}

#[cfg(not(foretrace))]
impl Operation {
    /// Begins one; the method ends with a zero byte.
    #[doc(hidden)]
    #[inline(always)]
    pub fn begin(_object: usize, _method: &'static str) -> Operation {
        Operation {}
    }

    /// Ends the operation with its result.
    #[inline(always)]
    pub fn returns<T: Given>(self, result: T) -> T {
        result
    }
}

#[cfg(foretrace)]
mod recorded {
    use super::{given, Given, Operation};
    use core::ffi::{c_char, c_void};

    extern "C" {
        fn foretrace_call(method: *const c_char, object: *const c_void);
        fn foretrace_return(method: *const c_char, object: *const c_void);
        fn foretrace_value(value: u64, given: u64);
    }

    pub(super) fn say(value: u64, given: u64) {
        // SAFETY: any two words will do.
        unsafe { foretrace_value(value, given) };
    }

    impl Operation {
        /// Begins one; the method ends with a zero byte.
        #[doc(hidden)]
        pub fn begin(object: usize, method: &'static str) -> Operation {
            debug_assert!(method.ends_with('\0'));
            // SAFETY: the method is a C string that lives as long as the program. The object is only a number.
            unsafe { foretrace_call(method.as_ptr().cast(), object as *const c_void) };
            Operation { object, method, has_result: false }
        }

        /// Ends the operation with its result.
        pub fn returns<T: Given>(mut self, result: T) -> T {
            result.give();
            self.has_result = true;
            result
        }
    }

    impl Drop for Operation {
        fn drop(&mut self) {
            if !self.has_result {
                say(0, given::UNKNOWN);
            }
            // SAFETY: as above.
            unsafe { foretrace_return(self.method.as_ptr().cast(), self.object as *const c_void) };
        }
    }
}

#[cfg(foretrace)]
use recorded::say;
