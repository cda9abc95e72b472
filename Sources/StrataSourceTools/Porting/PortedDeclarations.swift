/// What the files to be ported declare, as far as rewriting needs to know.
struct PortedDeclarations {
    struct Class {
        var name: String
        /// The file's index.
        var file: Int
        var node: SyntaxNode
        /// The mangled name of the superclass.
        var superclass: String
    }

    /// By mangled name.
    private(set) var classes: [String: Class] = [:]
    /// Classes' mangled names by their own names.
    private(set) var named: [String: String] = [:]
    /// The types of the properties of each class, mangled, by class and name.
    private(set) var properties: [String: [String: String]] = [:]
    /// The members that declarations override, by the class of the override.
    private var overriding: [String: Set<String>] = [:]

    init(_ files: [(SourceText, SyntaxNode)]) {
        for (index, (_, tree)) in files.enumerated() { collect(tree.list("items"), index, in: nil) }
    }

    private mutating func collect(_ nodes: [SyntaxNode], _ file: Int, in type: String?) {
        for node in nodes where !node.isImplicit {
            if let type, node.has("override_attr") { overriding[type, default: []].insert(Self.signature(node)) }
            switch node.kind {
            case "class_decl":
                let key = String(node.usr.dropFirst(2))
                let superclass = Self.core(node["inherits"]?.text("superclass_type") ?? "")
                classes[key] = Class(name: node.name, file: file, node: node, superclass: superclass)
                named[node.name] = key
                collect(node.list("members"), file, in: key)
            case "extension_decl":
                collect(node.list("members"), file, in: Self.core(node.text("extended_type") ?? ""))
            case "struct_decl", "enum_decl":
                collect(node.list("members"), file, in: String(node.usr.dropFirst(2)))
            case "var_decl":
                if let type { properties[type, default: [:]][node.name] = node.interfaceType }
            default: break
            }
        }
    }

    /// Whether a subclass of a class overrides a member of it.
    func isOverridden(_ member: SyntaxNode, of key: String) -> Bool {
        let signature = Self.signature(member)
        return overriding.contains { type, members in
            type != key && members.contains(signature) && inherits(type, from: key)
        }
    }

    private func inherits(_ key: String, from ancestor: String) -> Bool {
        var next = key
        for _ in 0..<100 {
            guard let type = classes[next] else { return false }
            if type.superclass == ancestor { return true }
            next = type.superclass
        }
        return false
    }

    private static func signature(_ node: SyntaxNode) -> String {
        "\(node.kind) \(node.name)(\(node.labels.joined(separator: ":")))"
    }

    /// Whether the class inherits NSManagedObject, as far as the files show.
    func isManaged(_ key: String) -> Bool {
        var next = key
        for _ in 0..<100 {
            if next == "6Strata15NSManagedObjectC" { return true }
            guard let type = classes[next] else { return false }
            next = type.superclass
        }
        return false
    }

    /// Whether a path of properties leads from a class to something, as far as the files show; nil if they do not show.
    func exists(_ path: ArraySlice<String>, from key: String) -> Bool? {
        guard let first = path.first else { return true }
        var next = key
        for _ in 0..<100 {
            guard let type = classes[next] else { return nil }
            if let found = properties[next]?[first] {
                guard let target = target(of: found) else { return path.count == 1 ? true : nil }
                return exists(path.dropFirst(), from: target)
            }
            next = type.superclass
            if next == "6Strata15NSManagedObjectC" { return false }
        }
        return nil
    }

    /// The class that a property's type is about: of itself, of an optional or of a set.
    private func target(of type: String) -> String? {
        let core = Self.core(type)
        return classes.keys.filter { core.contains($0) }.max { $0.utf8.count < $1.utf8.count }
    }

    /// `$s3Mod3FooCD` without what stands around the type.
    static func core(_ type: String) -> String {
        type.hasPrefix("$s") && type.hasSuffix("D") ? String(type.dropFirst(2).dropLast()) : ""
    }
}
