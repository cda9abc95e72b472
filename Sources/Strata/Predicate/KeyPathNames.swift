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

    /// The attribute; nil when the accessor reads none or several or makes something of the value, or the class has no
    /// entity in any model in use.
    ///
    /// - Complexity: O(1) once the name is known.
    static func name(of keyPath: AnyKeyPath, _ type: NSManagedObject.Type) -> String? {
        let path = UncheckedBox(keyPath)
        if let known = state.withLock({ $0.names[path.value] }) { return known }
        guard let shape = ModelShapes.shapes(ofClass: type).last else { return nil }
        let object = shape.objectClass.init(entity: shape.entity, insertInto: nil)
        guard let (slot, isSame) = read(keyPath, object, shape, true), isSame else { return nil }
        // One of a Boolean's values proves nothing: the accessor may be another attribute's question.
        if shape.slots[slot].kind == .bool, read(keyPath, object, shape, false)?.isSame != true { return nil }
        let name = shape.slots[slot].name
        state.withLock { $0.names[path.value] = name }
        return name
    }

    /// Reads the key path of an object whose attributes have sample values: the one attribute that was asked for, and
    /// whether its value came back as it is.
    private static func read(
        _ keyPath: AnyKeyPath, _ object: NSManagedObject, _ shape: EntityShape, _ flag: Bool
    ) -> (slot: Int, isSame: Bool)? {
        for slot in 0..<shape.persistentSlotCount {
            guard let value = sample(shape.slots[slot].kind, flag) else { continue }
            object.setBoxedValue(value, slot: slot)
        }
        let id = ObjectIdentifier(object)
        state.withLock { $0.asked[id] = [] }
        object.flags.insert(.observable)
        let result = AnyElements.plain((object as Any)[keyPath: keyPath])
        object.flags.remove(.observable)
        let asked = state.withLock { $0.asked.removeValue(forKey: id) ?? [] }
        guard asked.count == 1, let name = asked.first, case .slot(let slot)? = shape.place(name),
            let sample = sample(shape.slots[slot].kind, flag), let result
        else { return nil }
        let kind = shape.slots[slot].kind
        let expected = ValueConversion.converted(sample, kind) as? AnyHashable
        return (slot, ValueConversion.converted(result, kind) as? AnyHashable == expected && expected != nil)
    }

    /// An object without context is asked for a value.
    static func note(_ name: String, _ object: NSManagedObject) {
        let id = ObjectIdentifier(object)
        _ = state.withLock { $0.asked[id]?.insert(name) }
    }

    /// A value that few accessors give back by chance; nil for what has no such values.
    private static func sample(_ kind: SlotKind, _ flag: Bool) -> Any? {
        switch kind {
        case .string: " aB1 "
        case .data: Data([1, 97, 3])
        case .date: Date(timeIntervalSinceReferenceDate: 97.5)
        case .uuid: UUID(uuid: (9, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
        case .uri: URL(string: "sample:aB1")
        case .bool: flag
        case .decimal, .int16, .int32, .int64, .float, .double: 97
        case .transformable, .toOne: nil
        }
    }
}
