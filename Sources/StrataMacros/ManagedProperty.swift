#if Macros
import SwiftSyntax

/// A property that `@Managed` gives accessors to.
struct ManagedProperty {
    /// Which of the runtime's functions are for the declared type, as far as the text shows.
    enum Form {
        /// A type that some attributes have as it is, and its optional.
        case attribute, optional
        case other, otherOptional

        var getter: String {
            switch self {
            case .attribute: "_attribute"
            case .optional: "_optional"
            case .other: "_property"
            case .otherOptional: "_propertyOrNil"
            }
        }

        var setter: String {
            switch self {
            case .attribute: "_setAttribute"
            case .optional: "_setOptional"
            case .other: "_setProperty"
            case .otherOptional: "_setPropertyOrNil"
            }
        }
    }

    /// Without backticks.
    let name: String
    let form: Form
    /// What tells the getter the type, for other forms than attributes.
    let typeArgument: String
    /// Whether reading the property shows which one it is. A number of type Double may be a date's.
    let showsItsName: Bool
    /// What the place of the property is kept in.
    var slots: String { "_managed_\(name)" }

    private static let attributes: Set<String> = [
        "String", "Bool", "Int", "Int16", "Int32", "Int64", "Float", "Double", "Date", "Data", "UUID", "URL", "Decimal",
    ]

    private init(name: String, type: TypeSyntax) {
        self.name = name
        var core = type
        var isOptional = true
        if let optional = type.as(OptionalTypeSyntax.self) {
            core = optional.wrappedType
        } else if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            core = optional.wrappedType
        } else if let generic = type.as(IdentifierTypeSyntax.self), generic.name.text == "Optional",
            let argument = generic.genericArgumentClause?.arguments.first?.argument.as(TypeSyntax.self)
        {
            core = argument
        } else {
            isOptional = false
        }
        let text = core.trimmedDescription
        let module = ["Swift.", "Foundation."].first { text.hasPrefix($0) } ?? ""
        let isAttribute = Self.attributes.contains(String(text.dropFirst(module.count)))
        form = isAttribute ? (isOptional ? .optional : .attribute) : isOptional ? .otherOptional : .other
        typeArgument = isAttribute ? "" : ", as: ((\(text))\(isOptional ? "?" : "")).self"
        showsItsName = isAttribute && !text.hasSuffix("Double")
    }

    /// What a declaration says, or why it can have no accessors.
    static func read(_ declaration: some DeclSyntaxProtocol, in contexts: [Syntax]) -> Result<Self, ManagedProblem> {
        guard let variable = declaration.as(VariableDeclSyntax.self) else {
            return .failure(ManagedProblem(.noProperty, at: declaration))
        }
        let around = contexts.first
        guard around?.is(ClassDeclSyntax.self) == true || around?.is(ExtensionDeclSyntax.self) == true else {
            return .failure(ManagedProblem(.noClass, at: variable))
        }
        if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            return .failure(ManagedProblem(.constant, at: variable.bindingSpecifier))
        }
        let modifier = variable.modifiers.first { ["static", "class", "lazy", "weak"].contains($0.name.text) }
        if let modifier {
            return .failure(ManagedProblem(.modifier(modifier.name.text), at: modifier))
        }
        guard let binding = variable.bindings.first, variable.bindings.count == 1,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else { return .failure(ManagedProblem(.severalNames, at: variable.bindings)) }
        if let initializer = binding.initializer { return .failure(ManagedProblem(.value, at: initializer)) }
        if let accessors = binding.accessorBlock { return .failure(ManagedProblem(.accessors, at: accessors)) }
        guard let type = binding.typeAnnotation?.type else { return .failure(ManagedProblem(.noType, at: pattern)) }
        return .success(Self(name: pattern.identifier.text.filter { $0 != "`" }, type: type))
    }

    /// Whether a class that is a `@ManagedObject` gives the attribute to a member: a variable whose value nothing else
    /// gives.
    static func isImplied(_ member: some DeclSyntaxProtocol) -> Bool {
        guard let variable = member.as(VariableDeclSyntax.self), variable.bindingSpecifier.tokenKind == .keyword(.var),
            !variable.modifiers.contains(where: {
                ["static", "class", "lazy", "weak", "unowned", "override"].contains($0.name.text)
            }),
            // One with another attribute may be another macro's, a wrapper's, or the compiler's.
            !variable.attributes.contains(where: {
                guard let attribute = $0.as(AttributeSyntax.self) else { return true }
                return !["available", "nonobjc"].contains(attribute.attributeName.trimmedDescription)
            })
        else { return false }
        return variable.bindings.allSatisfy { $0.initializer == nil && $0.accessorBlock == nil }
    }

    /// Whether a member has the attribute itself.
    static func isMarked(_ variable: VariableDeclSyntax) -> Bool {
        variable.attributes.contains {
            $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == "Managed"
        }
    }
}
#endif
