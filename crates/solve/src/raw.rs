//! Z3's solver with a theory of ours in it, by the raw bindings: the `z3` crate has no user propagator.
//!
//! The only unsafe code. What makes it sound:
//! - The context is the thread's own one, which the crate keeps. The reference count of a solver goes up when it is made and down when it
//!   is dropped; the same holds for a model. A `z3` value holds every term as long as Z3 has its pointer.
//! - Z3 calls back only within calls that this file makes, on the same thread, with the pointer given at `propagate_init`. The theory
//!   lives behind it in an `Rc<RefCell<_>>` that outlives the solver. No code here holds a borrow over a call that can call back, so
//!   there are never two borrows.
//! - No panic crosses the border: an `extern "C"` function of Rust aborts instead.
#![allow(unsafe_code, reason = "the z3 crate has no user propagator")]

use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_uint, c_void};
use std::rc::Rc;
use z3::ast::{Ast, Bool, Dynamic};
use z3::{Context, SatResult};
use z3_sys::*;

/// A theory over atoms that are numbered from 0.
pub(super) trait Theory {
    /// Begins a level.
    fn push(&mut self);
    /// Takes back the last levels.
    fn pop(&mut self, levels: usize);
    /// An atom has a value; what follows goes to `consequences`.
    fn fixed(&mut self, atom: u32, value: bool, consequences: &mut Vec<Consequence>);
    /// All atoms have values.
    fn complete(&mut self);
}

/// What follows from the values of atoms.
pub(super) struct Consequence {
    pub(super) because: Vec<u32>,
    /// An atom with its value; none for a contradiction.
    pub(super) then: Option<(u32, bool)>,
}

/// What Z3 sees of a theory.
struct Attached<T> {
    context: Context,
    theory: T,
    /// Each atom with its negation.
    atoms: Vec<[Bool; 2]>,
    numbers: FxHashMap<Z3_ast, u32>,
    truth: Bool,
    falsity: Bool,
    consequences: Vec<Consequence>,
    because: Vec<Z3_ast>,
}

/// A solver with a theory.
pub(super) struct TheorySolver<T: Theory> {
    context: Context,
    solver: Z3_solver,
    attached: Rc<RefCell<Attached<T>>>,
}

impl<T: Theory> TheorySolver<T> {
    /// An empty solver.
    pub(super) fn new(theory: T) -> TheorySolver<T> {
        let context = Context::thread_local();
        let attached = Rc::new(RefCell::new(Attached {
            context: context.clone(),
            theory,
            atoms: Vec::new(),
            numbers: FxHashMap::default(),
            truth: Bool::from_bool(true),
            falsity: Bool::from_bool(false),
            consequences: Vec::new(),
            because: Vec::new(),
        }));
        let raw = context.get_z3_context();
        // The simple solver is the incremental one: what Z3 tries first else has no user propagator.
        let solver = unsafe { Z3_mk_simple_solver(raw) }.expect("Z3 makes a solver");
        let user = Rc::as_ptr(&attached).cast_mut().cast::<c_void>();
        unsafe {
            Z3_solver_inc_ref(raw, solver);
            Z3_solver_propagate_init(raw, solver, user, Some(push::<T>), Some(pop::<T>), Some(fresh));
            Z3_solver_propagate_fixed(raw, solver, Some(fixed::<T>));
            Z3_solver_propagate_final(raw, solver, Some(complete::<T>));
        }
        TheorySolver { context, solver, attached }
    }

    /// The theory. Not to be held over any call of the solver.
    pub(super) fn with_theory<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.attached.borrow_mut().theory)
    }

    /// Sets numbers as parameters.
    pub(super) fn set(&self, values: &[(&str, u32)]) {
        let raw = self.context.get_z3_context();
        unsafe {
            let params = Z3_mk_params(raw).expect("Z3 makes parameters");
            Z3_params_inc_ref(raw, params);
            for (name, value) in values {
                let name = CString::new(*name).expect("a name of a parameter");
                let symbol = Z3_mk_string_symbol(raw, name.as_ptr()).expect("Z3 makes a symbol");
                Z3_params_set_uint(raw, params, symbol, *value);
            }
            Z3_solver_set_params(raw, self.solver, params);
            Z3_params_dec_ref(raw, params);
        }
    }

    /// Adds a constraint. Whatever was decided in the last search is taken back.
    pub(super) fn assert(&self, term: &Bool) {
        unsafe { Z3_solver_assert(self.context.get_z3_context(), self.solver, term.get_z3_ast()) }
    }

    /// Makes the term the next atom of the theory. Only right after an assertion: what is registered while the last search is
    /// not taken back gets lost with it.
    pub(super) fn register(&self, atom: &Bool) {
        let ast = atom.get_z3_ast();
        {
            let mut attached = self.attached.borrow_mut();
            let number = attached.atoms.len() as u32;
            attached.atoms.push([atom.not(), atom.clone()]);
            attached.numbers.insert(ast, number);
        }
        unsafe { Z3_solver_propagate_register(self.context.get_z3_context(), self.solver, ast) }
    }

    /// The term for a value of an atom.
    pub(super) fn literal(&self, atom: u32, value: bool) -> Bool {
        self.attached.borrow().atoms[atom as usize][usize::from(value)].clone()
    }

    /// Whether the constraints can be fulfilled together with the assumptions.
    pub(super) fn check(&self, assumptions: &[Bool]) -> SatResult {
        let raw: Vec<Z3_ast> = assumptions.iter().map(Bool::get_z3_ast).collect();
        let context = self.context.get_z3_context();
        match unsafe { Z3_solver_check_assumptions(context, self.solver, raw.len() as c_uint, raw.as_ptr()) } {
            Z3_L_TRUE => SatResult::Sat,
            Z3_L_FALSE => SatResult::Unsat,
            _ => SatResult::Unknown,
        }
    }

    /// Why the last answer was that it is not known.
    pub(super) fn reason_unknown(&self) -> String {
        let reason = unsafe { Z3_solver_get_reason_unknown(self.context.get_z3_context(), self.solver) };
        if reason.is_null() {
            return String::new();
        }
        unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned()
    }

    /// The assignment that the last check found.
    pub(super) fn model(&self) -> Option<RawModel> {
        let context = self.context.clone();
        let model = unsafe { Z3_solver_get_model(context.get_z3_context(), self.solver) }?;
        unsafe { Z3_model_inc_ref(context.get_z3_context(), model) };
        Some(RawModel { context, model })
    }
}

impl<T: Theory> Drop for TheorySolver<T> {
    fn drop(&mut self) {
        unsafe { Z3_solver_dec_ref(self.context.get_z3_context(), self.solver) }
    }
}

/// An assignment.
pub(super) struct RawModel {
    context: Context,
    model: Z3_model,
}

impl RawModel {
    /// The value of a term; terms that nothing is said of get one.
    pub(super) fn value(&self, term: &Dynamic) -> Option<Dynamic> {
        let context = self.context.get_z3_context();
        let mut value: Option<Z3_ast> = None;
        let slot = (&raw mut value).cast();
        let found = unsafe { Z3_model_eval(context, self.model, term.get_z3_ast(), true, slot) };
        value.filter(|_| found).map(|value| unsafe { Dynamic::wrap(&self.context, value) })
    }
}

impl Drop for RawModel {
    fn drop(&mut self) {
        unsafe { Z3_model_dec_ref(self.context.get_z3_context(), self.model) }
    }
}

impl<T: Theory> Attached<T> {
    /// Tells Z3 what the theory found.
    fn tell(&mut self, callback: Z3_solver_callback) {
        for Consequence { because, then } in self.consequences.drain(..) {
            self.because.clear();
            self.because.extend(because.iter().map(|atom| self.atoms[*atom as usize][1].get_z3_ast()));
            let then = match then {
                Some((atom, value)) => self.atoms[atom as usize][usize::from(value)].get_z3_ast(),
                None => self.falsity.get_z3_ast(),
            };
            let (count, because) = (self.because.len() as c_uint, self.because.as_ptr());
            let context = self.context.get_z3_context();
            unsafe {
                Z3_solver_propagate_consequence(context, callback, count, because, 0, because, because, then);
            }
        }
    }
}

/// The theory behind the pointer that was given to Z3.
///
/// # Safety
/// `user` comes from `TheorySolver::<T>::new` and its solver is alive.
unsafe fn attached<'a, T>(user: *mut c_void) -> &'a RefCell<Attached<T>> {
    unsafe { &*user.cast_const().cast::<RefCell<Attached<T>>>() }
}

unsafe extern "C" fn push<T: Theory>(user: *mut c_void, _: Z3_solver_callback) {
    unsafe { attached::<T>(user) }.borrow_mut().theory.push();
}

unsafe extern "C" fn pop<T: Theory>(user: *mut c_void, _: Z3_solver_callback, levels: c_uint) {
    unsafe { attached::<T>(user) }.borrow_mut().theory.pop(levels as usize);
}

/// Another solver for a part of the work: never asked for, since that takes quantifiers or parallel solving.
unsafe extern "C" fn fresh(user: *mut c_void, _: Z3_context) -> *mut c_void {
    user
}

unsafe extern "C" fn fixed<T: Theory>(user: *mut c_void, callback: Z3_solver_callback, term: Z3_ast, value: Z3_ast) {
    let mut attached = unsafe { attached::<T>(user) }.borrow_mut();
    let attached = &mut *attached;
    if let Some(atom) = attached.numbers.get(&term) {
        attached.theory.fixed(*atom, value == attached.truth.get_z3_ast(), &mut attached.consequences);
        attached.tell(callback);
    }
}

unsafe extern "C" fn complete<T: Theory>(user: *mut c_void, _: Z3_solver_callback) {
    unsafe { attached::<T>(user) }.borrow_mut().theory.complete();
}
