import Foundation

/// What a target's "StrataModel.json" may say about the code that is generated.
struct GeneratorOptions: Equatable {
    /// How visible generated classes and properties are.
    enum Access: String {
        case `public`, `package`, `internal`
    }

    /// Default: public, as Xcode does.
    var access = Access.public
    /// Whether attributes that are not optional, and to-many relationships, get types that are not optional. Default:
    /// false, as Xcode does.
    var nonOptionalProperties = false
    /// Whether to-many relationships are `Set<Book>`, ordered ones `[Book]`, instead of `NSSet` and `NSOrderedSet`.
    /// Default: false, as Xcode does.
    var typedCollections = false
    /// Modules that generated files import beside CoreData: those of custom classes.
    var imports: [String] = []

    init() {}

    /// - Throws: ``ToolError`` for anything that is not known, since a misspelt option would silently do nothing.
    init(contentsOf file: URL) throws {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw ToolError("\(file.path): error: \(error.localizedDescription)")
        }
        try self.init(json: data, file: file.path)
    }

    init(json: Data, file: String) throws {
        guard let object = try? JSONSerialization.jsonObject(with: json) as? [String: Any] else {
            throw ToolError("\(file): error: this is no JSON object")
        }
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            switch (key, value) {
            case ("access", let text as String):
                guard let access = Access(rawValue: text) else {
                    throw ToolError("\(file): error: access is \"\(text)\"; public, package and internal are possible")
                }
                self.access = access
            case ("nonOptionalProperties", let flag as Bool): nonOptionalProperties = flag
            case ("typedCollections", let flag as Bool): typedCollections = flag
            case ("imports", let names as [String]): imports = names
            case ("access", _), ("nonOptionalProperties", _), ("typedCollections", _), ("imports", _):
                throw ToolError("\(file): error: the value of \"\(key)\" has the wrong type")
            default: throw ToolError("\(file): error: there is no option \"\(key)\"")
            }
        }
    }

    /// The access as it stands before a declaration, with a space.
    var accessPrefix: String { access == .internal ? "" : access.rawValue + " " }
}

/// A failure, as it is printed.
struct ToolError: Error, Equatable {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
