import CoreData

/// An amount of money, over a transformable attribute.
public final class Price: NSObject {
    public let cents: Int
    public let currency: String

    public init(cents: Int, currency: String) {
        self.cents = cents
        self.currency = currency
    }

    override public func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? Price else { return false }
        return other.cents == cents && other.currency == currency
    }

    override public var hash: Int { cents ^ currency.hashValue }
}

/// Stores a price as its text.
public final class PriceTransformer: ValueTransformer, @unchecked Sendable {
    // Unchecked: it has no state.

    public static let name = NSValueTransformerName("PriceTransformer")

    override public class func allowsReverseTransformation() -> Bool { true }

    override public func transformedValue(_ value: Any?) -> Any? {
        (value as? Price).map { Data("\($0.cents) \($0.currency)".utf8) }
    }

    override public func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        let parts = String(decoding: data, as: UTF8.self).split(separator: " ")
        return parts.count == 2 ? Int(parts[0]).map { Price(cents: $0, currency: String(parts[1])) } : nil
    }
}
