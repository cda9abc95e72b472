#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Managed`: the accessors of a property, and the place that they go by.
struct ManagedMacro {}

extension ManagedMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        // The peer says what is wrong.
        guard let property = try? ManagedProperty.read(declaration, in: context.lexicalContext).get() else { return [] }
        return [
            "get { \(raw: property.form.getter)(Self.\(raw: property.slots), 0\(raw: property.typeArgument)) }",
            "set { \(raw: property.form.setter)(newValue, Self.\(raw: property.slots), 0) }",
        ]
    }
}

extension ManagedMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        switch ManagedProperty.read(declaration, in: context.lexicalContext) {
        case .failure(let problem):
            context.diagnose(Diagnostic(node: problem.node, message: problem))
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
#endif
