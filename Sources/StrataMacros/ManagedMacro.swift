#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Managed`: at a property the accessors, at a class the attribute for each of its properties.
struct ManagedMacro {
    /// What stands in the way, said at the declaration.
    private static func report(_ problem: ManagedProblem?, in context: some MacroExpansionContext) -> Bool {
        guard let problem else { return false }
        context.diagnose(Diagnostic(node: problem.node, message: problem))
        return true
    }
}

extension ManagedMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        // The peer says what is wrong.
        guard let property = try? ManagedProperty.read(declaration, in: context.lexicalContext).get() else { return [] }
        return [
            "get { \(raw: property.form.getter)(Self.\(raw: property.slots), 0) }",
            "set { \(raw: property.form.setter)(newValue, Self.\(raw: property.slots), 0) }",
        ]
    }
}

extension ManagedMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard !declaration.is(ClassDeclSyntax.self) else { return [] }
        switch ManagedProperty.read(declaration, in: context.lexicalContext) {
        case .failure(let problem):
            _ = report(problem, in: context)
            return []
        case .success(let property):
            return [
                """
                nonisolated private static let \(raw: property.slots) = ManagedSlots("\(raw: property.name)")
                """
            ]
        }
    }
}

extension ManagedMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard declaration.is(ClassDeclSyntax.self), ManagedProperty.isImplied(member) else { return [] }
        return ["@Managed"]
    }
}

extension ManagedMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let problem = ManagedProblem.of(declaration)
        guard !report(problem, in: context), let type = declaration.as(ClassDeclSyntax.self) else { return [] }
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
