import Foundation
import StrataSupport

/// Numbers that objects of a context, or a batch insert's handler, were given by key, and that their integer attributes
/// have no room for.
///
/// Core Data keeps such a number in memory and refuses to save it. Here a slot has room for values of its own type
/// only: it keeps what the number is cut to, and the number itself waits here for the validation. It counts for as long
/// as the slot has the value that it was cut to.
struct NumbersOutOfRange {
    /// Those of objects that a handler fills, which belong to no context.
    static let ofScratchObjects = AdaptiveMutex(NumbersOutOfRange())

    private var numbers: [ObjectIdentifier: [Int: NSNumber]] = [:]

    mutating func set(_ number: NSNumber?, _ slot: Int, of object: NSManagedObject) {
        let id = ObjectIdentifier(object)
        if !object.flags.contains(.numberOutOfRange) {
            // What is there belonged to an object that has gone.
            numbers[id] = nil
            object.flags.insert(.numberOutOfRange)
        }
        numbers[id, default: [:]][slot] = number
    }

    func numbers(of object: NSManagedObject) -> [Int: NSNumber] { numbers[ObjectIdentifier(object)] ?? [:] }

    var isEmpty: Bool { numbers.isEmpty }

    mutating func remove(_ object: NSManagedObject) { numbers[ObjectIdentifier(object)] = nil }

    mutating func removeAll() { numbers = [:] }
}

extension NSManagedObject {
    /// Records whether an integer attribute has room for the value that it has just been set to.
    final func recordRange(_ value: Any?, _ slot: Int) {
        let kind = shape.codes[slot].kind
        var number: NSNumber?
        if let value, let misfit = ValueConversion.misfit(value, kind) { number = misfit }
        if number == nil, !flags.contains(.numberOutOfRange) { return }
        if flags.contains(.scratch) {
            NumbersOutOfRange.ofScratchObjects.withLock { $0.set(number, slot, of: self) }
        } else {
            registry?.context?.numbersOutOfRange.set(number, slot, of: self)
        }
    }

    private var numbersOutOfRange: [Int: NSNumber] {
        if flags.contains(.scratch) { return NumbersOutOfRange.ofScratchObjects.withLock { $0.numbers(of: self) } }
        return registry?.context?.numbersOutOfRange.numbers(of: self) ?? [:]
    }

    /// The number that a slot of an object with ``ObjectFlags/numberOutOfRange`` was given, if the slot still has what
    /// became of it.
    final func numberOutOfRange(_ slot: Int) -> NSNumber? {
        guard let number = numbersOutOfRange[slot], let overlay,
            overlay.holdsValue(slot)
        else { return nil }
        let cut: Int64 =
            switch shape.codes[slot].kind {
            case .int16: Int64(number.int16Value)
            case .int32: Int64(number.int32Value)
            default: number.int64Value
            }
        return (overlay.boxed(shape.codes[slot]) as? NSNumber)?.int64Value == cut ? number : nil
    }

    /// What validation says of numbers that their attributes have no room for.
    final func errorsOfRanges() -> [any Error] {
        numbersOutOfRange.keys.sorted().compactMap { slot in
            numberOutOfRange(slot).map {
                ValidationErrors.outOfRange($0, shape.codes[slot].kind, self, shape.slots[slot].name)
            }
        }
    }
}

extension ValidationErrors {
    /// The error for a number that an integer attribute has no room for.
    static func outOfRange(_ number: NSNumber, _ kind: SlotKind, _ object: NSManagedObject, _ key: String) -> any Error
    {
        let isTooLarge = number.doubleValue > 0
        let bounds: (least: Int, greatest: Int) =
            switch kind {
            case .int16: (Int(Int16.min), Int(Int16.max))
            case .int32: (Int(Int32.min), Int(Int32.max))
            default: (.min, .max)
            }
        return error(
            isTooLarge ? .validationNumberTooLarge : .validationNumberTooSmall, object, key, value: number,
            bound: isTooLarge ? bounds.greatest : bounds.least)
    }
}
