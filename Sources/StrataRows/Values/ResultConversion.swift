import Foundation

/// Brings a computed value to the type that an expression description asks for.
package enum ResultConversion {
    package static func convert(_ value: Any?, to type: NSAttributeType) -> Any? {
        guard let value = AnyElements.plain(value) else { return nil }
        // A cast to a protocol in vain takes a thousand instructions.
        if !AnyElements.isSurelyPlain(value) {
            if let object = value as? any PredicateIdentifiable { return object.predicateIdentity.base }
            if let collection = AnyElements(value) {
                return collection.elements.compactMap { convert($0, to: type) }
            }
        }
        let number = Arithmetic(value)
        switch type {
        case .integer16AttributeType: return number?.integerValue.map { NSNumber(value: Int16(truncatingIfNeeded: $0)) }
        case .integer32AttributeType: return number?.integerValue.map { NSNumber(value: Int32(truncatingIfNeeded: $0)) }
        case .integer64AttributeType: return number?.integerValue.map { NSNumber(value: $0) }
        case .doubleAttributeType: return number.map { NSNumber(value: $0.doubleValue) }
        case .floatAttributeType: return number.map { NSNumber(value: Float($0.doubleValue)) }
        case .booleanAttributeType: return number.map { NSNumber(value: $0.doubleValue != 0) }
        case .decimalAttributeType: return Operand(value).asDecimal.map { NSDecimalNumber(decimal: $0) }
        case .dateAttributeType:
            return value as? Date ?? number.map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        case .stringAttributeType: return value as? String ?? (value as? NSNumber)?.stringValue ?? value
        // A decimal stays one.
        default: return KeyValueAccess.boxed(value)
        }
    }
}
