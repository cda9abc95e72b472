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
    /// The words behind the names of types, in their declarations and extensions: what they inherit and conform to.
    private var inherited: [String: Set<String>] = [:]
    /// The names of the methods of each class that a notification could be handed to, with their labels.
    private var handlers: [String: [String: [Handler]]] = [:]
    /// The names of superclasses, by those of the classes, as the sources have them.
    private var superclasses: [String: String] = [:]
    /// The members that declarations override, by the class of the override.
    private var overriding: [String: Set<String>] = [:]

    init(_ files: [(SourceText, SyntaxNode)]) {
        for (index, (source, tree)) in files.enumerated() {
            collect(tree.list("items"), index, in: nil)
            collectInheritance(tree.list("items"), source)
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
                guard let type, let range = node.range else { break }
                methods[type, default: [:]][Self.signature(node)] = (file, range.start)
                if let handler = Handler(node) { handlers[type, default: [:]][node.name, default: []].append(handler) }
            default: break
            }
        }
    }

    /// What the compiler does not print of types that it does not know.
    private mutating func collectInheritance(_ nodes: [SyntaxNode], _ source: SourceText) {
        for node in nodes where Self.typeKinds.contains(node.kind) || node.kind == "extension_decl" {
            collectInheritance(node.list("members"), source)
            guard let start = node.range?.start, let brace = source.bytes[start...].firstIndex(of: UInt8(ascii: "{"))
            else { continue }
            let words = source.text(start..<brace).split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }
            guard words.count > 1 else { continue }
            inherited[String(words[1]), default: []].formUnion(words.dropFirst(2).map(String.init))
            superclasses[node.name] = PortedFile.superclass(of: node, in: source)?.name
        }
    }

    /// Whether a type is said to be Sendable.
    func statesSendable(_ name: String) -> Bool { inherited[name]?.contains("Sendable") == true }

    /// Whether objects of a class can be in an archive, as far as the sources show: those of Foundation's and Strata's
    /// that a model layer inherits from cannot.
    func mayBeArchived(_ name: String) -> Bool {
        var next = name
        for _ in 0..<100 {
            if inherited[next]?.isDisjoint(with: ["NSCoding", "NSSecureCoding"]) == false { return true }
            guard let superclass = superclasses[next] else { return false }
            if superclasses[superclass] == nil, inherited[superclass] == nil {
                return !Self.neverArchived.contains(superclass) && !PortedFile.sharedClasses.contains(superclass)
            }
            next = superclass
        }
        return false
    }

    private static let neverArchived: Set<String> = ["NSObject", Self.policy]
    private static let policy = "NSEntityMigrationPolicy"

    /// Whether mapping models could name a class.
    func isPolicy(_ name: String) -> Bool {
        var next = name
        for _ in 0..<100 {
            guard let superclass = superclasses[next] else { return false }
            if superclass == Self.policy { return true }
            next = superclass
        }
        return false
    }

    /// Whether a class declares a property, or inherits one in these sources.
    func hasProperty(_ name: String, in key: String) -> Bool { lineage(key).contains { properties[$0]?[name] != nil } }

    /// Whether a class inherits from one of Strata's that threads share.
    func isShared(_ name: String) -> Bool {
        var next = name
        for _ in 0..<100 {
            guard let superclass = superclasses[next] else { return false }
            if PortedFile.sharedClasses.contains(superclass), superclasses[superclass] == nil { return true }
            next = superclass
        }
        return false
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

    /// A method that a notification could be handed to.
    struct Handler {
        /// None, or the one of the notification.
        var labels: [String]
        var isIsolated: Bool

        init?(_ node: SyntaxNode) {
            let parameters = node["params"]?.list("params") ?? []
            guard !node.usr.hasSuffix("FZ"), node.labels.count < 2, parameters.count == node.labels.count,
                node.text("result") == "$sytD",
                parameters.allSatisfy({ parameter in
                    let type = parameter.interfaceType
                    return Self.types.contains(type) || Self.names.contains { type.contains($0) }
                })
            else { return nil }
            labels = node.labels
            isIsolated = PortedDeclarations.isIsolated(node)
        }

        /// `Any` and `Any?`.
        private static let types: Set<String> = ["$sypD", "$sypSgD"]
        private static let names = ["12NotificationV", "14NSNotificationC"]
    }

    /// The one method that a name or a name with labels refers to, in a class or what it inherits in these sources.
    func handler(_ reference: String, in key: String) -> Handler? {
        let name = String(reference.prefix { $0 != "(" })
        let found = lineage(key).lazy.compactMap { handlers[$0]?[name] }.first ?? []
        if reference == name { return found.count == 1 ? found[0] : nil }
        return found.first { handler in
            "\(name)(\(handler.labels.map { ($0.isEmpty ? "_" : $0) + ":" }.joined()))" == reference
        }
    }

    /// Whether a declaration is of the main actor.
    static func isIsolated(_ node: SyntaxNode) -> Bool {
        node.attributes.contains { $0.kind == "custom_attr" && $0.text("type") == "$sScMD" }
    }

    /// Methods of subclasses that nobody calls by way of a protocol, since only their superclass conforms to it and
    /// does not have them: it has the default of an optional requirement then.
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
            guard next == "6Strata15NSManagedObjectC" else { continue }
            guard Self.ownProperties.contains(first) else { return false }
            return path.count == 1 ? true : nil
        }
        return nil
    }

    /// The properties of every managed object that key-value coding finds by the names that Swift has for them.
    private static let ownProperties: Set<String> = [
        "entity", "faultingState", "hasChanges", "hasPersistentChangedValues", "isDeleted", "isFault", "isInserted",
        "isUpdated", "managedObjectContext", "objectID",
    ]

    /// Whether every property of a name, in whatever type of these sources, is an `NSSet`.
    func isSet(_ name: String) -> Bool {
        let types = properties.values.compactMap { $0[name] }.map { Self.core($0) }
        return !types.isEmpty && types.allSatisfy { $0 == "10Foundation5NSSetC" || $0 == "10Foundation5NSSetCSg" }
    }

    /// Whether a class says what the functions are that a mapping model may call by name.
    func performsFunctions(_ key: String) -> Bool {
        lineage(key).contains { type in
            methods[type]?.keys.contains { $0.hasPrefix("func_decl performPredicateFunction(") } == true
        }
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
