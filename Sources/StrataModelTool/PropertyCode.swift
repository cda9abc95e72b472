import StrataModelFile

/// The accessor of one property.
struct PropertyCode {
    enum Kind {
        /// A value of a type that slots have: `AttributeSlot<Type>`.
        case value(type: String)
        /// A value as an object of Foundation or of the user: `ObjectAttributeSlot<Type>`. Without a default it is
        /// optional.
        case object(type: String, whenNull: String?)
        /// A composite attribute, through key-value coding.
        case composite
        case toOne(type: String)
        case toMany(type: String, isOrdered: Bool)
        /// The results of a fetched property.
        case fetched(type: String)
    }

    let name: String
    let kind: Kind
    private let options: GeneratorOptions

    init(_ property: ClassGenerator.OwnProperty, in code: EntityCode) {
        options = code.generator.options
        switch property {
        case .attribute(let attribute):
            name = attribute.name
            kind = Self.kind(of: attribute, options: options)
        case .relationship(let relationship):
            name = relationship.name
            let type = code.generator.className(ofEntity: relationship.destinationName)
            kind = relationship.isToMany ? .toMany(type: type, isOrdered: relationship.isOrdered) : .toOne(type: type)
        case .fetched(let fetched):
            name = fetched.name
            kind = .fetched(type: code.generator.className(ofEntity: fetched.fetchRequest?.entityName ?? ""))
        }
    }

    var isToMany: Bool {
        if case .toMany = kind { true } else { false }
    }

    private static func kind(of attribute: ModelDocument.Attribute, options: GeneratorOptions) -> Kind {
        let isOptional = attribute.isOptional || !options.nonOptionalProperties
        let mark = isOptional ? "?" : ""
        let isScalar = attribute.usesScalarType == true
        // With the option, a number that must be there is a number and no object.
        let number = { (type: String) -> Kind in
            isScalar || !isOptional ? .value(type: type) : .object(type: "NSNumber", whenNull: nil)
        }
        if let type = attribute.valueClassName, attribute.type == .transformable || attribute.type == .undefined {
            return .object(type: type, whenNull: nil)
        }
        switch attribute.type {
        case .integer16: return number("Int16")
        case .integer32: return number("Int32")
        case .integer64: return number("Int64")
        case .double: return number("Double")
        case .float: return number("Float")
        case .boolean: return number("Bool")
        case .decimal: return .object(type: "NSDecimalNumber", whenNull: isOptional ? nil : ".zero")
        case .string: return .value(type: "String" + mark)
        case .date: return .value(type: "Date" + mark)
        case .binary: return .value(type: "Data" + mark)
        case .uuid: return .value(type: "UUID" + mark)
        case .uri: return .value(type: "URL" + mark)
        case .composite: return .composite
        case .undefined, .transformable, .objectID: return .object(type: "NSObject", whenNull: nil)
        }
    }

    /// The declaration of the slot that the accessor goes through; nil if it goes by way of key-value coding.
    var slotDeclaration: String? {
        let type: String
        switch kind {
        case .value(let value): type = "AttributeSlot<\(value)>"
        case .object(let value, _): type = "ObjectAttributeSlot<\(value)>"
        case .toOne(let target): type = "ToOneSlot<\(target)>"
        case .toMany(let target, _): type = "ToManySlot<\(target)>"
        case .composite, .fetched: return nil
        }
        return "static let \(SourceText.identifier(name)) = \(type)(\(SourceText.literal(name)))"
    }

    private var slot: String { "\(EntityCode.slotsName).\(SourceText.identifier(name))" }
    private var key: String { SourceText.literal(name) }

    func write(into source: inout SourceText) {
        switch kind {
        case .value(let type): write("self[\(slot)]", "self[\(slot)] = newValue", type, into: &source)
        case .object(let type, let whenNull?):
            write("self[\(slot)] ?? \(whenNull)", "self[\(slot)] = newValue", type, into: &source)
        case .object(let type, nil): write("self[\(slot)]", "self[\(slot)] = newValue", type + "?", into: &source)
        case .toOne(let type): write("self[\(slot)]", "self[\(slot)] = newValue", type + "?", into: &source)
        case .composite:
            write(
                "value(forKey: \(key)) as? [String: Any]", "setValue(newValue, forKey: \(key))", "[String: Any]?",
                into: &source)
        case .fetched(let type):
            source.block("\(options.accessPrefix)var \(SourceText.identifier(name)): [\(type)]?") {
                $0.line("value(forKey: \(key)) as? [\(type)]")
            }
        case .toMany(let type, let isOrdered): writeToMany(type, isOrdered: isOrdered, into: &source)
        }
    }

    private func writeToMany(_ type: String, isOrdered: Bool, into source: inout SourceText) {
        if options.typedCollections {
            if isOrdered {
                write("members(\(slot)).array", "members(\(slot)).set(newValue)", "[\(type)]", into: &source)
            } else {
                write("self[\(slot)]", "self[\(slot)] = newValue", "Set<\(type)>", into: &source)
            }
            return
        }
        let mark = options.nonOptionalProperties ? "" : "?"
        let collection = isOrdered ? "NSOrderedSet" : "NSSet"
        let getter = isOrdered ? "members(\(slot)).foundationOrderedSet" : "members(\(slot)).foundationSet"
        write(getter, "members(\(slot)).set(newValue)", collection + mark, into: &source)
    }

    private func write(_ getter: String, _ setter: String, _ type: String, into source: inout SourceText) {
        source.block("\(options.accessPrefix)var \(SourceText.identifier(name)): \(type)") {
            $0.line("get { \(getter) }")
            $0.line("set { \(setter) }")
        }
    }

    // MARK: To-many relationships

    /// `addToX`, `removeFromX`, and for ordered relationships what takes places.
    func writeMembers(into source: inout SourceText) {
        guard case .toMany(let type, let isOrdered) = kind else { return }
        let title = name.prefix(1).uppercased() + name.dropFirst()
        let members = "members(\(slot))"
        var methods: [(head: String, body: String)] = []
        if isOrdered {
            methods += [
                ("insertInto\(title)(_ value: \(type), at idx: Int)", "insert(value, at: idx)"),
                ("removeFrom\(title)(at idx: Int)", "remove(at: idx)"),
                (
                    "insertInto\(title)(_ values: [\(type)], at indexes: NSIndexSet)",
                    "insert(values, at: indexes as IndexSet)"
                ),
                ("removeFrom\(title)(at indexes: NSIndexSet)", "remove(at: indexes as IndexSet)"),
                ("replace\(title)(at idx: Int, with value: \(type))", "replace(at: idx, with: value)"),
                (
                    "replace\(title)(at indexes: NSIndexSet, with values: [\(type)])",
                    "replace(at: indexes as IndexSet, with: values)"
                ),
            ]
        }
        methods += [
            ("addTo\(title)(_ value: \(type))", "add(value)"),
            ("removeFrom\(title)(_ value: \(type))", "remove(value)"),
        ]
        // One kind only: a call with a literal would be ambiguous.
        let untyped = isOrdered ? "NSOrderedSet" : "NSSet"
        let typed = isOrdered ? "[\(type)]" : "Set<\(type)>"
        let collection = options.typedCollections ? typed : untyped
        methods.append(("addTo\(title)(_ values: \(collection))", "add(contentsOf: values)"))
        methods.append(("removeFrom\(title)(_ values: \(collection))", "remove(contentsOf: values)"))
        for (position, method) in methods.enumerated() {
            if position > 0 { source.line() }
            source.block("\(options.accessPrefix)func \(method.head)") { $0.line("\(members).\(method.body)") }
        }
    }
}
