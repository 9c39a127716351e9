//! Debug information: positions, names, scopes.
//!
//! LLVM-C has no functions for the names of variables and functions, but shows the operands of every node; which one
//! is which is laid down by the order in which LLVM itself keeps them.

use super::api::{Metadata, Value};
use super::{Context, api, text};

/// LLVM's numbers for nodes.
mod kind {
    pub const COMPOSITE_TYPE: u32 = 13;
    pub const SUBPROGRAM: u32 = 17;
    pub const NAMESPACE: u32 = 20;
}

/// Operands of nodes.
mod operand {
    pub const FILE: usize = 0;
    pub const SCOPE: usize = 1;
    pub const SCOPE_NAME: usize = 2;
    pub const LINKAGE_NAME: usize = 3;
    pub const FUNCTION_TYPE: usize = 4;
    pub const VARIABLE_NAME: usize = 1;
}

/// The function of a lambda's type, which has no name, and what stands for it.
const CALL_OPERATOR: &str = "operator()";
const LAMBDA: &str = "lambda";

/// Records for labels; the others are for variables.
const LABEL: u32 = 0;

impl Value {
    /// The source position of an instruction.
    pub fn position(self) -> Option<Metadata> {
        unsafe { (api().LLVMInstructionGetDebugLoc)(self) }
    }

    /// The node that describes a function.
    pub fn subprogram(self) -> Option<Metadata> {
        unsafe { (api().LLVMGetSubprogram)(self) }
    }

    /// The values that have names in the source from this instruction on, with the nodes of their variables.
    pub fn named_values(self) -> Vec<(Value, Metadata)> {
        let mut found = Vec::new();
        let mut next = unsafe { (api().LLVMGetFirstDbgRecord)(self) };
        while let Some(record) = next {
            if unsafe { (api().LLVMDbgRecordGetKind)(record) } != LABEL {
                let value = unsafe { (api().LLVMDbgVariableRecordGetValue)(record, 0) };
                let variable = unsafe { (api().LLVMDbgVariableRecordGetVariable)(record) };
                found.extend(value.map(|value| (value, variable)));
            }
            next = unsafe { (api().LLVMGetNextDbgRecord)(record) };
        }
        found
    }

    /// A node out of a list of metadata.
    pub fn as_metadata(self) -> Option<Metadata> {
        unsafe { (api().LLVMValueAsMetadata)(self) }
    }
}

/// Positions.
impl Metadata {
    /// The line of a position.
    pub fn line(self) -> u32 {
        unsafe { (api().LLVMDILocationGetLine)(self) }
    }

    /// The column of a position.
    pub fn column(self) -> u32 {
        unsafe { (api().LLVMDILocationGetColumn)(self) }
    }

    /// The block or function that a position lies in.
    pub fn scope_of_position(self) -> Metadata {
        unsafe { (api().LLVMDILocationGetScope)(self) }
    }

    /// Where a position was inlined.
    pub fn inlined_at(self) -> Option<Metadata> {
        unsafe { (api().LLVMDILocationGetInlinedAt)(self) }
    }

    /// Name and directory of the file of a scope.
    pub fn file_of_scope(self) -> Option<(String, String)> {
        let file = unsafe { (api().LLVMDIScopeGetFile)(self) }?;
        let (mut name_length, mut folder_length) = (0, 0);
        unsafe {
            let name = (api().LLVMDIFileGetFilename)(file, &raw mut name_length);
            let folder = (api().LLVMDIFileGetDirectory)(file, &raw mut folder_length);
            Some((text(name, name_length as usize), text(folder, folder_length as usize)))
        }
    }

    /// The line on which a function is declared.
    pub fn line_of_function(self) -> u32 {
        unsafe { (api().LLVMDISubprogramGetLine)(self) }
    }
}

impl Context {
    /// The name of a variable's node.
    pub fn variable_name(&self, variable: Metadata) -> String {
        self.string_operand(variable, operand::VARIABLE_NAME)
    }

    /// The function that a scope lies in, if any.
    pub fn function_of_scope(&self, scope: Metadata) -> Option<Metadata> {
        let outwards = std::iter::successors(Some(scope), |scope| self.node_operand(*scope, operand::SCOPE));
        outwards.take(256).find(|scope| node_kind(*scope) == kind::SUBPROGRAM)
    }

    /// The symbol of a function's node, empty where it is not told.
    pub fn symbol_of_function(&self, function: Metadata) -> String {
        self.string_operand(function, operand::LINKAGE_NAME)
    }

    /// The name of a function's node with the types and namespaces that it lies in. The code of a lambda of C++ is `lambda` of the function
    /// that it stands in: `main::lambda`.
    pub fn qualified_name(&self, function: Metadata) -> String {
        let mut name = self.string_operand(function, operand::SCOPE_NAME);
        let mut outer = self.node_operand(function, operand::SCOPE);
        for _ in 0..64 {
            let Some(scope) = outer else { break };
            if !matches!(node_kind(scope), kind::COMPOSITE_TYPE | kind::NAMESPACE) {
                break;
            }
            let qualifier = self.string_operand(scope, operand::SCOPE_NAME);
            outer = self.node_operand(scope, operand::SCOPE);
            if qualifier.is_empty() && name.starts_with(CALL_OPERATOR) {
                name = LAMBDA.to_string();
                if let Some(function) = outer.and_then(|scope| self.function_of_scope(scope)) {
                    name = format!("{}::{name}", self.string_operand(function, operand::SCOPE_NAME));
                    outer = self.node_operand(function, operand::SCOPE);
                }
                continue;
            }
            let qualifier = if qualifier.is_empty() { "(anonymous)" } else { &qualifier };
            name = format!("{qualifier}::{name}");
        }
        name
    }

    /// The name of the type that a function returns, without its scope. None if that is nothing, or the type has no name.
    pub fn name_of_returned(&self, function: Value) -> Option<String> {
        let ty = self.node_operand(function.subprogram()?, operand::FUNCTION_TYPE)?;
        // The types of result and parameters are the last list among the operands, whose number changes with LLVM's version.
        let types = self.operands(ty).into_iter().rev().flatten().find_map(Value::as_metadata)?;
        let name = self.string_operand(self.node_operand(types, 0)?, operand::SCOPE_NAME);
        (!name.is_empty()).then_some(name)
    }

    /// The directory of a compilation unit's node.
    pub fn directory_of_unit(&self, unit: Metadata) -> Option<String> {
        let file = self.node_operand(unit, operand::FILE)?;
        let mut length = 0;
        unsafe {
            let start = (api().LLVMDIFileGetDirectory)(file, &raw mut length);
            Some(text(start, length as usize))
        }
    }

    /// The operands of a node.
    fn operands(&self, node: Metadata) -> Vec<Option<Value>> {
        let node = unsafe { (api().LLVMMetadataAsValue)(self.handle(), node) };
        let count = unsafe { (api().LLVMGetMDNodeNumOperands)(node) } as usize;
        let mut operands = vec![None; count];
        unsafe { (api().LLVMGetMDNodeOperands)(node, operands.as_mut_ptr()) };
        operands
    }

    fn node_operand(&self, node: Metadata, index: usize) -> Option<Metadata> {
        (*self.operands(node).get(index)?)?.as_metadata()
    }

    fn string_operand(&self, node: Metadata, index: usize) -> String {
        let Some(Some(value)) = self.operands(node).get(index).copied() else { return String::new() };
        let mut length = 0;
        unsafe {
            let start = (api().LLVMGetMDString)(value, &raw mut length);
            text(start, length as usize)
        }
    }
}

fn node_kind(node: Metadata) -> u32 {
    unsafe { (api().LLVMGetMetadataKind)(node) }
}
