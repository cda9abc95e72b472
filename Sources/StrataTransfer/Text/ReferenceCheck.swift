import Strata
import StrataLog

/// Which objects a file has, and which its references lead to: a bit for each.
struct ReferenceCheck {
    /// By entity.
    private var present: [UInt16: KeySet] = [:]
    private var wanted: [UInt16: KeySet] = [:]
    /// By number what relationships that are to-one at both ends lead to.
    private var taken: [Int: [UInt16: KeySet]] = [:]
    /// By relationship the links with keys of 32 bits, as most are, and the others.
    private var links: [UInt16: Set<UInt64>] = [:]
    private var longLinks: [UInt16: Set<LongLink>] = [:]

    private struct LongLink: Hashable {
        let owner: UInt64
        let member: UInt64
    }

    mutating func insert(_ ref: ObjectRef) {
        _ = present[ref.entity, default: KeySet()].insert(ref.key)
    }

    mutating func want(_ ref: ObjectRef) {
        _ = wanted[ref.entity, default: KeySet()].insert(ref.key)
    }

    func contains(_ ref: ObjectRef) -> Bool { present[ref.entity]?.contains(ref.key) ?? false }

    /// An object that is referred to and not there.
    var missing: ObjectRef? {
        for (entity, keys) in wanted.sorted(by: { $0.key < $1.key }) {
            if let key = keys.least(notIn: present[entity] ?? KeySet()) {
                return StoreBuilder.reference(entity: entity, key: key)
            }
        }
        return nil
    }

    /// Whether nothing led to the object so far by a relationship that is to-one at both ends.
    mutating func take(_ ref: ObjectRef, for relationship: Int) -> Bool {
        taken[relationship, default: [:]][ref.entity, default: KeySet()].insert(ref.key)
    }

    /// Whether the link is new. Keys are those of the root entities, so that an object has one of them.
    mutating func link(_ owner: ObjectRef, _ member: ObjectRef, of relationship: UInt16) -> Bool {
        guard owner.key >> 32 == 0, member.key >> 32 == 0 else {
            return longLinks[relationship, default: []]
                .insert(LongLink(owner: owner.key, member: member.key)).inserted
        }
        return links[relationship, default: []].insert(owner.key << 32 | member.key).inserted
    }
}
