#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ManagedObject`: `@Managed` for the properties of a class, and the names of their key paths.
struct ManagedObjectMacro {}

extension ManagedObjectMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard declaration.is(ClassDeclSyntax.self), ManagedProperty.isImplied(member) else { return [] }
        return ["@Managed"]
    }
}

extension ManagedObjectMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if let problem = ManagedProblem.of(declaration) {
            context.diagnose(Diagnostic(node: problem.node, message: problem))
            return []
        }
        guard let type = declaration.as(ClassDeclSyntax.self) else { return [] }
        return names(type).map { [$0] } ?? []
    }

    /// The names of the key paths that do not show theirs, unless the class tells them itself.
    private static func names(_ type: ClassDeclSyntax) -> DeclSyntax? {
        var names: [String] = []
        for member in type.memberBlock.members {
            guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
            let first = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
            if first == "propertyNames" { return nil }
            guard ManagedProperty.isImplied(variable) || ManagedProperty.isMarked(variable),
                let property = try? ManagedProperty.read(variable, in: [Syntax(type)]).get(), !property.showsItsName
            else { continue }
            names.append(property.name)
        }
        guard !names.isEmpty else { return nil }
        let isPublic = type.modifiers.contains { ["public", "open"].contains($0.name.text) }
        let isPackage = type.modifiers.contains { $0.name.text == "package" }
        let access = isPublic ? "public " : isPackage ? "package " : ""
        let lines = names.map { "    names[\\\(type.name.text).`\($0)`] = \"\($0)\"" }.joined(separator: "\n")
        return """
            \(raw: access)override class var propertyNames: [AnyKeyPath: String] {
                var names = super.propertyNames
            \(raw: lines)
                return names
            }
            """
    }
}
#endif
