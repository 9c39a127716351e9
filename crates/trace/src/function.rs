//! The functions of the term language: names and sort rules. `evaluate.rs` has their meaning on values.
//!
//! They are those of the SMT-LIB 2 theories Core, Ints and FixedSizeBitVectors (with the usual
//! extensions).

use crate::value::Sort;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Widest word that a term may have, in bits.
pub const MAX_WIDTH: u32 = 1 << 16;

/// A function symbol with its numeral indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[allow(missing_docs)] // each is the SMT-LIB function of its name
pub enum Func {
    Not,
    And,
    Or,
    Xor,
    Implies,
    Eq,
    Distinct,
    Ite,
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Abs,
    Le,
    Lt,
    Ge,
    Gt,
    Divisible(u32),
    Concat,
    Extract { high: u32, low: u32 },
    ZeroExtend(u32),
    SignExtend(u32),
    RotateLeft(u32),
    RotateRight(u32),
    Repeat(u32),
    BvNot,
    BvNeg,
    BvAnd,
    BvOr,
    BvXor,
    BvNand,
    BvNor,
    BvXnor,
    BvComp,
    BvAdd,
    BvSub,
    BvMul,
    BvUdiv,
    BvUrem,
    BvSdiv,
    BvSrem,
    BvSmod,
    BvShl,
    BvLshr,
    BvAshr,
    BvUlt,
    BvUle,
    BvUgt,
    BvUge,
    BvSlt,
    BvSle,
    BvSgt,
    BvSge,
}

/// Every function without indices, under its SMT-LIB name (`Neg` shares `-` with `Sub`).
pub const NAMES: &[(&str, Func)] = &[
    ("not", Func::Not),
    ("and", Func::And),
    ("or", Func::Or),
    ("xor", Func::Xor),
    ("=>", Func::Implies),
    ("=", Func::Eq),
    ("distinct", Func::Distinct),
    ("ite", Func::Ite),
    ("+", Func::Add),
    ("-", Func::Sub),
    ("*", Func::Mul),
    ("div", Func::Div),
    ("mod", Func::Mod),
    ("abs", Func::Abs),
    ("<=", Func::Le),
    ("<", Func::Lt),
    (">=", Func::Ge),
    (">", Func::Gt),
    ("concat", Func::Concat),
    ("bvnot", Func::BvNot),
    ("bvneg", Func::BvNeg),
    ("bvand", Func::BvAnd),
    ("bvor", Func::BvOr),
    ("bvxor", Func::BvXor),
    ("bvnand", Func::BvNand),
    ("bvnor", Func::BvNor),
    ("bvxnor", Func::BvXnor),
    ("bvcomp", Func::BvComp),
    ("bvadd", Func::BvAdd),
    ("bvsub", Func::BvSub),
    ("bvmul", Func::BvMul),
    ("bvudiv", Func::BvUdiv),
    ("bvurem", Func::BvUrem),
    ("bvsdiv", Func::BvSdiv),
    ("bvsrem", Func::BvSrem),
    ("bvsmod", Func::BvSmod),
    ("bvshl", Func::BvShl),
    ("bvlshr", Func::BvLshr),
    ("bvashr", Func::BvAshr),
    ("bvult", Func::BvUlt),
    ("bvule", Func::BvUle),
    ("bvugt", Func::BvUgt),
    ("bvuge", Func::BvUge),
    ("bvslt", Func::BvSlt),
    ("bvsle", Func::BvSle),
    ("bvsgt", Func::BvSgt),
    ("bvsge", Func::BvSge),
];

/// How SMT-LIB writes a function applied: `not`, `(_ extract 7 0)`.
impl std::fmt::Display for Func {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Func::Neg => f.write_str("-"),
            Func::Divisible(n) => write!(f, "(_ divisible {n})"),
            Func::Extract { high, low } => write!(f, "(_ extract {high} {low})"),
            Func::ZeroExtend(n) => write!(f, "(_ zero_extend {n})"),
            Func::SignExtend(n) => write!(f, "(_ sign_extend {n})"),
            Func::RotateLeft(n) => write!(f, "(_ rotate_left {n})"),
            Func::RotateRight(n) => write!(f, "(_ rotate_right {n})"),
            Func::Repeat(n) => write!(f, "(_ repeat {n})"),
            named => match NAMES.iter().find(|(_, func)| *func == named) {
                Some((name, _)) => f.write_str(name),
                None => write!(f, "{named:?}"),
            },
        }
    }
}

/// Why an application is ill-sorted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SortError {
    /// The wrong number of arguments.
    #[error("`{func}` takes {expected}, found {found} arguments")]
    Arity {
        /// The function applied.
        func: Func,
        /// What it takes, in words.
        expected: &'static str,
        /// How many it was given.
        found: usize,
    },
    /// An argument of the wrong sort.
    #[error("argument {position} of `{func}` has sort {found}, expected {expected}")]
    Argument {
        /// The function applied.
        func: Func,
        /// Which argument, from 1.
        position: usize,
        /// The sort that is wanted, in words.
        expected: String,
        /// The sort that it has.
        found: Sort,
    },
    /// Indices that do not fit the argument.
    #[error("`{func}` does not fit a word of {width} bits")]
    Index {
        /// The function applied.
        func: Func,
        /// The argument's width.
        width: u32,
    },
    /// A result that is wider than [`MAX_WIDTH`].
    #[error("`{func}` makes a word of {width} bits, more than {MAX_WIDTH}")]
    TooWide {
        /// The function applied.
        func: Func,
        /// The width that the result would have.
        width: u64,
    },
}

impl Func {
    /// The sort of the function applied to arguments of these sorts.
    pub fn result_sort(self, args: &[Sort]) -> Result<Sort, SortError> {
        use Func::*;
        match self {
            Not => self.uniform(args, Sort::Bool, 1, Some(1)).map(|()| Sort::Bool),
            And | Or => self.uniform(args, Sort::Bool, 1, None).map(|()| Sort::Bool),
            Xor | Implies => self.uniform(args, Sort::Bool, 2, None).map(|()| Sort::Bool),
            Eq | Distinct => {
                self.arity(args, 2, None)?;
                self.uniform(args, args[0], 2, None).map(|()| Sort::Bool)
            }
            Ite => {
                self.arity(args, 3, Some(3))?;
                self.expect(args, 0, Sort::Bool)?;
                self.expect(args, 2, args[1]).map(|()| args[1])
            }
            Neg | Abs => self.uniform(args, Sort::Int, 1, Some(1)).map(|()| Sort::Int),
            Add | Sub | Mul | Div => self.uniform(args, Sort::Int, 2, None).map(|()| Sort::Int),
            Mod => self.uniform(args, Sort::Int, 2, Some(2)).map(|()| Sort::Int),
            Le | Lt | Ge | Gt => self.uniform(args, Sort::Int, 2, None).map(|()| Sort::Bool),
            Divisible(_) => self.uniform(args, Sort::Int, 1, Some(1)).map(|()| Sort::Bool),
            Concat => {
                self.arity(args, 2, None)?;
                let mut total = 0u64;
                for position in 0..args.len() {
                    total += u64::from(self.word(args, position)?);
                }
                self.width(total)
            }
            Extract { high, low } => {
                let width = self.unary_word(args)?;
                if low > high || high >= width {
                    return Err(SortError::Index { func: self, width });
                }
                Ok(Sort::BitVec(high - low + 1))
            }
            ZeroExtend(n) | SignExtend(n) => {
                let width = self.unary_word(args)?;
                self.width(u64::from(width) + u64::from(n))
            }
            RotateLeft(_) | RotateRight(_) => self.unary_word(args).map(Sort::BitVec),
            Repeat(n) => {
                let width = self.unary_word(args)?;
                if n == 0 {
                    return Err(SortError::Index { func: self, width });
                }
                self.width(u64::from(width) * u64::from(n))
            }
            BvNot | BvNeg => self.unary_word(args).map(Sort::BitVec),
            BvAnd | BvOr | BvXor | BvAdd | BvMul | BvXnor => self.words(args, None).map(Sort::BitVec),
            BvNand | BvNor | BvSub | BvUdiv | BvUrem | BvSdiv | BvSrem | BvSmod | BvShl | BvLshr | BvAshr => {
                self.words(args, Some(2)).map(Sort::BitVec)
            }
            BvComp => self.words(args, Some(2)).map(|_| Sort::BitVec(1)),
            BvUlt | BvUle | BvUgt | BvUge | BvSlt | BvSle | BvSgt | BvSge => {
                self.words(args, Some(2)).map(|_| Sort::Bool)
            }
        }
    }

    /// Whether it is a comparison of two words.
    pub(crate) fn compares_words(self) -> bool {
        use Func::*;
        matches!(self, Eq | Distinct | BvUlt | BvUle | BvUgt | BvUge | BvSlt | BvSle | BvSgt | BvSge)
    }

    fn arity(self, args: &[Sort], least: usize, most: Option<usize>) -> Result<(), SortError> {
        let expected = match (least, most) {
            (1, Some(_)) => "one argument",
            (2, Some(_)) => "two arguments",
            (3, Some(_)) => "three arguments",
            (1, None) => "one argument or more",
            _ => "two arguments or more",
        };
        let fits = args.len() >= least && most.is_none_or(|most| args.len() <= most);
        if fits { Ok(()) } else { Err(SortError::Arity { func: self, expected, found: args.len() }) }
    }

    fn expect(self, args: &[Sort], position: usize, sort: Sort) -> Result<(), SortError> {
        if args[position] == sort {
            return Ok(());
        }
        let expected = sort.to_string();
        Err(SortError::Argument { func: self, position: position + 1, expected, found: args[position] })
    }

    fn uniform(self, args: &[Sort], sort: Sort, least: usize, most: Option<usize>) -> Result<(), SortError> {
        self.arity(args, least, most)?;
        args.iter().position(|found| *found != sort).map_or(Ok(()), |position| self.expect(args, position, sort))
    }

    fn word(self, args: &[Sort], position: usize) -> Result<u32, SortError> {
        match args[position] {
            Sort::BitVec(width) => Ok(width),
            found => {
                let expected = "(_ BitVec n)".to_string();
                Err(SortError::Argument { func: self, position: position + 1, expected, found })
            }
        }
    }

    fn unary_word(self, args: &[Sort]) -> Result<u32, SortError> {
        self.arity(args, 1, Some(1))?;
        self.word(args, 0)
    }

    fn words(self, args: &[Sort], most: Option<usize>) -> Result<u32, SortError> {
        self.arity(args, 2, most)?;
        let width = self.word(args, 0)?;
        self.uniform(args, Sort::BitVec(width), 2, most)?;
        Ok(width)
    }

    fn width(self, width: u64) -> Result<Sort, SortError> {
        match u32::try_from(width) {
            Ok(width) if width <= MAX_WIDTH => Ok(Sort::BitVec(width)),
            _ => Err(SortError::TooWide { func: self, width }),
        }
    }
}

/// [`NAMES`] for looking up.
pub(crate) static FUNCTIONS_BY_NAME: LazyLock<FxHashMap<&'static str, Func>> =
    LazyLock::new(|| NAMES.iter().copied().collect());
