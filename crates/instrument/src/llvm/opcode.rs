//! LLVM's numbers for what instructions, types and values are.

macro_rules! numbered {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $code:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs, reason = "the names are LLVM's")]
        pub enum $name { $($variant = $code,)* Unknown = 0xffff }

        impl $name {
            /// What LLVM-C means by this number.
            pub fn from_code(code: u32) -> $name {
                match code { $($code => $name::$variant,)* _ => $name::Unknown }
            }
        }
    )*};
}

numbered! {
    /// Instructions.
    Opcode {
        Ret = 1, Br = 2, Switch = 3, IndirectBr = 4, Invoke = 5, Unreachable = 7, CallBr = 67,
        FNeg = 66, Add = 8, FAdd = 9, Sub = 10, FSub = 11, Mul = 12, FMul = 13, UDiv = 14, SDiv = 15, FDiv = 16,
        URem = 17, SRem = 18, FRem = 19, Shl = 20, LShr = 21, AShr = 22, And = 23, Or = 24, Xor = 25,
        Alloca = 26, Load = 27, Store = 28, GetElementPtr = 29,
        Trunc = 30, ZExt = 31, SExt = 32, FPToUI = 33, FPToSI = 34, UIToFP = 35, SIToFP = 36, FPTrunc = 37, FPExt = 38,
        PtrToInt = 39, IntToPtr = 40, BitCast = 41, AddrSpaceCast = 60, PtrToAddr = 69,
        ICmp = 42, FCmp = 43, Phi = 44, Call = 45, Select = 46, VAArg = 49,
        ExtractElement = 50, InsertElement = 51, ShuffleVector = 52, ExtractValue = 53, InsertValue = 54, Freeze = 68,
        Fence = 55, AtomicCmpXchg = 56, AtomicRMW = 57, Resume = 58, LandingPad = 59,
        CleanupRet = 61, CatchRet = 62, CatchPad = 63, CleanupPad = 64, CatchSwitch = 65,
    }
    /// Types.
    TypeKind {
        Void = 0, Half = 1, Float = 2, Double = 3, X86Fp80 = 4, Fp128 = 5, Label = 7, Integer = 8, Function = 9,
        Struct = 10, Array = 11, Pointer = 12, Vector = 13, Metadata = 14, Token = 16, BFloat = 18,
    }
    /// Values.
    ValueKind {
        Argument = 0, Block = 1, Function = 5, Alias = 6, IFunc = 7, Global = 8, BlockAddress = 9, Expression = 10,
        Array = 11, Struct = 12, Vector = 13, Undef = 14, Zero = 15, DataArray = 16, DataVector = 17,
        Int = 18, Float = 19, Null = 20, Metadata = 22, InlineAsm = 23, Instruction = 24, Poison = 25,
    }
}
