//! The changes of conditions.

use super::{Finder, is, shortened};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{BinOp, Expr, Pat, Token, UnOp};

/// What `matches!` is given.
struct Matches {
    asked: Expr,
    pattern: Pat,
    guard: Option<Expr>,
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Matches> {
        let asked = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let guard = if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse()?) } else { None };
        input.parse::<Option<Token![,]>>()?;
        Ok(Matches { asked, pattern, guard })
    }
}

/// Whether a condition has `let` in its chain.
pub fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl Finder<'_> {
    /// The condition of an `if` or `while`.
    pub fn branch_condition(&mut self, condition: &Expr, may_hold: bool) {
        if !has_let(condition) {
            self.condition(condition, may_hold, true);
            return;
        }
        let name = format!("`{}` → `false`", shortened(self.text_of(condition)));
        if let Some(number) = self.change(&name) {
            self.put_in(self.range(condition.span()).start, format!("!{} && ", is(number)), number);
        }
        self.condition(condition, false, false);
    }

    /// The guard of an arm.
    pub fn guard(&mut self, guard: &Expr) {
        self.branch_condition(guard, true);
    }

    /// An expression of type `bool`: whether it is replaced by `true` and by `false`, where a smaller change does not say more.
    pub fn condition(&mut self, expression: &Expr, by_true: bool, by_false: bool) {
        match expression {
            Expr::Paren(inner) => self.condition(&inner.expr, by_true, by_false),
            Expr::Let(bound) => self.visit_expr(&bound.expr),
            Expr::Lit(_) => {}
            Expr::Block(block) => match &block.block.stmts[..] {
                [before @ .., syn::Stmt::Expr(last, None)] => {
                    before.iter().for_each(|statement| self.visit_stmt(statement));
                    self.condition(last, by_true, by_false);
                }
                _ => self.visit_block(&block.block),
            },
            Expr::If(_) | Expr::Match(_) => self.visit_expr(expression),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => self.condition(&unary.expr, by_false, by_true),
            Expr::Binary(binary) => self.binary_condition(expression, binary, by_true, by_false),
            Expr::Macro(called) if called.mac.path.is_ident("matches") => {
                self.matches(expression, called, by_true, by_false);
            }
            _ => {
                self.replace(expression, literals(by_true, by_false));
                self.visit_expr(expression);
            }
        }
    }

    fn binary_condition(&mut self, whole: &Expr, binary: &syn::ExprBinary, by_true: bool, by_false: bool) {
        let boundary = match binary.op {
            BinOp::And(_) => {
                // Without an operand it holds more often than it should, so `true` would say less.
                self.replace(whole, literals(false, by_false && !has_let(whole)));
                self.condition(&binary.left, true, false);
                self.condition(&binary.right, true, false);
                return;
            }
            BinOp::Or(_) => {
                self.replace(whole, literals(by_true, false));
                self.condition(&binary.left, false, true);
                self.condition(&binary.right, false, true);
                return;
            }
            BinOp::Lt(_) => Some("<="),
            BinOp::Le(_) => Some("<"),
            BinOp::Gt(_) => Some(">="),
            BinOp::Ge(_) => Some(">"),
            _ => None,
        };
        let mut texts = literals(by_true, by_false);
        if let Some(other) = boundary {
            texts.push(format!("{} {other} {}", self.text_of(&binary.left), self.text_of(&binary.right)));
        }
        self.replace(whole, texts);
        match binary.op {
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                self.visit_expr(&binary.left);
                self.visit_expr(&binary.right);
            }
            _ => self.visit_expr(whole),
        }
    }

    /// `matches!` without each of its alternatives, and what is in its guard.
    fn matches(&mut self, whole: &Expr, called: &syn::ExprMacro, by_true: bool, by_false: bool) {
        let Ok(Matches { asked, pattern, guard }) = called.mac.parse_body::<Matches>() else {
            self.replace(whole, literals(by_true, by_false));
            return;
        };
        let mut texts = literals(by_true, by_false);
        if let Pat::Or(alternatives) = &pattern {
            for left_out in 0..alternatives.cases.len() {
                let kept = alternatives.cases.iter().enumerate().filter(|(nth, _)| *nth != left_out);
                let kept: Vec<&str> = kept.map(|(_, case)| self.text_of(case)).collect();
                let guard = guard.as_ref().map(|guard| format!(" if {}", self.text_of(guard))).unwrap_or_default();
                texts.push(format!("matches!({}, {}{guard})", self.text_of(&asked), kept.join(" | ")));
            }
        }
        self.replace(whole, texts);
        self.visit_expr(&asked);
        if let Some(guard) = &guard {
            self.guard(guard);
        }
    }
}

fn literals(by_true: bool, by_false: bool) -> Vec<String> {
    let mut texts = Vec::new();
    texts.extend(by_true.then(|| "true".to_owned()));
    texts.extend(by_false.then(|| "false".to_owned()));
    texts
}
