/// Writes the accessors of managed properties as Swift.
///
/// The compiler leaves the getter and the setter of an `@NSManaged` property undefined; what is emitted defines just
/// these symbols. A symbol that nobody asks for does no harm, and one that is missing fails when the program is linked.
struct AccessorEmitter {
    private let module: String
    private let declarations: ManagedDeclarations
    private var lines: [String] = []

    /// The accessors of a module's classes, and the table by which the runtime finds what it cannot find by name.
    static func text(_ declarations: ManagedDeclarations, module: String) -> String {
        var emitter = AccessorEmitter(module: module, declarations: declarations)
        for type in declarations.classes { emitter.emitAccessors(type) }
        emitter.emitTable()
        return emitter.lines.joined(separator: "\n") + "\n"
    }

    private init(module: String, declarations: ManagedDeclarations) {
        self.module = module
        self.declarations = declarations
    }

    // MARK: Accessors

    private mutating func emitAccessors(_ type: ManagedDeclarations.Class) {
        var names = type.properties.map(\.name)
        guard !names.isEmpty || !type.methods.isEmpty else { return }
        // A relationship's methods take objects of any class, its property those of one: each has a place of its own.
        let first = names.count
        for method in type.methods where !names[first...].contains(method.member.key) {
            names.append(method.member.key)
        }
        let slots = "_slots" + unique("", type)
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        lines += [
            "", "nonisolated private let \(slots) = ManagedSlots(\(list))", "", Self.quiet, "extension \(type.path) {",
        ]
        for (position, property) in type.properties.enumerated() {
            emit(property, "\(slots), \(position)", of: type)
        }
        for (index, method) in type.methods.enumerated() {
            let position = names[first...].firstIndex(of: method.member.key) ?? 0
            emit(method, index, "\(slots), \(position)", of: type)
        }
        lines.append("}")
    }

    private mutating func emit(
        _ property: ManagedDeclarations.Property, _ slot: String, of type: ManagedDeclarations.Class
    ) {
        let name = unique(property.name, type)
        let access = property.access.modifier
        let form = property.form
        let isAttribute = form == .attribute || form == .optional
        let declared = isAttribute ? "" : ", as: (\(property.type)).self"
        // Dynamic, as the compiler takes them to be: in release it stops in another module that uses them if they are
        // not.
        lines += [
            "    @_silgen_name(\"\(property.symbol)vg\")",
            "    \(access)final dynamic func _get\(name)() -> \(property.type) { \(form.getter)(\(slot)\(declared)) }",
            "    @_silgen_name(\"\(property.symbol)vs\")",
            "    \(access)final dynamic func _set\(name)(_ value: __owned \(property.type)) { \(form.setter)(value, \(slot)) }",
        ]
    }

    private mutating func emit(
        _ method: ManagedDeclarations.Method, _ index: Int, _ slot: String, of type: ManagedDeclarations.Class
    ) {
        let name = unique("\(method.name)\(index)", type)
        let parameters = method.parameters.map { parameter in
            let label =
                parameter.label == parameter.name ? "" : (parameter.label.isEmpty ? "_ " : parameter.label + " ")
            return "\(label)\(parameter.name): \(parameter.type)"
        }
        // Dynamic for the same reason.
        lines += [
            "    @_silgen_name(\"\(method.symbol)\")",
            "    \(method.access.modifier)final dynamic func _call\(name)(\(parameters.joined(separator: ", "))) {",
            "        \(call(method, slot))", "    }",
        ]
    }

    private func call(_ method: ManagedDeclarations.Method, _ slot: String) -> String {
        let names = method.parameters.map { "`\($0.name)`" }
        switch (method.member, names.count) {
        case (.add, 1): return "_add(\(names[0]), \(slot))"
        case (.remove, 1): return "_remove(\(names[0]), \(slot))"
        case (.removeAt, 1): return "_remove(at: \(names[0]), \(slot))"
        case (.insert, 2): return "_insert(\(names[0]), at: \(names[1]), \(slot))"
        case (.replace, 2): return "_replace(at: \(names[0]), with: \(names[1]), \(slot))"
        default: preconditionFailure("a form of \(method.name) has another number of parameters")
        }
    }

    /// A name that no subclass's accessor has, of whatever module.
    private func unique(_ name: String, _ type: ManagedDeclarations.Class) -> String {
        "_\(module)_\(type.path.replacing(".", with: "_"))_\(name)"
    }

    /// What a program calls deprecated, or the classes of its own, give no warnings in what is deprecated itself.
    private static let quiet = "@available(*, deprecated)"

    // MARK: The table

    private mutating func emitTable() {
        let types = declarations.classes.filter {
            $0.isDeclared && !$0.isGeneric && $0.access != .hidden && isManaged($0)
        }
        guard !types.isEmpty else { return }
        lines += [
            "", Self.quiet, "nonisolated final class _StrataManagedAccessors: _ManagedAccessorTable {",
            "    override class func fill(_ classes: inout _ManagedClasses) {",
        ]
        for type in types { lines += entry(type) }
        lines += ["    }", "}"]
    }

    private func isManaged(_ type: ManagedDeclarations.Class) -> Bool {
        let chain = [type] + declarations.superclasses(of: type)
        return chain.contains { !$0.properties.isEmpty || $0.superclass == "6Strata15NSManagedObjectC" }
    }

    private func entry(_ type: ManagedDeclarations.Class) -> [String] {
        var body: [String] = []
        // A key path belongs to the class that it was written for, which may be a subclass.
        let chain = [type] + declarations.superclasses(of: type)
        if !chain.contains(where: \.isIsolated) {
            // Most key paths show their names when the runtime reads them. Those that do not are named here: each one
            // costs the compiler two functions.
            for property in chain.flatMap(\.properties)
            where property.isVisible && !property.isUnavailable && !property.showsItsName {
                body.append("            type.name(\\\(type.path).`\(property.name)`, \"\(property.name)\")")
            }
            for name in type.accessors {
                body.append("            type.accessor(\"\(name)\", \\\(type.path).`\(name)`)")
            }
            let names = Set(chain.flatMap(\.properties).map(\.name))
            for name in type.validators {
                let key = name.dropFirst("validate".count)
                let known = names.contains(String(key)) ? String(key) : MemberMethod.decapitalized(key)
                body.append("            type.validate(\"\(known)\") { $0.\(name)(_:) }")
            }
            let all = names.union(chain.flatMap(\.accessors))
            for use in type.dependencies {
                let key = use.dropFirst(DeclarationScanner.dependencies.count).prefix { $0 != "(" }
                let known = all.contains(String(key)) ? String(key) : MemberMethod.decapitalized(key)
                body.append("            type.depends(\"\(known)\") { \(type.path).\(use) }")
            }
        }
        guard !body.isEmpty else { return ["        classes.add(\(type.path).self) { _ in }"] }
        return ["        classes.add(\(type.path).self) { type in"] + body + ["        }"]
    }
}
