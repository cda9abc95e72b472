import Foundation
import StrataLog

extension NSManagedObject {
    /// The object as Core Data prints it. Fires no fault.
    final func describe() -> String {
        let address = String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
        let head = "<\(type(of: self)): 0x\(address)> (entity: \(shape.name); id: \(objectID); data: "
        if isFault { return head + "<fault>)" }
        let lines = shape.properties.keys.sorted().compactMap { name in
            described(name).map { "    \(Self.quoted(name)) = \($0);\n" }
        }
        return head + "{\n\(lines.joined())})"
    }

    private func described(_ name: String) -> String? {
        switch shape.property(name) {
        case .slot(let slot)?:
            if shape.slots[slot].relationshipIndex >= 0 {
                return targetID(shape.relationships[shape.slots[slot].relationshipIndex]).map { "\"\($0)\"" } ?? "nil"
            }
            guard let value = boxedValue(slot) else { return "nil" }
            // Foundation traps when it describes a date that is no number, or is too far away.
            if let seconds = (value as? Date)?.timeIntervalSinceReferenceDate, !(abs(seconds) < 1e13) {
                return Self.quoted("\(seconds)")
            }
            return Self.quoted("\(value)")
        case .toMany(let index)?:
            let relationship = shape.relationships[index]
            guard storeIndex == 0 || existingState(relationship)?.isLoaded == true else {
                return "\"<relationship fault: '\(name)'>\""
            }
            let ids = toManyOrder(relationship).map { "        \"\($0.objectID)\"" }
            return ids.isEmpty ? "    (\n    )" : "    (\n\(ids.joined(separator: ",\n"))\n    )"
        case .composite(let composite)?: return compositeValue(composite).map { "\($0)" } ?? "nil"
        case .fetched?: return "\"<fetched property: '\(name)'>\""
        case nil: return nil
        }
    }

    /// A text as dictionaries of Foundation print it: as it is if it is one word, else in quotation marks.
    private static func quoted(_ text: String) -> String {
        let isWord =
            !text.isEmpty
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
            }
        if isWord { return text }
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }

    // MARK: IDs without faults

    /// The ID of a to-one relationship's object; neither this object's fault fires nor is the other one made.
    final func targetID(_ relationship: RelationshipShape) -> NSManagedObjectID? {
        let slot = relationship.slot
        if let overlay, overlay.isPresent(slot) {
            return overlay.isNull(slot) ? nil : overlay.object(at: shape.slots[slot].offset).objectID
        }
        guard let context = registry?.context, context.link == nil else { return toOneTarget(relationship)?.objectID }
        guard let handle = registry?.handle(storeIndex) else { return nil }
        var target = ObjectRef.null
        if let block {
            target = block.verifiedColumn(slot).reference(Int(row))
        } else if isUnread, !handle.isDetached, let stored = try? context.snapshot(of: handle)?.row(ref) {
            target = (try? stored.block.column(slot).reference(stored.index)) ?? .null
        }
        return id(of: target, handle)
    }

    /// The IDs of a to-many relationship's objects, in order if there is one.
    final func memberIDs(_ relationship: RelationshipShape) -> [NSManagedObjectID] {
        let state = existingState(relationship)
        // An order that is not saved yet is only known with the members.
        let needsOrder = relationship.isOrdered && state?.isChanged == true
        let context = registry?.context
        if storeIndex == 0 || needsOrder || context == nil || context?.link != nil || state?.isLoaded == true {
            return toManyOrder(relationship).map(\.objectID)
        }
        guard let handle = registry?.handle(storeIndex), !handle.isDetached,
            let snapshot = context?.snapshot(of: handle)
        else { return [] }
        let reader = RelationshipReader(handle: handle, snapshot: snapshot)
        guard let members = try? reader.members(relationship, of: ref) else { return [] }
        var ids = members.compactMap { id(of: $0.ref, handle) }
        guard let state, state.isChanged else { return ids }
        let removed = Set(state.removed.objects.map(\.objectID))
        ids.removeAll { removed.contains($0) }
        let known = Set(ids)
        return ids + state.added.objects.map(\.objectID).filter { !known.contains($0) }
    }

    private func id(of ref: ObjectRef, _ handle: StoreHandle) -> NSManagedObjectID? {
        guard !ref.isNull, let shape = handle.map.shape(ref.entity) else { return nil }
        return NSManagedObjectID(ref: ref, identity: handle.identity, shape: shape)
    }
}
