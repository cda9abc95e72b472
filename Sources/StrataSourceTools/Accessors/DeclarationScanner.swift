/// Reads the declarations of managed objects out of a file's tree.
struct DeclarationScanner {
    /// Where a declaration stands.
    private struct Context {
        /// The types around it, outermost first.
        var path: [String]
        /// The mangled name of the innermost.
        var key: String
        var access: ManagedDeclarations.Access
        var isIsolated = false
    }

    private static let managedObject = "6Strata15NSManagedObjectC"
    private static let typeKinds: Set<String> = ["class_decl", "struct_decl", "enum_decl", "actor_decl"]
    private static let mainActor = "$sScMD"
    /// `UnsafeMutablePointer<AnyObject?>`.
    /// What the methods are called that name the key paths on which a property depends.
    static let dependencies = "keyPathsForValuesAffecting"
    private static let validatedValue = "$sSpyyXlSgGD"

    private let file: SourceText
    /// The paths of the types that the files declare, for names that the generated file must qualify.
    private let types: Set<String>
    private var result: ManagedDeclarations

    /// Adds a file's declarations to those that are there. Extensions are for a second round, when all classes are
    /// known.
    static func scan(
        _ tree: SyntaxNode, of file: SourceText, extensions: Bool, types: Set<String>,
        into result: inout ManagedDeclarations
    ) {
        var scanner = DeclarationScanner(file: file, types: types, result: result)
        scanner.scan(tree.list("items").filter { ($0.kind == "extension_decl") == extensions }, in: nil)
        result = scanner.result
    }

    /// The paths of the types in a file.
    static func typePaths(_ nodes: [SyntaxNode], in path: String, of file: SourceText) -> Set<String> {
        var paths: Set<String> = []
        for node in nodes {
            let isExtension = node.kind == "extension_decl"
            let isAlias = node.kind == "typealias"
            guard isExtension || isAlias || typeKinds.contains(node.kind) else { continue }
            let name = isExtension ? extendedPath(node, file) : (path.isEmpty ? "" : path + ".") + node.name
            if !isExtension { paths.insert(name) }
            paths.formUnion(typePaths(node.list("members"), in: name, of: file))
        }
        return paths
    }

    /// What follows the word `extension`.
    private static func extendedPath(_ node: SyntaxNode, _ file: SourceText) -> String {
        guard let start = node.range?.start else { return "" }
        let text = file.type(at: file.endOfToken(start)).text
        return String(text.prefix { $0 != ":" })
    }

    private mutating func scan(_ nodes: [SyntaxNode], in context: Context?) {
        for node in nodes where !node.isImplicit {
            switch node.kind {
            case "import_decl": addImport(node)
            case "extension_decl": scanExtension(node)
            case let kind where Self.typeKinds.contains(kind): scanType(node, in: context)
            case "var_decl": if let context { scanProperty(node, in: context) }
            case "func_decl": if let context { scanMethod(node, in: context) }
            default: break
            }
        }
    }

    private mutating func addImport(_ node: SyntaxNode) {
        guard let range = node.range, let module = node.fields["module_path"] as? [String] else { return }
        // The tree does not tell what stands before the word.
        let line = file.bytes[..<range.start].lastIndex(of: SourceText.newline).map { $0 + 1 } ?? 0
        let before = file.text(line..<range.start).split(whereSeparator: \.isWhitespace).map(String.init)
        let isModifier = before.allSatisfy { $0.hasPrefix("@") || Self.importAccess.contains($0) }
        let words = file.text(range.start..<file.endOfToken(range.end)).split(whereSeparator: \.isWhitespace)
        let text = ((isModifier ? before : []) + words.map(String.init)).joined(separator: " ")
        result.imports.append(ImportLine(module: module.joined(separator: "."), text: text))
    }

    private static let importAccess: Set<String> = [
        "public", "package", "internal", "fileprivate", "private",
    ]

    private mutating func scanExtension(_ node: SyntaxNode) {
        let key = Self.core(node.text("extended_type") ?? "")
        let path = Self.extendedPath(node, file).split(separator: ".").map(String.init)
        let known = result[key]
        let context = Context(
            path: path, key: key, access: known?.access ?? .public, isIsolated: known?.isIsolated ?? false)
        scan(node.list("members"), in: context)
    }

    private mutating func scanType(_ node: SyntaxNode, in outer: Context?) {
        let key = String(node.usr.dropFirst(2))
        let own = ManagedDeclarations.Access(node.access)
        let isIsolated = node.attributes.contains { $0.kind == "custom_attr" && $0.text("type") == Self.mainActor }
        let context = Context(
            path: (outer?.path ?? []) + [node.name], key: key, access: min(own, outer?.access ?? .public),
            isIsolated: isIsolated)
        if node.kind == "class_decl" {
            var type = result[key] ?? ManagedDeclarations.Class(path: "", access: context.access)
            type.path = context.path.joined(separator: ".")
            type.access = context.access
            type.isDeclared = true
            type.isIsolated = isIsolated
            type.isGeneric = node["generic_signature"] != nil
            type.superclass = Self.core(node["inherits"]?.text("superclass_type") ?? "")
            if type.superclass.isEmpty || MangledName.hasUnresolvedType(type.superclass) {
                reportMissingSuperclass(node)
            }
            result[key] = type
        }
        scan(node.list("members"), in: context)
    }

    /// A class with managed properties inherits something that is not known.
    private mutating func reportMissingSuperclass(_ node: SyntaxNode) {
        if node.list("members").contains(where: { $0.has("ns_managed_attr") }) { result.lacksTypes = true }
    }

    // MARK: Properties

    private mutating func scanProperty(_ node: SyntaxNode, in context: Context) {
        if node.usr.hasSuffix("vpZ") { return scanDependencies(node, Self.plain(node.name), in: context) }
        guard let offset = node.range?.start, node.usr.hasSuffix("vp") else { return }
        let name = Self.plain(node.name)
        guard node.has("ns_managed_attr") else { return scanOwnProperty(node, name, in: context) }
        guard check(node, "property", offset, in: context) else { return }
        var type = qualified(declaredType(node.name, at: offset), context.path)
        // A result may be of type T!, but nothing else that is generated may.
        if type.hasSuffix("!") { type = type.dropLast() + "?" }
        let own = ManagedDeclarations.Access(node.access)
        let form = ManagedDeclarations.Form(node.interfaceType)
        // A number of type Double may be a date's.
        let showsItsName = (form == .attribute || form == .optional) && !node.interfaceType.hasPrefix("$sSd")
        let isUnavailable = node.attributes.contains { $0.fields["unavailable"] as? Bool == true }
        var entry = result[context.key] ?? outsider(context)
        entry.properties.append(
            ManagedDeclarations.Property(
                name: name, type: type, symbol: "$s" + node.usr.dropFirst(2).dropLast(2),
                access: min(own, context.access), form: form, showsItsName: showsItsName, isUnavailable: isUnavailable,
                isVisible: own != .hidden))
        result[context.key] = entry
    }

    /// A property that is not managed, for key-value coding.
    private mutating func scanOwnProperty(_ node: SyntaxNode, _ name: String, in context: Context) {
        let isUsable =
            ManagedDeclarations.Access(node.access) != .hidden && !node.has("override_attr")
            && !node.attributes.contains { $0.kind == "custom_attr" || $0.fields["unavailable"] as? Bool == true }
            && !MangledName.hasUnresolvedType(node.interfaceType) && !MangledName.hasPrivateName(node.interfaceType)
        guard isUsable, !hasEffects(node) else { return }
        result[context.key]?.accessors.append(name)
    }

    /// Whether the getter is asynchronous or throws: no key path leads to it.
    private func hasEffects(_ node: SyntaxNode) -> Bool {
        node.list("accessors").contains { accessor in
            guard let start = accessor.range?.start, start < file.bytes.count else { return false }
            let end = file.bytes[start...].firstIndex(of: UInt8(ascii: "{")) ?? start
            let words = file.text(start..<end).split { !$0.isLetter }
            return words.contains("async") || words.contains("throws")
        }
    }

    /// The type that stands behind a property's name, or behind a later one of the same declaration.
    private func declaredType(_ name: String, at offset: Int) -> String {
        var offset = file.nextToken(file.endOfToken(offset))
        while offset < file.bytes.count, file.bytes[offset] == UInt8(ascii: ",") {
            offset = file.nextToken(file.endOfToken(file.nextToken(offset + 1)))
        }
        return file.type(at: offset + 1).text
    }

    // MARK: Methods

    private mutating func scanMethod(_ node: SyntaxNode, in context: Context) {
        guard let offset = node.range?.start else { return }
        if node.usr.hasSuffix("FZ"), node.labels.isEmpty {
            return scanDependencies(node, Self.plain(node.name) + "()", in: context)
        }
        guard node.has("ns_managed_attr") else { return scanValidator(node, offset, in: context) }
        guard check(node, "method", offset, in: context) else { return }
        let properties = Set((result[context.key]?.properties ?? []).map(\.name))
        let member = MemberMethod(name: Self.plain(node.name), labels: node.labels) { properties.contains($0) }
        guard let member, node.text("result") == "$sytD" else {
            let message =
                "Core Data has no method like '\(node.name)': a managed method adds, inserts, removes or replaces the"
                + " members of a to-many relationship; write it without @NSManaged"
            result.problems.append(SourceDiagnostic(file, offset, message))
            return
        }
        var parameters: [ManagedDeclarations.Method.Parameter] = []
        for (label, parameter) in zip(node.labels, node["params"]?.list("params") ?? []) {
            guard let offset = typeOffset(parameter, after: offset, count: parameters.count) else { return }
            parameters.append(
                .init(
                    label: label, name: Self.plain(parameter.name),
                    type: qualified(file.type(at: offset).text, context.path)))
        }
        var entry = result[context.key] ?? outsider(context)
        entry.methods.append(
            ManagedDeclarations.Method(
                name: Self.plain(node.name), parameters: parameters, symbol: "$s" + node.usr.dropFirst(2),
                access: min(ManagedDeclarations.Access(node.access), context.access), member: member))
        result[context.key] = entry
    }

    /// Where the type of a method's parameter stands: behind the colon after its names.
    private func typeOffset(_ parameter: SyntaxNode, after offset: Int, count: Int) -> Int? {
        var offset = offset
        while offset < file.bytes.count, file.bytes[offset] != UInt8(ascii: "(") {
            offset = file.nextToken(file.endOfToken(offset))
        }
        offset = file.nextToken(offset + 1)
        for index in 0...count {
            while offset < file.bytes.count, file.bytes[offset] != UInt8(ascii: ":") {
                offset = file.nextToken(file.endOfToken(offset))
            }
            guard offset < file.bytes.count else { return nil }
            if index == count { return offset + 1 }
            offset = file.nextToken(file.type(at: offset + 1).end)
            offset = file.nextToken(offset + 1)
        }
        return nil
    }

    private mutating func scanValidator(_ node: SyntaxNode, _ offset: Int, in context: Context) {
        let prefix = "validate"
        let name = Self.plain(node.name)
        let key = name.dropFirst(prefix.count)
        guard name.hasPrefix(prefix), key.first?.isUppercase == true, node.labels == [""],
            node["params"]?.list("params").first?.interfaceType == Self.validatedValue, node.usr.hasSuffix("KF"),
            result[context.key] != nil
        else { return }
        guard ManagedDeclarations.Access(node.access) != .hidden, context.access != .hidden else {
            let message =
                "nothing calls '\(name)' here: a method that validates a property must not be private, as the file that"
                + " lists it is another one"
            result.problems.append(SourceDiagnostic(file, offset, message))
            return
        }
        result[context.key]?.validators.append(name)
    }

    /// Takes a method or property of the class that says on what others a property depends.
    private mutating func scanDependencies(_ node: SyntaxNode, _ use: String, in context: Context) {
        let type = node.kind == "func_decl" ? node.text("result") : node.interfaceType
        guard use.hasPrefix(Self.dependencies), use.dropFirst(Self.dependencies.count).first?.isUppercase == true,
            type == "$sShySSGD", !hasEffects(node), node.usr.hasSuffix("ShySSGyFZ") || node.usr.hasSuffix("vpZ"),
            ManagedDeclarations.Access(node.access) != .hidden, context.access != .hidden
        else { return }
        result[context.key]?.dependencies.append(use)
    }

    // MARK: Help

    /// Whether accessors can be generated; says so if not.
    private mutating func check(_ node: SyntaxNode, _ what: String, _ offset: Int, in context: Context) -> Bool {
        var problem: String?
        if MangledName.hasUnresolvedType(node.usr) {
            result.lacksTypes = true
            problem = "the compiler does not find a type of the \(what)"
        } else if context.access == .hidden {
            problem = "its class or a type around it is private, and the generated file is another one"
        } else if MangledName.hasPrivateName(node.interfaceType) {
            problem = "its type is private, and the generated file is another one"
        } else if let type = result[context.key], type.isDeclared, !inheritsManagedObject(type) {
            problem = "the class does not inherit NSManagedObject"
        }
        guard let problem else { return true }
        let message = "no accessor can be generated for the @NSManaged \(what) '\(node.name)': \(problem)"
        result.problems.append(SourceDiagnostic(file, offset, message))
        return false
    }

    /// Whether the class does, as far as the target shows.
    private func inheritsManagedObject(_ type: ManagedDeclarations.Class) -> Bool {
        let top = result.superclasses(of: type).last ?? type
        // A superclass of another module may inherit it.
        return !top.superclass.isEmpty && !top.superclass.hasPrefix("10Foundation")
    }

    private func outsider(_ context: Context) -> ManagedDeclarations.Class {
        ManagedDeclarations.Class(path: context.path.joined(separator: "."), access: context.access)
    }

    /// Names of types that only the types around the class see, made visible from outside.
    private func qualified(_ type: String, _ path: [String]) -> String {
        let text = SourceText(path: "", bytes: Array(type.utf8))
        var result = ""
        var offset = 0
        while offset < text.bytes.count {
            let end = text.endOfToken(offset)
            let word = text.text(offset..<end)
            let isHead = SourceText.isIdentifier(text.bytes[offset]) && !result.hasSuffix(".")
            result += (isHead ? prefix(of: word, path) : "") + word
            offset = end
        }
        return result
    }

    private func prefix(of name: String, _ path: [String]) -> String {
        guard path.count > 1, !types.contains((path + [name]).joined(separator: ".")) else { return "" }
        for depth in stride(from: path.count - 1, to: 0, by: -1) {
            let outer = path[..<depth].joined(separator: ".")
            if types.contains("\(outer).\(name)") { return outer + "." }
        }
        return ""
    }

    /// `$s3Mod3FooCD` without what stands around the type.
    private static func core(_ type: String) -> String {
        type.hasPrefix("$s") && type.hasSuffix("D") ? String(type.dropFirst(2).dropLast()) : ""
    }

    private static func plain(_ name: String) -> String { name.filter { $0 != "`" } }
}
