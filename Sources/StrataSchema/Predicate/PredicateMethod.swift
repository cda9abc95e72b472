import Foundation

/// Methods of Foundation's values that `FUNCTION(value, 'selector:', arguments…)` can call.
package enum PredicateMethod {
    private static let names: Set<String> = [
        "valueForKey:", "valueForKeyPath:", "objectForKey:", "isEqual:", "objectAtIndex:", "containsObject:",
        "timeIntervalSinceDate:", "dateByAddingTimeInterval:", "stringByAppendingString:", "hasPrefix:", "hasSuffix:",
        "containsString:", "isEqualToString:",
    ]

    /// Whether there is such a method, of whatever class, that takes an argument.
    package static func isKnown(_ name: String) -> Bool { names.contains(name) }

    /// Calls `name`; a name without arguments is a property. A method that is not known has no value.
    static func call(_ name: String, on object: Any, _ arguments: [Any?]) -> Any? {
        if arguments.isEmpty, !name.hasSuffix(":") { return KeyValueAccess.value(of: object, forKey: name) }
        guard arguments.count == 1 else { return nil }
        let argument = arguments[0]
        switch (name, argument) {
        case ("valueForKey:", let key as String): return KeyValueAccess.value(of: object, forKey: key)
        case ("valueForKeyPath:", let path as String): return KeyValueAccess.value(of: object, forKeyPath: path)
        case ("objectForKey:", let key as String): return KeyValueAccess.value(of: object, forKey: key)
        case ("isEqual:", _): return Operand(object).equals(Operand(argument))
        case ("objectAtIndex:", _): return element(of: object, at: argument)
        case ("containsObject:", _): return Operand(object).members?.contains { Operand($0).equals(Operand(argument)) }
        case ("timeIntervalSinceDate:", let date as Date): return (object as? Date)?.timeIntervalSince(date)
        case ("dateByAddingTimeInterval:", _):
            guard let seconds = Arithmetic(argument)?.doubleValue else { return nil }
            return (object as? Date)?.addingTimeInterval(seconds)
        default: return textMethod(name, object, argument)
        }
    }

    private static func textMethod(_ name: String, _ object: Any, _ argument: Any?) -> Any? {
        guard let text = object as? String, let other = argument as? String else { return nil }
        switch name {
        case "stringByAppendingString:": return text + other
        case "hasPrefix:": return text.hasPrefix(other)
        case "hasSuffix:": return text.hasSuffix(other)
        case "containsString:": return text.contains(other)
        case "isEqualToString:": return text == other
        default: return nil
        }
    }

    /// The markers that `[FIRST]`, `[LAST]` and `[SIZE]` put in the place of an index.
    enum IndexMarker: String, Hashable {
        case first = "FIRST"
        case last = "LAST"
        case size = "SIZE"
    }

    /// `collection[index]`: by position, by marker, or by key for a dictionary. Out of bounds is `nil`.
    static func element(of collection: Any?, at index: Any?) -> Any? {
        guard let collection, let index else { return nil }
        if let members = AnyElements(collection) {
            let elements = members.elements
            // A set has no order; only its size can be asked for.
            if members.isUnordered { return index as? IndexMarker == .size ? elements.count : nil }
            switch index {
            case let marker as IndexMarker:
                switch marker {
                case .first: return elements.first ?? nil
                case .last: return elements.last ?? nil
                case .size: return elements.count
                }
            default:
                guard let position = Arithmetic(index)?.integerValue, let position = Int(exactly: position),
                    elements.indices.contains(position)
                else { return nil }
                return elements[position]
            }
        }
        if index as? IndexMarker == .size { return Operand(collection).members?.count }
        return (index as? String).flatMap { KeyValueAccess.value(of: collection, forKey: $0) }
    }
}
