import Foundation
import Synchronization

/// Where a property lies in one shape, in one word: shape id (32 bits), slot or relationship index (12), overlay
/// offset in units of 8 bytes (20).
@usableFromInline
struct SlotToken {
    @usableFromInline let rawValue: UInt64

    @inlinable
    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(shape: EntityShape, index: Int, offset: Int) {
        precondition(index < 1 << 12 && offset / 8 < 1 << 20, "an entity has too many properties")
        rawValue = UInt64(shape.id) << 32 | UInt64(index) << 20 | UInt64(offset / 8)
    }

    @inlinable var shapeID: UInt32 { UInt32(truncatingIfNeeded: rawValue &>> 32) }
    @inlinable var index: Int { Int(truncatingIfNeeded: (rawValue &>> 20) & 0xFFF) }
    @inlinable var offset: Int { Int(truncatingIfNeeded: (rawValue & 0xF_FFFF) &<< 3) }
}

/// A property's name with the place it was last found at.
///
/// The first use with a shape looks the name up; as long as the following objects have the same shape, finding the
/// slot is one comparison. Objects of subentities and of other models are found all the same.
public final class SlotCache: Sendable {
    /// The property's name.
    public let name: String
    @usableFromInline let last = Atomic<UInt64>(0)
    private let check: @Sendable (EntityShape, PropertyPlace) -> String?

    /// `check` says what is wrong with a place, nil when the accessor can use it.
    init(_ name: String, check: @escaping @Sendable (EntityShape, PropertyPlace) -> String?) {
        self.name = name
        self.check = check
    }

    @inlinable
    func token(for shape: EntityShape) -> SlotToken {
        let token = SlotToken(rawValue: last.load(ordering: .relaxed))
        return token.shapeID == shape.id ? token : resolve(shape)
    }

    /// Looks the name up.
    @usableFromInline @inline(never)
    func resolve(_ shape: EntityShape) -> SlotToken {
        guard let place = shape.place(name) else {
            preconditionFailure("entity \(shape.name) has no property named \(name)")
        }
        if let problem = check(shape, place) {
            preconditionFailure("the accessor for \(shape.name).\(name) does not fit the model: \(problem)")
        }
        let token: SlotToken
        switch place {
        case .slot(let slot): token = SlotToken(shape: shape, index: slot, offset: shape.slots[slot].offset)
        case .toMany(let index): token = SlotToken(shape: shape, index: index, offset: 0)
        case .fetched: preconditionFailure("\(shape.name).\(name) is a fetched property")
        }
        last.store(token.rawValue, ordering: .relaxed)
        return token
    }
}
