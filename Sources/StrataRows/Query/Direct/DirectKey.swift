import Foundation
import StrataLog

/// Brings constants into the form of index keys.
struct DirectKey {
    /// What a constant says.
    enum Outcome {
        case written
        /// No row can have it.
        case nothing
        /// The long way knows.
        case unknown
    }

    let handle: StoreHandle
    let snapshot: Snapshot
    let shape: EntityShape

    /// How many bytes the component of a constant takes at most.
    static func capacity(_ value: Operand) -> Int {
        if case .string(let text) = value { return OrderedKeyWriter.textMaximumByteCount(text.utf8.count) }
        return OrderedKeyWriter.fixedMaximumByteCount
    }

    /// Appends the component of a value that a slot has to have.
    func append(
        _ value: Operand, _ term: DirectCondition.Term, isDescending: Bool, to writer: inout OrderedKeyWriter
    ) throws(StoreError) -> Outcome {
        let start = writer.count
        switch (term.kind, value) {
        case (.bool, .integer(let value)), (.int16, .integer(let value)), (.int32, .integer(let value)),
            (.int64, .integer(let value)):
            guard writer.append(value, term.kind.valueKind) else { return .nothing }
        case (.float, _), (.double, _), (.date, _):
            guard let value = SlotCompiler.real(value), !value.isNaN else { return .unknown }
            writer.append(real: value)
        case (.uuid, .uuid(let value)): writer.append(uuid: value.words)
        case (.string, .string(var text)):
            let isWritten = text.withUTF8 { text in
                guard text.count < OrderedKey.valueMaximumByteCount else { return false }
                writer.append(text: UnsafeRawBufferPointer(text))
                return true
            }
            guard isWritten else { return .unknown }
        case (.toOne, _):
            guard let target = try target(value, term.slot) else { return .unknown }
            writer.append(key: target.key)
        default: return .unknown
        }
        if isDescending { writer.invert(from: start) }
        return .written
    }

    /// The object that a to-one relationship is compared with; nil for another store's, and one that does not exist.
    func target(_ value: Operand, _ slot: Int) throws(StoreError) -> ObjectRef? {
        guard case .object(let object) = value, let id = object as? NSManagedObjectID,
            id.identity === handle.identity,
            id.shape.root === shape.relationships[shape.slots[slot].relationshipIndex].destination.root,
            let row = try snapshot.row(id.ref), row.ref == id.ref
        else { return nil }
        return id.ref
    }

    /// The range behind a prefix that bounds leave; nil when only the long way knows it.
    ///
    /// - Parameter isEmpty: set when nothing is in it.
    func range(
        _ prefix: UnsafeRawBufferPointer, _ lower: DirectBound?, _ upper: DirectBound?, isDescending: Bool,
        _ isEmpty: inout Bool
    ) throws(StoreError) -> OrderedRange? {
        var least: [UInt8]? = [1]
        var greatest: [UInt8]? = [2]
        if let lower {
            guard let value = try component(lower) else { return nil }
            least = lower.isInclusive ? value : OrderedRange.successor(of: value)
        }
        if let upper {
            guard let value = try component(upper) else { return nil }
            greatest = upper.isInclusive ? OrderedRange.successor(of: value) : value
        }
        guard let least, let greatest, least.lexicographicallyPrecedes(greatest) else {
            isEmpty = true
            return OrderedRange(lower: [], upper: [])
        }
        var range = OrderedRange(lower: least, upper: greatest)
        if isDescending {
            // What begins with the upper bound is outside, what begins with the lower one inside.
            guard let first = OrderedRange.successor(of: greatest.map { ~$0 }) else {
                isEmpty = true
                return OrderedRange(lower: [], upper: [])
            }
            range = OrderedRange(lower: first, upper: OrderedRange.successor(of: least.map { ~$0 }))
        }
        guard !prefix.isEmpty else { return range }
        let bytes = Array(prefix)
        return OrderedRange(
            lower: bytes + range.lower, upper: range.upper.map { bytes + $0 } ?? OrderedRange.successor(of: bytes))
    }

    /// Nil for a constant that the kind cannot hold: where the bound lies then, the long way knows.
    private func component(_ bound: DirectBound) throws(StoreError) -> [UInt8]? {
        try Self.withMemory(Self.capacity(bound.value)) { memory throws(StoreError) in
            var writer = OrderedKeyWriter(memory)
            guard case .written = try append(bound.value, bound.term, isDescending: false, to: &writer) else {
                return nil
            }
            return writer.array
        }
    }

    /// Memory for a key, mostly on the stack.
    static func withMemory<Result>(
        _ byteCount: Int, _ body: (UnsafeMutableRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { memory in
            Swift.Result { () throws(StoreError) in try body(memory) }
        }.get()
    }
}

/// A constant that bounds the values of a slot.
struct DirectBound {
    let term: DirectCondition.Term
    let value: Operand
    let isInclusive: Bool
}
