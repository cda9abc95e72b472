import Foundation
import StrataSupport

/// The name under which a value transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name as a string.
    public var rawValue: String

    /// The name that is this string.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// The name that is this string.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Turns true into false and the reverse.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// True for no value.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// True for a value.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    /// Reads archives. Here it is the secure transformer under its old name.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// Reads keyed archives. Here it is the secure transformer under its old name.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// Reads keyed archives of known classes; see ``NSSecureUnarchiveFromDataTransformer``.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// Turns values of one kind into values of another; subclasses say which. Linux's Foundation lacks it.
///
/// Thread rule: transformers are used by several threads at once and must not change after they were registered, which
/// is what `@unchecked Sendable` stands for.
open class ValueTransformer: NSObject, @unchecked Sendable {
    private static let registry = AdaptiveMutex<[NSValueTransformerName: ValueTransformer]>([
        .negateBooleanTransformerName: NegateBooleanTransformer(),
        .isNilTransformerName: NilTestTransformer(valueForNil: true),
        .isNotNilTransformerName: NilTestTransformer(valueForNil: false),
        .unarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        .keyedUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        // Models name it by its class, too.
        NSValueTransformerName("NSSecureUnarchiveFromDataTransformer"): NSSecureUnarchiveFromDataTransformer(),
    ])

    /// Creates a transformer. Subclasses say what it does.
    public override init() {
        super.init()
    }

    /// Registers a transformer, or removes the one of that name if it is nil. Safe from any thread.
    public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        registry.withLock { $0[name] = transformer }
    }

    /// The names of all registered transformers, sorted. Safe from any thread.
    public class func valueTransformerNames() -> [NSValueTransformerName] {
        registry.withLock { $0.keys.sorted { $0.rawValue < $1.rawValue } }
    }

    /// The class of what ``transformedValue(_:)`` returns.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether ``reverseTransformedValue(_:)`` works. Default `true`.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The value that stands for another. By default the same.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// The value for which another stands. By default what ``transformedValue(_:)`` returns.
    ///
    /// - Precondition: the class allows reverse transformation.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
        guard Self.allowsReverseTransformation() else {
            programmerError(
                "\(type(of: self))", "the transformer has no reverse transformation",
                "Override allowsReverseTransformation() and reverseTransformedValue(_:)")
        }
        return transformedValue(value)
    }

    static func registered(forName name: NSValueTransformerName) -> ValueTransformer? {
        registry.withLock { $0[name] }
    }
}

/// Lets `ValueTransformer(forName:)` return an object that exists, which an initialiser of a class cannot.
public protocol _ValueTransformerLookup {}

extension ValueTransformer: _ValueTransformerLookup {}

extension _ValueTransformerLookup {
    /// The transformer that is registered under a name, nil if there is none. Safe from any thread.
    public init?(forName name: NSValueTransformerName) {
        guard let transformer = ValueTransformer.registered(forName: name) as? Self else { return nil }
        self = transformer
    }
}

// Unchecked: nothing is added to the superclass.
private final class NegateBooleanTransformer: ValueTransformer, @unchecked Sendable {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }

    override func transformedValue(_ value: Any?) -> Any? {
        NSNumber(value: (value as? NSNumber)?.boolValue != true)
    }
}

// Unchecked: what is added to the superclass is constant.
private final class NilTestTransformer: ValueTransformer, @unchecked Sendable {
    private let valueForNil: Bool

    init(valueForNil: Bool) {
        self.valueForNil = valueForNil
        super.init()
    }

    override class func transformedValueClass() -> AnyClass { NSNumber.self }

    override class func allowsReverseTransformation() -> Bool { false }

    override func transformedValue(_ value: Any?) -> Any? {
        NSNumber(value: (value == nil) == valueForNil)
    }
}
