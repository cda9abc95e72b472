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
    /// The methods that each class declares, by class and signature: file and offset.
    private(set) var methods: [String: [String: (file: Int, offset: Int)]] = [:]
    /// The protocols that each class conforms to without its superclass, mangled.
    private(set) var conformances: [String: Set<String>] = [:]
    /// The names of properties that may hold functions.
    private(set) var functions: Set<String> = []
    /// The names of the types that stand outside of others.
    private(set) var types: Set<String> = []
    /// The members that declarations override, by the class of the override.
    private var overriding: [String: Set<String>] = [:]

    init(_ files: [(SourceText, SyntaxNode)]) {
        for (index, (_, tree)) in files.enumerated() {
            collect(tree.list("items"), index, in: nil)
            types.formUnion(tree.list("items").filter { Self.typeKinds.contains($0.kind) }.map(\.name))
        }
    }

    private static let typeKinds: Set<String> = [
        "class_decl", "struct_decl", "enum_decl", "protocol", "typealias",
    ]

    private mutating func collect(_ nodes: [SyntaxNode], _ file: Int, in type: String?) {
        for node in nodes where !node.isImplicit {
            if let type, node.has("override_attr") { overriding[type, default: []].insert(Self.signature(node)) }
            switch node.kind {
            case "class_decl":
                let key = String(node.usr.dropFirst(2))
                let superclass = Self.core(node["inherits"]?.text("superclass_type") ?? "")
                classes[key] = Class(name: node.name, file: file, node: node, superclass: superclass)
                named[node.name] = key
                collectConformances(node, of: key)
                collect(node.list("members"), file, in: key)
            case "extension_decl":
                let key = Self.core(node.text("extended_type") ?? "")
                collectConformances(node, of: key)
                collect(node.list("members"), file, in: key)
            case "struct_decl", "enum_decl":
                collect(node.list("members"), file, in: String(node.usr.dropFirst(2)))
            case "var_decl":
                guard let type else { break }
                properties[type, default: [:]][node.name] = node.interfaceType
                let isStatic = node.fields["static"] as? Bool == true
                if !isStatic, Self.mayBeFunction(node.interfaceType) { functions.insert(node.name) }
            case "func_decl":
                if let type, let range = node.range {
                    methods[type, default: [:]][Self.signature(node)] = (file, range.start)
                }
            default: break
            }
        }
    }

    private mutating func collectConformances(_ node: SyntaxNode, of key: String) {
        for conformance in node["inherits"]?.list("conformances") ?? [] where conformance.kind == "normal_conformance" {
            conformances[key, default: []].insert(String((conformance.text("protocol") ?? "").dropFirst(2)))
        }
    }

    /// Whether a property may be called if it is there: a function, or what the compiler does not know.
    private static func mayBeFunction(_ type: String) -> Bool {
        type.isEmpty || type.contains("Xe") || ["cSgD", "aSgD", "xSgD"].contains { type.hasSuffix($0) }
    }

    /// The class and its superclasses, as far as the files show.
    private func lineage(_ key: String) -> [String] {
        var result = [key]
        while let type = classes[result[result.count - 1]], result.count < 100 { result.append(type.superclass) }
        return result
    }

    /// Methods of subclasses that nobody calls by way of a protocol, since only their superclass conforms to it and does
    /// not have them: it has the default of an optional requirement then.
    func unheard(_ requirement: OptionalRequirements.Requirement) -> [(file: Int, offset: Int, conforming: String)] {
        let conforming = conformances.filter { $0.value.contains(requirement.ownerKey) }.map(\.key)
        return methods.keys.sorted().compactMap { key in
            guard let method = methods[key]?[requirement.signature] else { return nil }
            let above = lineage(key).dropFirst()
            guard let ancestor = above.first(where: { conforming.contains($0) }),
                !lineage(ancestor).contains(where: { methods[$0]?[requirement.signature] != nil }),
                let name = classes[ancestor]?.name
            else { return nil }
            return (method.file, method.offset, name)
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

    static func signature(_ node: SyntaxNode) -> String {
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
