//! What a function may return instead, by its type.

use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// Expressions for what a function returns, where its type says enough.
pub fn of_return(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec!["()".into()],
        ReturnType::Type(_, of) => of_type(of),
    }
}

fn of_type(of: &Type) -> Vec<String> {
    let path = match of {
        Type::Tuple(tuple) if tuple.elems.is_empty() => return vec!["()".into()],
        Type::Path(path) => &path.path,
        _ => return Vec::new(),
    };
    let Some(last) = path.segments.last() else { return Vec::new() };
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    match last.ident.to_string().as_str() {
        "bool" => texts(&["true", "false"]),
        "Option" => texts(&["None"]),
        "Vec" | "BTreeMap" | "BTreeSet" | "FxHashMap" | "FxHashSet" | "HashMap" | "HashSet" | "VecDeque"
        | "IndexMap" => texts(&["Default::default()"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i32" | "i64" | "isize" => texts(&["0", "1"]),
        "Result" => {
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Vec::new() };
            let Some(GenericArgument::Type(value)) = arguments.args.first() else { return Vec::new() };
            of_type(value).into_iter().map(|text| format!("Ok({text})")).collect()
        }
        _ => Vec::new(),
    }
}
