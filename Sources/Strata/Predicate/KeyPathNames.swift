import Foundation
import Synchronization

/// Finds out which attribute a Swift key path reads, by reading it.
///
/// A key path knows no name on Linux. But the accessor that it leads to asks its object for a value by name, or by a
/// slot that has one. So an object without context, which notes what it is asked for, is read through the key path.
enum KeyPathNames {
    private struct State: @unchecked Sendable {
        // Unchecked: key paths are immutable, and only compared here.
        var names: [AnyKeyPath: String] = [:]
        /// What the objects that are being read have been asked for.
        var asked: [ObjectIdentifier: Set<String>] = [:]
    }
    private static let state = Mutex<State>(State())

    /// The attribute; nil when the accessor reads none or several, or the class has no entity in any model in use.
    ///
    /// - Complexity: O(1) once the name is known.
    static func name(of keyPath: AnyKeyPath, _ type: NSManagedObject.Type) -> String? {
        let path = UncheckedBox(keyPath)
        if let known = state.withLock({ $0.names[path.value] }) { return known }
        guard let shape = ModelShapes.shapes(ofClass: type).last else { return nil }
        let object = shape.objectClass.init(entity: shape.entity, insertInto: nil)
        // Accessors that are not optional may insist on a value.
        for slot in 0..<shape.persistentSlotCount where shape.slots[slot].relationshipIndex < 0 {
            if object.boxedValue(slot) == nil, let value = sample(shape.slots[slot].kind) {
                object.setBoxedValue(value, slot: slot)
            }
        }
        let id = ObjectIdentifier(object)
        state.withLock { $0.asked[id] = [] }
        object.flags.insert(.observable)
        _ = (object as Any)[keyPath: keyPath]
        object.flags.remove(.observable)
        let asked = state.withLock { $0.asked.removeValue(forKey: id) ?? [] }
        guard asked.count == 1, let name = asked.first, case .slot(let slot)? = shape.place(name),
            shape.slots[slot].relationshipIndex < 0
        else { return nil }
        state.withLock { $0.names[path.value] = name }
        return name
    }

    /// An object without context is asked for a value.
    static func note(_ name: String, _ object: NSManagedObject) {
        let id = ObjectIdentifier(object)
        _ = state.withLock { $0.asked[id]?.insert(name) }
    }

    private static func sample(_ kind: SlotKind) -> Any? {
        switch kind {
        case .string: ""
        case .data: Data()
        case .date: Date(timeIntervalSinceReferenceDate: 0)
        case .uuid: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        case .uri: URL(string: "about:blank")
        case .transformable, .toOne: nil
        case .decimal, .bool, .int16, .int32, .int64, .float, .double: 0
        }
    }
}
