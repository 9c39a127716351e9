//! The changes of a file: at which places, with which text, and what they are called.
//!
//! A condition is replaced by `true` and by `false`, and each operand of `&&` and `||` is left out. So it needs no `==` for `!=`, nor `&&`
//! for `||`: a test that sees one of those sees one of these. All changes of a file are in one text, each behind its number.

mod conditions;
#[cfg(test)]
mod tests;
mod values;

use crate::rewrite::Wrap;
use proc_macro2::Span;
use std::collections::BTreeMap;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Expr, ImplItemFn, ItemFn, Pat, Signature, Stmt, UnOp};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it is called: file, function, and what is replaced by what. No two changes have one name.
    pub name: String,
    /// Its number.
    pub number: u32,
}

/// The changes of a file, and the text around the original that makes them.
#[derive(Debug, Default)]
pub struct Changes {
    /// In the order of their places.
    pub all: Vec<Change>,
    /// What is put in.
    pub wraps: Vec<Wrap>,
}

/// Finds the changes of a file. Numbers begin at `first`. Changes for which `is_left_out` holds keep their number, but are not put in.
pub fn changes_of(file: &str, text: &str, first: u32, is_left_out: &dyn Fn(u32) -> bool) -> syn::Result<Changes> {
    let syntax = syn::parse_file(text)?;
    let mut finder = Finder {
        file,
        text,
        next: first,
        is_left_out,
        path: Vec::new(),
        names: BTreeMap::new(),
        found: Changes::default(),
    };
    finder.visit_file(&syntax);
    Ok(finder.found)
}

/// A piece of new text, and what the change is called.
struct Instead {
    text: String,
    name: String,
}

struct Finder<'a> {
    file: &'a str,
    text: &'a str,
    next: u32,
    is_left_out: &'a dyn Fn(u32) -> bool,
    /// The type and the functions around.
    path: Vec<String>,
    /// How many changes have a name.
    names: BTreeMap<String, u32>,
    found: Changes,
}

impl Finder<'_> {
    fn range(&self, span: Span) -> Range<usize> {
        span.byte_range()
    }

    fn text_of(&self, syntax: &impl Spanned) -> &str {
        &self.text[self.range(syntax.span())]
    }

    /// Makes a change of this name. None if it is left out.
    fn change(&mut self, name: &str) -> Option<u32> {
        let mut name = format!(
            "{}: {}: {}",
            self.file,
            self.path.join("::"),
            name.split_whitespace().collect::<Vec<_>>().join(" ")
        );
        let times = self.names.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            name = format!("{name} ({times})");
        }
        let number = self.next;
        self.next += 1;
        self.found.all.push(Change { name, number });
        (!(self.is_left_out)(number)).then_some(number)
    }

    /// The expression may be each of these texts instead.
    fn instead(&mut self, expression: &impl Spanned, choices: Vec<Instead>) {
        let mut before = Vec::new();
        let mut changes = Vec::new();
        for Instead { text, name } in choices {
            let Some(number) = self.change(&name) else { continue };
            let start = if changes.is_empty() { "(" } else { "" };
            before.push((format!("{start}if {} {{ {text}\n}} else ", is(number)), Some(number)));
            changes.push(number);
        }
        if !changes.is_empty() {
            before.push(("{ ".into(), None));
            let around = self.range(expression.span());
            self.found.wraps.push(Wrap { around, before, after: "\n})".into(), changes });
        }
    }

    fn replace(&mut self, expression: &impl Spanned, texts: Vec<String>) {
        let original = shortened(self.text_of(expression));
        let named = |text: String| Instead { name: format!("`{original}` → `{}`", shortened(&text)), text };
        let choices = texts.into_iter().map(named).collect();
        self.instead(expression, choices);
    }

    /// Puts text in at a place.
    fn put_in(&mut self, at: usize, text: String, number: u32) {
        self.found.wraps.push(Wrap {
            around: at..at,
            before: vec![(text, None)],
            after: String::new(),
            changes: vec![number],
        });
    }

    /// The statement or expression of type `()` may not be there.
    fn without(&mut self, syntax: &impl Spanned) {
        let name = format!("without `{}`", shortened(self.text_of(syntax)));
        let Some(number) = self.change(&name) else { return };
        let before = vec![(format!("{{ if !{} {{ ", is(number)), None)];
        let around = self.range(syntax.span());
        self.found.wraps.push(Wrap { around, before, after: "\n} }".into(), changes: vec![number] });
    }

    fn function(&mut self, signature: &Signature, block: &syn::Block) {
        if signature.constness.is_some() {
            return;
        }
        self.path.push(signature.ident.to_string());
        let mut texts = values::of_return(&signature.output);
        // A body that is the value already.
        if let [Stmt::Expr(only, None)] = &block.stmts[..] {
            let only = self.text_of(only);
            texts.retain(|text| text != only);
        }
        if block.stmts.is_empty() {
            texts.clear();
        }
        for text in &texts {
            let Some(number) = self.change(&format!("body → `{text}`")) else { continue };
            let at = self.range(block.brace_token.span.open()).end;
            self.put_in(at, format!(" if {} {{ return {text}; }}", is(number)), number);
        }
        let is_condition = texts.iter().any(|text| text == "true" || text == "false");
        match &block.stmts[..] {
            [before @ .., Stmt::Expr(last, None)] if is_condition => {
                before.iter().for_each(|statement| self.visit_stmt(statement));
                let is_asked = !before.is_empty();
                self.condition(last, is_asked, is_asked);
            }
            _ => self.visit_block(block),
        }
        self.path.pop();
    }

    /// A pattern's arm may be left out, if others come after it that take everything.
    fn arms(&mut self, syntax: &syn::ExprMatch) {
        // A name in capitals is a variant or a constant, `None` among them.
        let takes_all = |arm: &syn::Arm| match &arm.pat {
            Pat::Wild(_) => arm.guard.is_none(),
            Pat::Ident(name) => arm.guard.is_none() && !name.ident.to_string().starts_with(char::is_uppercase),
            _ => false,
        };
        let has_default = syntax.arms.last().is_some_and(takes_all);
        let last = syntax.arms.len().saturating_sub(1);
        for (nth, arm) in syntax.arms.iter().enumerate() {
            if is_for_tests(&arm.attrs) {
                continue;
            }
            if has_default && nth < last {
                self.arm_left_out(syntax, arm);
            }
            if let Some((_, guard)) = &arm.guard {
                self.guard(guard);
            }
            match &*arm.body {
                Expr::Call(_) | Expr::MethodCall(_) => self.without(&arm.body),
                _ => {}
            }
            self.visit_expr(&arm.body);
        }
    }

    fn arm_left_out(&mut self, syntax: &syn::ExprMatch, arm: &syn::Arm) {
        let pattern = shortened(self.text_of(&arm.pat));
        let mut never = Vec::new();
        let whole = self.change(&format!("without the arm `{pattern}`"));
        never.extend(whole.map(|number| (is(number), number)));
        let scrutinee = self.text_of(&syntax.expr).to_owned();
        if let Pat::Or(alternatives) = &arm.pat {
            for case in &alternatives.cases {
                let case = self.text_of(case).to_owned();
                let Some(number) = self.change(&format!("without `{}` in the arm `{pattern}`", shortened(&case)))
                else {
                    continue;
                };
                never.push((format!("({} && matches!({scrutinee}, {case}))", is(number)), number));
            }
        }
        if never.is_empty() || matches!(&arm.guard, Some((_, guard)) if conditions::has_let(guard)) {
            return;
        }
        let changes: Vec<u32> = never.iter().map(|(_, number)| *number).collect();
        let mut before = Vec::new();
        for (nth, (text, number)) in never.into_iter().enumerate() {
            let joint = if nth == 0 { "" } else { " && " };
            before.push((format!("{joint}!{text}"), Some(number)));
        }
        if let Some((_, guard)) = &arm.guard {
            before.push((" && (".into(), None));
            let around = self.range(guard.span());
            self.found.wraps.push(Wrap { around, before, after: ")".into(), changes });
        } else {
            before.insert(0, (" if ".into(), None));
            let at = self.range(arm.pat.span()).end;
            self.found.wraps.push(Wrap { around: at..at, before, after: String::new(), changes });
        }
    }

    fn arithmetic(&mut self, binary: &syn::ExprBinary) {
        let other = match binary.op {
            BinOp::Add(_) => "-",
            BinOp::Sub(_) => "+",
            BinOp::Mul(_) => "+",
            BinOp::Div(_) | BinOp::Rem(_) => "*",
            BinOp::BitAnd(_) | BinOp::BitXor(_) => "|",
            BinOp::BitOr(_) => "&",
            BinOp::Shl(_) => ">>",
            BinOp::Shr(_) => "<<",
            _ => return,
        };
        let text = format!("{} {other} {}", self.text_of(&binary.left), self.text_of(&binary.right));
        self.replace(binary, vec![text]);
    }

    fn assignment(&mut self, binary: &syn::ExprBinary) {
        let other = match binary.op {
            BinOp::AddAssign(_) => "-=",
            BinOp::SubAssign(_) => "+=",
            BinOp::BitAndAssign(_) | BinOp::BitXorAssign(_) => "|=",
            BinOp::BitOrAssign(_) => "&=",
            _ => return,
        };
        let text = format!("{} {other} {}", self.text_of(&binary.left), self.text_of(&binary.right));
        self.replace(binary, vec![text]);
    }

    fn method(&mut self, call: &syn::ExprMethodCall) {
        let name = call.method.to_string();
        let other = match name.as_str() {
            "min" => "max",
            "max" => "min",
            "min_by_key" => "max_by_key",
            "max_by_key" => "min_by_key",
            "first" => "last",
            "last" => "first",
            "any" => "all",
            "all" => "any",
            _ => "",
        };
        if !other.is_empty() {
            let (whole, method) = (self.range(call.span()), self.range(call.method.span()));
            let text = format!("{}{other}{}", &self.text[whole.start..method.start], &self.text[method.end..whole.end]);
            self.instead(
                call,
                vec![Instead {
                    text, name: format!("`.{name}` → `.{other}` in `{}`", shortened(self.text_of(call)))
                }],
            );
        }
        self.visit_expr(&call.receiver);
        const ASKING: [&str; 13] = [
            "filter",
            "any",
            "all",
            "skip_while",
            "take_while",
            "is_some_and",
            "is_none_or",
            "retain",
            "position",
            "find",
            "partition",
            "rposition",
            "extract_if",
        ];
        let asks = ASKING.contains(&name.as_str());
        for argument in &call.args {
            match argument {
                Expr::Closure(closure) if asks => self.condition(&closure.body, true, true),
                other => self.visit_expr(other),
            }
        }
    }
}

/// The expression that says whether a change is chosen.
fn is(number: u32) -> String {
    format!("crate::mutant_switch::is({number})")
}

/// Text for a name.
fn shortened(text: &str) -> String {
    const MOST: usize = 100;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Whether there is `#[cfg(test)]`, `#[test]` or the like.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().contains("test"),
        syn::Meta::NameValue(_) => false,
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Const(_) | syn::Item::Static(_) | syn::Item::Enum(_) | syn::Item::Macro(_) => {}
            syn::Item::Mod(module) if is_for_tests(&module.attrs) => {}
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_for_tests(&function.attrs) {
            self.function(&function.sig, &function.block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of =
            item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last()).map(|segment| segment.ident.to_string());
        // Words for people decide nothing.
        if is_for_tests(&item.attrs) || matches!(of.as_deref(), Some("Display" | "Debug" | "Error")) {
            return;
        }
        let of_type = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().expect("a path has a name").ident.to_string(),
            other => shortened(self.text_of(other)),
        };
        self.path.push(of_type);
        visit::visit_item_impl(self, item);
        self.path.pop();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.path.push(item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.path.pop();
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            self.function(&function.sig, &function.block);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig, block);
        }
    }

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement {
            let called = match expression {
                Expr::Try(tried) => &*tried.expr,
                other => other,
            };
            match called {
                Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_) => self.without(statement),
                Expr::Binary(_) => self.without(statement),
                _ => {}
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::If(choice) => {
                self.branch_condition(&choice.cond, true);
                self.visit_block(&choice.then_branch);
                if let Some((_, otherwise)) = &choice.else_branch {
                    self.visit_expr(otherwise);
                }
            }
            Expr::While(turns) => {
                // A loop that never ends says nothing about tests.
                self.branch_condition(&turns.cond, false);
                self.visit_block(&turns.body);
            }
            Expr::Match(choice) => {
                self.visit_expr(&choice.expr);
                self.arms(choice);
            }
            Expr::Binary(binary) => match binary.op {
                BinOp::And(_)
                | BinOp::Or(_)
                | BinOp::Eq(_)
                | BinOp::Ne(_)
                | BinOp::Lt(_)
                | BinOp::Le(_)
                | BinOp::Gt(_)
                | BinOp::Ge(_) => {
                    self.condition(expression, true, true);
                }
                _ => {
                    self.arithmetic(binary);
                    self.assignment(binary);
                    visit::visit_expr_binary(self, binary);
                }
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => self.condition(expression, true, true),
            Expr::MethodCall(call) => self.method(call),
            Expr::Macro(called) if called.mac.path.is_ident("matches") => self.condition(expression, true, true),
            Expr::Const(_) => {}
            _ => visit::visit_expr(self, expression),
        }
    }
}
