#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// Why a declaration cannot be managed, and where the compiler says so.
struct ManagedProblem: DiagnosticMessage, Error {
    enum Reason {
        case noProperty, noClass, noObject, constant, modifier(String), severalNames, value, accessors, noType,
            noSuperclass
    }

    let reason: Reason
    let node: Syntax

    init(_ reason: Reason, at node: some SyntaxProtocol) {
        self.reason = reason
        self.node = Syntax(node)
    }

    /// What is wrong with a type that has the attribute; nil if nothing is.
    static func of(_ declaration: some DeclGroupSyntax) -> Self? {
        guard let type = declaration.as(ClassDeclSyntax.self) else {
            return Self(.noObject, at: declaration.introducer)
        }
        guard type.inheritanceClause == nil else { return nil }
        return Self(.noSuperclass, at: type.name)
    }

    var severity: DiagnosticSeverity { .error }
    var diagnosticID: MessageID { MessageID(domain: "Strata", id: "managed") }

    var message: String {
        switch reason {
        case .noProperty: "'@Managed' is for properties; '@ManagedObject' is for their class"
        case .noClass: "'@Managed' properties are those of a class that inherits NSManagedObject"
        case .noObject: "'@ManagedObject' is for a class that inherits NSManagedObject"
        case .constant: "a managed property is a 'var', since its object is read and refreshed"
        case .modifier(let word): "a managed property cannot be '\(word)'"
        case .severalNames: "give each managed property a declaration of its own"
        case .value: "a managed property has no initial value: give the attribute a default value in the model"
        case .accessors: "a managed property has no accessors of its own: '@Managed' makes them"
        case .noType: "a managed property needs a declared type"
        case .noSuperclass: "a managed class inherits NSManagedObject"
        }
    }
}
#endif
