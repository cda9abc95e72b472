import Foundation
import StrataSupport

/// Finds out which properties a Swift key path reads, by reading it.
///
/// A key path knows no name on Linux. But the accessors that it leads to ask their objects for values by name, or by
/// slots that have one. So an object without context, which notes what it is asked for, is read through the key path.
enum KeyPathNames {
    private struct State: @unchecked Sendable {
        // Unchecked: key paths are immutable, and only compared here.
        var names: [AnyKeyPath: String] = [:]
        /// The objects that are being read.
        var probes: [ObjectIdentifier: KeyPathProbe] = [:]
    }
    private static let state = AdaptiveMutex<State>(State())

    /// The property, or the path of properties through to-one relationships; nil when an accessor reads none or several
    /// or makes something of the value, or the class has no entity in any model in use.
    ///
    /// - Complexity: O(1) once the name is known.
    static func name(of keyPath: AnyKeyPath, _ type: NSManagedObject.Type) -> String? {
        let path = UncheckedBox(keyPath)
        if let known = state.withLock({ $0.names[path.value] }) { return known }
        guard let shape = ModelShapes.shapes(ofClass: type).last,
            let found = read(keyPath, shape, true)
        else { return nil }
        // One of a Boolean's values proves nothing: the accessor may be another attribute's question.
        if found.isBoolean, read(keyPath, shape, false)?.name != found.name { return nil }
        state.withLock { $0.names[path.value] = found.name }
        return found.name
    }

    private static func read(_ keyPath: AnyKeyPath, _ shape: EntityShape, _ flag: Bool) -> KeyPathProbe.Finding? {
        let probe = KeyPathProbe(shape, flag, depth: 1)
        add(probe)
        let result = AnyElements.plain((probe.object as Any)[keyPath: keyPath])
        defer { for probe in probe.chain { probe.finish() } }
        let all = probe.chain
        state.withLock { state in
            for probe in all { state.probes[ObjectIdentifier(probe.object)] = nil }
        }
        return probe.finding(result)
    }

    private static func add(_ probe: KeyPathProbe) {
        state.withLock { $0.probes[ObjectIdentifier(probe.object)] = probe }
    }

    /// An object without context is asked for a value.
    static func record(_ name: String, _ object: NSManagedObject) {
        guard let probe = state.withLock({ $0.probes[ObjectIdentifier(object)] }) else { return }
        if let next = probe.record(name) { add(next) }
    }
}

/// An object that is read to find out which of its properties an accessor asks for.
private final class KeyPathProbe: @unchecked Sendable {
    // Unchecked: only the thread that reads the object uses it.

    struct Finding {
        var name: String
        /// Whether the property at the end is a Boolean.
        var isBoolean = false
    }

    /// As long as any path that is written out.
    private static let depthMaximum = 8

    let object: NSManagedObject
    private let shape: EntityShape
    private let flag: Bool
    private let depth: Int
    private var asked: Set<String> = []
    /// What the relationship that was asked for leads to: the one member of a to-many relationship.
    private var next: KeyPathProbe?

    /// - Parameter flag: the sample for Booleans.
    init(_ shape: EntityShape, _ flag: Bool, depth: Int) {
        self.shape = shape
        self.flag = flag
        self.depth = depth
        object = shape.objectClass.made(shape.entity, insertInto: nil)
        for slot in 0..<shape.persistentSlotCount {
            guard let value = Self.sample(shape.slots[slot].kind, flag) else { continue }
            object.setBoxedValue(value, slot: slot)
        }
        object.flags.insert(.observable)
    }

    /// The probe and those behind it.
    var chain: [KeyPathProbe] { [self] + (next?.chain ?? []) }

    /// The object is asked for a property: a relationship leads to a new probe, which is returned.
    func record(_ name: String) -> KeyPathProbe? {
        guard asked.insert(name).inserted, asked.count == 1, depth < Self.depthMaximum,
            let relationship = shape.relationship(name)
        else { return nil }
        let probe = KeyPathProbe(relationship.destination, flag, depth: depth + 1)
        next = probe
        if relationship.isToMany {
            object.addToMany(relationship, probe.object)
            return probe
        }
        // Without telling the other end: two objects that hold each other would never be freed.
        object.flags.insert(.scratch)
        object.setToOne(relationship, to: probe.object)
        object.flags.remove(.scratch)
        return probe
    }

    /// Nobody reads the object any more. A member and its owner hold each other.
    func finish() {
        object.flags.remove(.observable)
        guard let next, let name = asked.first(where: { shape.relationship($0)?.isToMany == true }),
            let relationship = shape.relationship(name)
        else { return }
        object.removeFromMany(relationship, next.object)
    }

    /// What was asked for, if what came of it is the value as it is.
    func finding(_ result: Any?) -> Finding? {
        if asked.isEmpty {
            if let id = result as? NSManagedObjectID, id === object.objectID { return Finding(name: "objectID") }
            return (result as? NSManagedObject) === object ? Finding(name: "self") : nil
        }
        guard asked.count == 1, let name = asked.first, let result else { return nil }
        switch shape.property(name) {
        case .toMany?:
            // Who asks the member for something chooses among members.
            guard let next, next.asked.isEmpty, let members = AnyElements(result), members.elements.count == 1,
                members.elements[0] as? NSManagedObject === next.object
            else { return nil }
            return Finding(name: name)
        case .slot(let slot)? where shape.slots[slot].relationshipIndex >= 0:
            guard let next else { return nil }
            if (result as? NSManagedObject) === next.object, next.asked.isEmpty { return Finding(name: name) }
            guard !next.asked.isEmpty || result is NSManagedObjectID, var rest = next.finding(result) else {
                return nil
            }
            rest.name = name + "." + rest.name
            return rest
        case .slot(let slot)?:
            let kind = shape.slots[slot].kind
            guard let expected = Self.sample(kind, flag).flatMap({ ValueConversion.converted($0, kind) }),
                ValueConversion.converted(result, kind) as? AnyHashable == expected as? AnyHashable
            else { return nil }
            return Finding(name: name, isBoolean: kind == .bool)
        default: return nil
        }
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
