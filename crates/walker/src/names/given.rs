//! What parameters and results of functions are, by the types of the source.

use super::Names;
use super::pointed::variable_of_parameter;
use super::types::{Holds, Shape, Type, TypeRef, Types};
use crate::program::Function;
use foretrace_instrument::sidecar;

/// A scalar of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    /// An integer of so many bytes.
    Integer { signed: bool, bytes: u32 },
    /// A truth value.
    Truth,
    /// The address of something.
    Pointer,
}

impl Scalar {
    /// Its size in memory, in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Scalar::Integer { bytes, .. } => bytes,
            Scalar::Truth => 1,
            Scalar::Pointer => 8,
        }
    }
}

/// What a parameter or a result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Given {
    /// There is none.
    Nothing,
    /// A scalar.
    Scalar(Scalar),
    /// A reference to a scalar that the function does not change.
    Reference(Scalar),
    /// A reference to anything else: what counts may be what lies there.
    Object,
    /// A pointer to a scalar, which the function may read or set.
    Place(Scalar),
    /// A reference to a scalar that the function may set.
    Target(Scalar),
    /// An `Option` of Rust: first whether there is a value, then the value.
    RustOption(Scalar),
    /// An `optional` of C++: first the value, then whether there is one.
    CppOptional(Scalar),
    /// Anything else.
    Unknown,
}

impl Names {
    /// What a function's parameter is.
    pub fn parameter(&self, function: &Function, parameter: usize) -> Given {
        let Some(described) = function.parameters.get(parameter).filter(|described| described.by_value.is_none())
        else {
            return Given::Unknown;
        };
        let local = |name| self.types.local(&function.symbol, name);
        let ty = local(&described.name).or_else(|| local(variable_of_parameter(function, parameter)?));
        ty.map_or(Given::Unknown, |ty| self.types.given(ty))
    }

    /// The name of a function's parameter in the source.
    pub fn parameter_name<'f>(&self, function: &'f Function, parameter: usize) -> Option<&'f str> {
        let own = function.parameters.get(parameter)?.name.as_str();
        let is_known = |name: &&str| self.types.local(&function.symbol, name).is_some();
        Some(own).filter(is_known).or_else(|| variable_of_parameter(function, parameter))
    }

    /// What a function gives back.
    pub fn result(&self, function: &Function) -> Given {
        match self.types.returns.get(&function.symbol) {
            None => Given::Unknown,
            Some(None) if function.returns == sidecar::Type::Void => Given::Nothing,
            Some(None) => Given::Unknown,
            Some(Some(ty)) => self.types.given(*ty),
        }
    }
}

impl Types {
    fn given(&self, ty: TypeRef) -> Given {
        let Some((described, _)) = self.stripped(ty) else { return Given::Unknown };
        match &described.shape {
            Shape::Pointer(to) => self.pointer(described, *to),
            Shape::Record(_) => optional(&described.name),
            _ => scalar(described).map_or(Given::Unknown, Given::Scalar),
        }
    }

    /// A type without its other names and qualifiers, and whether one of these is `const`.
    fn stripped(&self, mut ty: TypeRef) -> Option<(&Type, bool)> {
        let mut is_constant = false;
        for _ in 0..super::types::DEEPEST {
            let described = self.types.get(&ty)?;
            is_constant |= described.holds == Holds::Constant;
            match described.shape {
                Shape::Alias(inner) => ty = inner?,
                _ => return Some((described, is_constant)),
            }
        }
        None
    }

    fn pointer(&self, described: &Type, to: Option<TypeRef>) -> Given {
        let is_rust_reference = described.name.starts_with('&');
        let is_reference = is_rust_reference || matches!(described.holds, Holds::Reference | Holds::RvalueReference);
        let plain = if is_reference { Given::Object } else { Given::Scalar(Scalar::Pointer) };
        let Some((pointee, is_constant)) = to.and_then(|to| self.stripped(to)) else { return plain };
        let Some(scalar) = scalar(pointee) else { return plain };
        match described.holds {
            Holds::RvalueReference => Given::Reference(scalar),
            Holds::Reference if is_constant => Given::Reference(scalar),
            _ if is_rust_reference && !described.name.starts_with("&mut") => Given::Reference(scalar),
            Holds::Reference => Given::Target(scalar),
            _ if is_rust_reference => Given::Target(scalar),
            _ => Given::Place(scalar),
        }
    }
}

fn scalar(described: &Type) -> Option<Scalar> {
    let bytes = described.size.filter(|size| matches!(size, 1 | 2 | 4 | 8))? as u32;
    match (&described.shape, described.holds) {
        (Shape::Pointer(_), _) if bytes == 8 => Some(Scalar::Pointer),
        (Shape::Scalar, Holds::Truth) if bytes == 1 => Some(Scalar::Truth),
        (Shape::Scalar, Holds::Signed) => Some(Scalar::Integer { signed: true, bytes }),
        (Shape::Scalar, Holds::Unsigned) => Some(Scalar::Integer { signed: false, bytes }),
        _ => None,
    }
}

/// `Option<u32>` and `optional<int>`; those of what has a value that stands for none are pointers to the compiler.
fn optional(name: &str) -> Given {
    let inner = |prefix: &str| name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
    let integer = |signed, bytes| Some(Scalar::Integer { signed, bytes });
    if let Some(inner) = inner("Option<") {
        let scalar = match inner {
            "i8" => integer(true, 1),
            "i16" => integer(true, 2),
            "i32" => integer(true, 4),
            "i64" | "isize" => integer(true, 8),
            "u8" => integer(false, 1),
            "u16" => integer(false, 2),
            "u32" => integer(false, 4),
            "u64" | "usize" => integer(false, 8),
            _ => None,
        };
        let is_pointer = ["alloc::boxed::Box<", "alloc::sync::Arc<"].iter().any(|start| inner.starts_with(start));
        return match scalar {
            Some(scalar) => Given::RustOption(scalar),
            None if is_pointer => Given::Scalar(Scalar::Pointer),
            None => Given::Unknown,
        };
    }
    let scalar = inner("optional<").and_then(|inner| match inner {
        "int" => integer(true, 4),
        "unsigned int" => integer(false, 4),
        "long" | "long long" => integer(true, 8),
        "unsigned long" | "unsigned long long" => integer(false, 8),
        _ => None,
    });
    scalar.map_or(Given::Unknown, Given::CppOptional)
}
