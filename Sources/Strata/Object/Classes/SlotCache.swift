import Foundation
import StrataRuntime
import StrataSupport
import Synchronization

/// Where a property lies in one shape, in one word: shape id (32 bits), whether rows have it (1), slot or relationship
/// index (12), overlay offset in units of 8 bytes (19).
@usableFromInline
struct SlotToken {
    @usableFromInline let rawValue: UInt64

    @inlinable
    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(shape: EntityShape, index: Int, offset: Int) {
        guard index < 1 << 12 && offset / 8 < 1 << 19 else {
            programmerError(
                shape.name, "the entity has too many properties", "Split the entity: 4,096 properties are possible")
        }
        let isStored: UInt64 = index < shape.persistentSlotCount ? 1 : 0
        rawValue = UInt64(shape.id) << 32 | isStored << 31 | UInt64(index) << 19 | UInt64(offset / 8)
    }

    @inlinable var shapeID: UInt32 { UInt32(truncatingIfNeeded: rawValue &>> 32) }
    @inlinable var index: Int { Int(truncatingIfNeeded: (rawValue &>> 19) & 0xFFF) }
    @inlinable var isStored: Bool { rawValue & 1 &<< 31 != 0 }
    @inlinable var offset: Int { Int(truncatingIfNeeded: (rawValue & 0x7_FFFF) &<< 3) }
}

/// Names a property for typed accessors, with the place it was last found at. Not API.
///
/// The first use with a shape looks the name up; as long as the following objects have the same shape, finding the
/// slot is one comparison. Objects of subentities and of other models are found all the same. What it points to is
/// never freed: accessors keep it in static constants, and counting references would cost more than the look-up.
public struct _SlotCache: @unchecked Sendable {
    // Unchecked: an atomic, and an object whose state is constant.
    @usableFromInline let last: UnsafeMutablePointer<Atomic<UInt64>>
    private let property: Unmanaged<SlotProperty>

    init(_ name: String, check: @escaping @Sendable (EntityShape, PropertyReference) -> AccessorFit) {
        property = .passRetained(SlotProperty(name, check))
        last = .allocate(capacity: 1)
        last.initialize(to: Atomic(0))
    }

    var name: String { property.takeUnretainedValue().name }

    /// Whether some of the relationship's objects may be of another class than the accessor says, so that each has to
    /// be looked at. Known once a token has been found.
    @inline(__always)
    var isNarrow: Bool { property.withBorrowed { $0.isNarrow.load(ordering: .relaxed) } }

    @inlinable @inline(__always)
    func token(shapeID: UInt32, for object: NSManagedObject) -> SlotToken {
        let token = SlotToken(rawValue: last.pointee.load(ordering: .relaxed))
        return token.shapeID == shapeID ? token : resolve(object)
    }

    func token(for object: NSManagedObject) -> SlotToken { token(shapeID: object.shapeID, for: object) }

    /// Looks the name up.
    @usableFromInline @inline(never)
    func resolve(_ object: NSManagedObject) -> SlotToken {
        let token = property.takeUnretainedValue().token(object.shape)
        last.pointee.store(token.rawValue, ordering: .relaxed)
        return token
    }
}

/// A property's name and what an accessor wants of it.
private final class SlotProperty: Sendable {
    let name: String
    let isNarrow = Atomic(false)
    private let check: @Sendable (EntityShape, PropertyReference) -> AccessorFit

    init(_ name: String, _ check: @escaping @Sendable (EntityShape, PropertyReference) -> AccessorFit) {
        self.name = name
        self.check = check
    }

    func token(_ shape: EntityShape) -> SlotToken {
        guard let reference = shape.property(name) else {
            programmerError(
                shape.subject,
                "the entity \(shape.name) has no property named \"\(name)\", which an accessor of the class"
                    + " names\(shape.suggestion(for: name))",
                "Let accessor and model agree")
        }
        switch check(shape, reference) {
        case .whole: break
        case .inPart: isNarrow.store(true, ordering: .relaxed)
        case .not(let problem):
            programmerError(
                "\(shape.subject).\(name)", "the accessor does not fit the model: \(problem)",
                "Let accessor and model agree")
        }
        switch reference {
        case .slot(let slot): return SlotToken(shape: shape, index: slot, offset: shape.slots[slot].offset)
        case .toMany(let index): return SlotToken(shape: shape, index: index, offset: 0)
        case .composite:
            programmerError(
                "\(shape.subject).\(name)",
                "the property is a composite attribute, which this kind of accessor cannot read", "Use value(forKey:)")
        case .fetched:
            programmerError(
                "\(shape.subject).\(name)",
                "the property is a fetched property, which this kind of accessor cannot read", "Use value(forKey:)")
        }
    }
}
