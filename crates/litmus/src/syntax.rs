//! The syntax tree of a litmus program, as the parser makes it: names unresolved, types unchecked.

use super::diagnostic::Span;
use dashu_int::IBig;
use foretrace_trace::Sort;

/// A name where it stands.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub text: Box<str>,
    pub span: Span,
}

/// A declaration at the top of a program.
#[derive(Debug)]
pub(super) enum Item {
    Shared {
        name: Name,
        sort: Sort,
        length: Option<u32>,
        init: Option<Init>,
    },
    Sync {
        name: Name,
        kind: foretrace_trace::SyncKind,
    },
    Thread {
        name: Name,
        body: Block,
    },
    Function {
        name: Name,
        parameters: Vec<(Name, Sort)>,
        result: Option<Sort>,
        body: Block,
        operation: Option<Operation>,
    },
}

impl Item {
    /// The name that it declares.
    pub(super) fn name(&self) -> &Name {
        match self {
            Item::Shared { name, .. }
            | Item::Sync { name, .. }
            | Item::Thread { name, .. }
            | Item::Function { name, .. } => name,
        }
    }
}

/// What makes a function an operation on a concurrent object.
#[derive(Debug)]
pub(super) struct Operation {
    /// The object, where the program has several.
    pub object: Option<Box<str>>,
    /// The result by which it says that there was nothing to give.
    pub empty: Option<Expression>,
}

/// What a shared variable holds at the start.
#[derive(Debug)]
pub(super) enum Init {
    One(Expression),
    Each(Vec<Expression>, Span),
}

/// Statements between braces.
#[derive(Debug)]
pub(super) struct Block {
    pub statements: Vec<Statement>,
    /// The closing brace.
    pub end: Span,
}

/// A statement and where it starts.
#[derive(Debug)]
pub(super) struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Debug)]
pub(super) enum StatementKind {
    Let { name: Name, sort: Option<Sort>, value: Expression },
    Assign { place: VariableRef, value: Expression },
    Atomic { label: Option<Box<str>>, body: Block },
    If { arms: Vec<(Expression, Block)>, otherwise: Option<Block> },
    While { condition: Expression, body: Block },
    Assert { condition: Expression, message: Option<Box<str>> },
    Spawn(Name),
    Join(Name),
    Return(Option<Expression>),
    Call(Expression),
}

/// A variable, or an element of an array.
#[derive(Debug)]
pub(super) struct VariableRef {
    pub name: Name,
    pub index: Option<Box<Expression>>,
}

/// An expression, where it stands, and how deep it nests.
#[derive(Debug)]
pub(super) struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
    pub height: u32,
}

#[derive(Debug)]
pub(super) enum ExpressionKind {
    Bool(bool),
    Number(IBig),
    VariableRef(VariableRef),
    Unary(UnaryOperator, Box<Expression>),
    Binary { operator: BinaryOperator, at: Span, left: Box<Expression>, right: Box<Expression> },
    Call { name: Name, arguments: Vec<Expression> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOperator {
    Not,
    Negate,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    OrElse,
    AndThen,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Every binary operator: how it is written, and how tightly it binds.
pub(super) const BINARY_OPERATORS: &[(&str, BinaryOperator, u8)] = &[
    ("||", BinaryOperator::OrElse, 1),
    ("&&", BinaryOperator::AndThen, 2),
    ("==", BinaryOperator::Equal, COMPARISON),
    ("!=", BinaryOperator::Unequal, COMPARISON),
    ("<", BinaryOperator::Less, COMPARISON),
    ("<=", BinaryOperator::LessEqual, COMPARISON),
    (">", BinaryOperator::Greater, COMPARISON),
    (">=", BinaryOperator::GreaterEqual, COMPARISON),
    ("|", BinaryOperator::Or, 4),
    ("^", BinaryOperator::Xor, 5),
    ("&", BinaryOperator::And, 6),
    ("<<", BinaryOperator::ShiftLeft, 7),
    (">>", BinaryOperator::ShiftRight, 7),
    ("+", BinaryOperator::Add, 8),
    ("-", BinaryOperator::Subtract, 8),
    ("*", BinaryOperator::Multiply, 9),
    ("/", BinaryOperator::Divide, 9),
    ("%", BinaryOperator::Remainder, 9),
];

/// How tightly comparisons bind; two of them in a row are an error.
pub(super) const COMPARISON: u8 = 3;

impl BinaryOperator {
    /// How the operator is written.
    pub(super) fn text(self) -> &'static str {
        BINARY_OPERATORS.iter().find(|(_, operator, _)| *operator == self).map_or("?", |(text, ..)| text)
    }
}

/// A sort as the language writes it.
pub(super) fn shown(sort: Sort) -> String {
    match sort {
        Sort::Bool => "bool".to_string(),
        Sort::Int => "int".to_string(),
        Sort::BitVec(width) => format!("bv{width}"),
    }
}
