import Foundation

/// Values that are of just the type that a slot keeps, or a number: most that key-value coding is given. They are put
/// into an overlay without a cast, which takes longer than all else that setting an attribute does.
enum ExactValue {
    /// Whether ``Overlay/initializeExactly(_:to:)`` takes a value.
    ///
    /// Goes by the type that an `Any` holds its value as, because that is how it is taken out. `type(of:)` says what
    /// the object is, which may be held as a superclass: an `NSNumber` as an `NSObject`, say.
    @inline(__always)
    static func isTaken<Value>(_ value: Value, by kind: SlotKind) -> Bool { isTaken(Value.self, by: kind) }

    @inline(__always)
    private static func isTaken(_ type: Any.Type, by kind: SlotKind) -> Bool {
        switch kind {
        case .string: type == String.self
        case .date: type == Date.self
        case .uuid: type == UUID.self
        case .data: type == Data.self
        case .uri: type == URL.self
        case .bool: type == NSNumber.self || type == Bool.self
        case .int16: type == NSNumber.self || type == Int16.self || type == Int.self
        case .int32: type == NSNumber.self || type == Int32.self || type == Int.self
        case .int64: type == NSNumber.self || type == Int64.self || type == Int.self
        case .float: type == NSNumber.self || type == Float.self
        case .double: type == NSNumber.self || type == Double.self
        case .decimal: type == NSDecimalNumber.self || type == Decimal.self
        case .transformable, .toOne: false
        }
    }

    /// A value as what it is, where the compiler cannot know that the types are the same.
    @inline(__always)
    static func same<Value, Exact>(_ value: Value, as type: Exact.Type) -> Exact {
        // SAFETY: the callers have compared the types.
        unsafeBitCast(value, to: type)
    }
}

extension Overlay {
    /// Puts a value into a place that holds none. Integers and numbers are cut to the slot's width.
    ///
    /// - Precondition: ``ExactValue/isTaken(_:by:)`` for the value.
    func initializeExactly<Value>(_ code: SlotCode, to value: Value) {
        let address = base + Int(code.offset)
        if Value.self == NSNumber.self {
            return Self.initialize(address, code.kind, to: ExactValue.same(value, as: NSNumber.self))
        }
        if Value.self == Int.self {
            let number = ExactValue.same(value, as: Int.self)
            switch code.kind {
            case .int16: address.initializeMemory(as: Int16.self, to: Int16(truncatingIfNeeded: number))
            case .int32: address.initializeMemory(as: Int32.self, to: Int32(truncatingIfNeeded: number))
            default: address.initializeMemory(as: Int64.self, to: Int64(number))
            }
            return
        }
        if Value.self == NSDecimalNumber.self {
            let number = ExactValue.same(value, as: NSDecimalNumber.self)
            address.initializeMemory(as: Decimal.self, to: number.decimalValue)
            return
        }
        address.initializeMemory(as: Value.self, to: value)
    }

    private static func initialize(_ address: UnsafeMutableRawPointer, _ kind: SlotKind, to number: NSNumber) {
        switch kind {
        case .bool: address.initializeMemory(as: Bool.self, to: number.boolValue)
        case .int16: address.initializeMemory(as: Int16.self, to: number.int16Value)
        case .int32: address.initializeMemory(as: Int32.self, to: number.int32Value)
        case .int64: address.initializeMemory(as: Int64.self, to: number.int64Value)
        case .float: address.initializeMemory(as: Float.self, to: number.floatValue)
        default: address.initializeMemory(as: Double.self, to: number.doubleValue)
        }
    }
}
