public import Foundation
import StrataLog
import StrataRuntime
import StrataSupport
import Synchronization

/// A compact, universal name of a managed object.
///
/// An ID is temporary until its object is saved for the first time (or
/// ``NSManagedObjectContext/obtainPermanentIDs(for:)`` is called). A permanent ID names the same object in every
/// context, coordinator and process. IDs are values: immutable, safe to use from any thread, equal when they name the
/// same object.
public final class NSManagedObjectID: NSObject, NSCopying, Sendable {
    @usableFromInline package let ref: ObjectRef
    // SAFETY: identities and shapes are never freed, see StoreIdentity and EntityShape.
    @usableFromInline let identityReference: Unmanaged<StoreIdentity>?
    @usableFromInline package unowned(unsafe) let shape: EntityShape

    /// The identity of the store, nil for a temporary ID.
    @inlinable package var identity: StoreIdentity? { identityReference?.takeUnretainedValue() }

    @inlinable
    package init(ref: ObjectRef, identity: StoreIdentity?, shape: EntityShape) {
        self.ref = ref
        identityReference = identity.map { .passUnretained($0) }
        self.shape = shape
        super.init()
    }

    /// Creates a temporary ID that names no object: equal to itself only. Its entity has no name.
    public override convenience init() {
        self.init(ref: TemporaryRefs.next(), identity: nil, shape: ModelShapes.nameless)
    }

    /// Whether it is the ID of a stored object, with that shape.
    @inlinable @inline(__always)
    package func isFor(_ ref: ObjectRef, _ identity: Unmanaged<StoreIdentity>, _ shape: Unmanaged<EntityShape>) -> Bool
    {
        self.ref == ref && identityReference?.toOpaque() == identity.toOpaque()
            && Unmanaged.passUnretained(self.shape).toOpaque() == shape.toOpaque()
    }

    /// The entity of the object that the ID names.
    public var entity: NSEntityDescription { shape.entity }

    /// Whether the object has not been saved yet.
    public var isTemporaryID: Bool { identityReference == nil }

    /// A URI that names the object: `x-coredata://STORE-UUID/Entity/p123`, for a temporary ID
    /// `x-coredata:///Entity/tUUID`, which means nothing outside this process.
    public func uriRepresentation() -> URL {
        guard let url = URL(string: uriText) else { preconditionFailure("an object URI is not a URL: \(uriText)") }
        return url
    }

    /// As ``uriRepresentation()``, without the cost of a URL.
    package var uriText: String {
        guard let identity else { return "x-coredata:///\(shape.escapedName)/t\(TemporaryRefs.uuidString(ref))" }
        return "x-coredata://\(identity.escapedUUID)/\(shape.escapedName)/p\(escapedKey(identity))"
    }

    /// The key; in a custom store, what its reference object prints as.
    private func escapedKey(_ identity: StoreIdentity) -> String {
        guard let table = identity.references.load() else { return "\(ref.key)" }
        let root = table.model?.entities.first { $0.number == ref.entity }?.root ?? ref.entity
        guard let reference = table.reference(root: root, key: ref.key) else { return "\(ref.key)" }
        return "\(reference)".addingPercentEncoding(withAllowedCharacters: .urlPathComponent) ?? "\(ref.key)"
    }

    /// The same object, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both name the same object. Complexity: O(1).
    override public func isEqual(_ object: Any?) -> Bool {
        guard let object else { return false }
        if type(of: object) == NSManagedObjectID.self, let other = ExistentialLayout.reference(in: object) {
            // A cast from Any takes hundreds of instructions, and sets ask for each collision.
            return Unmanaged<NSManagedObjectID>.fromOpaque(other).withBorrowed {
                $0.ref == ref && $0.identityReference?.toOpaque() == identityReference?.toOpaque()
            }
        }
        guard let other = object as? NSManagedObjectID else { return false }
        return other === self || (other.ref == ref && other.identity === identity)
    }

    /// Agrees with equality.
    override public var hash: Int {
        refHash
    }

    @inlinable @inline(__always)
    package var refHash: Int { Int(truncatingIfNeeded: Hashing.spread(ref.rawValue)) }

    /// A text for logs and for debugging; not to be parsed.
    override public var description: String {
        // Equal IDs print alike, so the hash stands where Core Data has an address.
        "0x\(String(UInt(bitPattern: hash), radix: 16)) <\(uriText)>"
    }
}

extension CharacterSet {
    /// What a component of a path may contain as it is.
    fileprivate static let urlPathComponent = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/;"))
}
