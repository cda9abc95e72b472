import Foundation
import Strata

/// Makes the description of an attribute, and finds what is wrong with it.
struct AttributeAssembly {
    /// For messages: the entity and the attribute.
    let label: String
    let attribute: Attribute
    private(set) var problems: [String] = []

    /// Composites in composites may be nested this deep.
    private static let maximumDepth = 16

    init(_ attribute: Attribute, of owner: String) {
        self.attribute = attribute
        label = "\(owner).\(attribute.name)"
    }

    /// - Parameter depth: how many composites the attribute is in.
    mutating func description(depth: Int = 0) -> NSAttributeDescription {
        let description: NSAttributeDescription
        if let format = attribute.derivation {
            let derived = NSDerivedAttributeDescription()
            do {
                derived.derivationExpression = try Strata.NSExpression.parse(format)
            } catch {
                problems.append("\(label) is derived from \"\(format)\": \(error)")
            }
            description = derived
        } else if attribute.type == .composite {
            description = composite(depth)
        } else {
            description = NSAttributeDescription()
        }
        description.name = attribute.name
        if attribute.type != .composite { description.type = attribute.type }
        description.isOptional = attribute.isOptional
        description.isTransient = attribute.isTransient
        description.preservesValueInHistoryOnDeletion = attribute.keepsValueOfDeleted
        description.renamingIdentifier = attribute.renamingIdentifier
        checkType()
        setTransformer(of: description)
        setValues(of: description)
        return description
    }

    private mutating func composite(_ depth: Int) -> NSAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        if attribute.elements.isEmpty { problems.append("\(label) is composite and has no elements") }
        guard depth < Self.maximumDepth else {
            problems.append("\(label) is composite, in \(depth) others; the most are \(Self.maximumDepth)")
            return composite
        }
        var names: Set<String> = []
        composite.elements = attribute.elements.map { element in
            if !names.insert(element.name).inserted {
                problems.append("\(label) has two elements named \(element.name)")
            }
            var assembly = AttributeAssembly(element, of: label)
            if !ModelAssembly.isName(element.name) {
                assembly.problems.append("\(assembly.label) is no name: letters, digits and _ make one")
            }
            let description = assembly.description(depth: depth + 1)
            problems += assembly.problems
            return description
        }
        return composite
    }

    private mutating func checkType() {
        switch attribute.type {
        case .undefined where !attribute.isTransient: problems.append("\(label) has no type and is not transient")
        case .objectID: problems.append("\(label) is of a type that is for results of expressions only")
        default: break
        }
    }

    private mutating func setTransformer(of description: NSAttributeDescription) {
        guard let name = attribute.transformer else { return }
        if attribute.type == .transformable {
            description.valueTransformerName = name
        } else {
            problems.append("\(label) has a transformer and is not transformable")
        }
    }

    private mutating func setValues(of description: NSAttributeDescription) {
        if let value = attribute.defaultValue {
            if let problem = mismatch(of: value) {
                problems.append("the default value of \(label) \(problem)")
            } else {
                description.defaultValue = value
            }
        }
        let isText = attribute.type == .string
        guard attribute.minimum != nil || attribute.maximum != nil || attribute.pattern != nil else { return }
        var isFine = true
        func refuse(_ problem: String) {
            problems.append(problem)
            isFine = false
        }
        for (name, limit) in [("minimum", attribute.minimum), ("maximum", attribute.maximum)] {
            guard let limit else { continue }
            switch (attribute.type, Operand(limit)) {
            case (.string, .integer(let length)):
                if length < 0 { refuse("the \(name) of \(label) is a negative length") }
            case (.string, _): refuse("the \(name) of \(label) is a text's length, and so an integer")
            case (.integer16, _), (.integer32, _), (.integer64, _), (.decimal, _), (.double, _), (.float, _),
                (.date, _):
                if let problem = mismatch(of: limit) { refuse("the \(name) of \(label) \(problem)") }
            default: refuse("\(label) has a \(name), which its type has no order for")
            }
        }
        if let pattern = attribute.pattern {
            if !isText { refuse("\(label) has a pattern and is no text") }
            if (try? NSRegularExpression(pattern: pattern)) == nil {
                refuse("the pattern of \(label) is no regular expression")
            }
        }
        if isFine {
            description.setBounds(minimum: attribute.minimum, maximum: attribute.maximum, pattern: attribute.pattern)
        }
    }

    /// Why a value is none of the attribute's; nil if it is one.
    private func mismatch(of value: Any) -> String? {
        let bits: Int
        switch (attribute.type, Operand(value)) {
        case (.integer16, .integer): bits = 16
        case (.integer32, .integer): bits = 32
        case (.integer64, .integer), (.double, .double), (.double, .integer), (.float, .double), (.float, .integer),
            (.decimal, .decimal), (.decimal, .integer), (.string, .string), (.date, .date), (.binaryData, .data),
            (.uuid, .uuid), (.uri, .url), (.transformable, _), (.undefined, _), (.composite, .dictionary):
            return nil
        case (.boolean, .integer(let number)): return number == 0 || number == 1 ? nil : "is neither true nor false"
        default: return "is of another type: \(Swift.type(of: value))"
        }
        guard case .integer(let number) = Operand(value), number >> (bits - 1) == 0 || number >> (bits - 1) == -1 else {
            return "has no room in \(bits) bits: \(value)"
        }
        return nil
    }
}
