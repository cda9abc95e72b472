/// What a target declares of managed objects.
struct ManagedDeclarations {
    /// Which of the runtime's functions are for a type. Leaving the choice among all to the compiler would take long.
    enum Form {
        /// A type that some attributes have as it is, and its optional.
        case attribute, optional
        case other, otherOptional

        /// - Parameter type: the mangled type, `$s...D`.
        init(_ type: String) {
            if Self.attributes.contains(type) {
                self = .attribute
            } else if type.hasSuffix("SgD"), Self.attributes.contains(type.dropLast(3) + "D") {
                self = .optional
            } else {
                self = type.hasSuffix("SgD") ? .otherOptional : .other
            }
        }

        private static let attributes: Set<String> = [
            "$sSSD", "$sSbD", "$sSiD", "$sSfD", "$sSdD", "$ss5Int16VD", "$ss5Int32VD", "$ss5Int64VD",
            "$s20FoundationEssentials4DateVD", "$s20FoundationEssentials4DataVD", "$s20FoundationEssentials4UUIDVD",
            "$s20FoundationEssentials3URLVD", "$s20FoundationEssentials7DecimalVD",
        ]

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

    /// A property declared `@NSManaged`.
    struct Property: Equatable {
        var name: String
        /// As the source has it, qualified where the generated file needs it.
        var type: String
        /// What its symbols begin with: `$s` and so on up to the letters of the accessor.
        var symbol: String
        var access: Access
        /// What the runtime has for the type.
        var form = Form.other
        /// Whether the accessor hands out the value as it is stored, so that one can see which it is.
        var showsItsName = false
        /// Whether the compiler would complain about the property's use.
        var isUnavailable = false
        /// Whether the property could be named outside of its file.
        var isVisible = true
    }

    /// A method declared `@NSManaged`.
    struct Method: Equatable {
        struct Parameter: Equatable {
            /// "" for none.
            var label: String
            var name: String
            var type: String
        }

        var name: String
        var parameters: [Parameter]
        var symbol: String
        var access: Access
        var member: MemberMethod
    }

    /// A class of managed objects, with what its extensions in the target add.
    struct Class {
        /// As it is written from outside: `Shop.Order`.
        var path: String
        var access: Access
        var isGeneric = false
        /// Without superclass in the target: "".
        var superclass = ""
        var properties: [Property] = []
        var methods: [Method] = []
        /// Names of methods `validate<Key>`.
        var validators: [String] = []
        /// What asks for the dependencies of a property: `keyPathsForValuesAffecting<Key>`, with `()` if it is a
        /// method.
        var dependencies: [String] = []
        /// Properties that the class declares itself, for key-value coding.
        var accessors: [String] = []
        /// Whether its key paths can be used from anywhere.
        var isIsolated = false
        /// Whether it is declared in the target, not only extended.
        var isDeclared = false
    }

    /// Who can see a declaration.
    enum Access: Int, Comparable {
        case hidden, `internal`, package, `public`

        init(_ level: String) {
            switch level {
            case "open", "public": self = .public
            case "package": self = .package
            case "private", "fileprivate": self = .hidden
            default: self = .internal
            }
        }

        /// What stands before a declaration, with a space.
        var modifier: String {
            switch self {
            case .public: "public "
            case .package: "package "
            case .internal, .hidden: ""
            }
        }

        static func < (left: Access, right: Access) -> Bool { left.rawValue < right.rawValue }
    }

    /// By the mangled name, in the order in which they were found.
    private(set) var keys: [String] = []
    private var byKey: [String: Class] = [:]
    /// The import declarations of the files, each once.
    var imports: [ImportLine] = []
    var problems: [SourceDiagnostic] = []
    /// Whether a declaration has a type that was not found.
    var lacksTypes = false

    var classes: [Class] { keys.compactMap { byKey[$0] } }

    subscript(_ key: String) -> Class? {
        get { byKey[key] }
        set {
            if byKey[key] == nil, newValue != nil { keys.append(key) }
            byKey[key] = newValue
        }
    }

    /// A class's superclasses that the target declares, nearest first.
    func superclasses(of type: Class) -> [Class] {
        var result: [Class] = []
        var next = byKey[type.superclass]
        while let type = next, result.count < 100 {
            result.append(type)
            next = byKey[type.superclass]
        }
        return result
    }
}

/// An import declaration with its attributes.
struct ImportLine: Equatable {
    var module: String
    var text: String

    /// The line that shows at least as much: a declaration in the generated file may be as public as any.
    static func merged(_ lines: [ImportLine]) -> [String] {
        var best: [String: String] = [:]
        for line in lines where best[line.module].map({ rank(line.text) > rank($0) }) ?? true {
            best[line.module] = line.text
        }
        return best.values.sorted { $0.split(separator: " ").last ?? "" < $1.split(separator: " ").last ?? "" }
    }

    private static func rank(_ text: String) -> Int {
        let words = text.split(separator: " ")
        if words.contains("public") || words.contains("@_exported") { return 3 }
        if words.contains("package") { return 2 }
        return words.contains("internal") || words.contains("fileprivate") || words.contains("private") ? 0 : 1
    }
}
