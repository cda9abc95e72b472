import Foundation

/// The dictionary that a batch insert hands to its handler, object after object.
///
/// Values lie by slot. `NSMutableDictionary` itself makes an object of each key and each value and hashes keys as
/// UTF-16, which took most of an insert's time. Programs set the same keys in the same order for each object, so a key
/// is first compared with the one that followed the last key before.
final class BatchDictionary: NSMutableDictionary {
    private var names: [String] = []
    private var slots: [String: Int] = [:]
    /// By slot; nil for what is not set.
    private var values: [Any?] = []
    /// By slot, and in the end of what is set first: the slot that was set after it, or -1.
    private var following = [-1]
    private var last = 0
    private var setCount = 0
    /// Under keys that name no attribute or to-one relationship.
    private var others: [AnyHashable: Any] = [:]

    convenience init(_ shape: EntityShape) {
        self.init()
        names = shape.slots.map(\.name)
        for (slot, info) in shape.slots.enumerated() where !info.isHidden { slots[info.name] = slot }
        values = Array(repeating: nil, count: names.count)
        following = Array(repeating: -1, count: names.count + 1)
        last = names.count
    }

    required init(objects: UnsafePointer<AnyObject>!, forKeys keys: UnsafePointer<NSObject>!, count: Int) {
        super.init(objects: nil, forKeys: nil, count: 0)
        for index in 0..<count { setObject(objects[index], forKey: keys[index]) }
    }

    /// The value of a slot, as it was given.
    func value(inSlot slot: Int) -> Any? { values[slot] }

    /// Removes all values.
    func clear() {
        if setCount > 0 {
            for slot in values.indices where values[slot] != nil { values[slot] = nil }
            setCount = 0
        }
        if !others.isEmpty { others = [:] }
        last = names.count
    }

    /// The slot that a key names.
    private func slot<Key>(of key: Key) -> Int? {
        if Key.self == String.self { return slot(named: ExactValue.same(key, as: String.self)) }
        return (key as? String).flatMap { slot(named: $0) }
    }

    private func slot(named name: String) -> Int? {
        let expected = following[last]
        if expected >= 0, names[expected] == name { return expected }
        return slots[name]
    }

    // MARK: NSMutableDictionary

    override var count: Int { setCount + others.count }

    override func object(forKey key: Any) -> Any? {
        if let slot = slot(of: key) { return values[slot] }
        return (key as? AnyHashable).flatMap { others[$0] }
    }

    override func setObject(_ object: Any, forKey key: AnyHashable) {
        guard let slot = slot(of: key.base) else {
            others[key] = object
            return
        }
        if values[slot] == nil { setCount += 1 }
        values[slot] = object
        following[last] = slot
        last = slot
    }

    override func removeObject(forKey key: Any) {
        guard let slot = slot(of: key) else {
            if let key = key as? AnyHashable { others[key] = nil }
            return
        }
        if values[slot] != nil { setCount -= 1 }
        values[slot] = nil
    }

    override func keyEnumerator() -> NSEnumerator {
        let set = values.indices.filter { values[$0] != nil }.map { names[$0] as Any }
        return NSArray(array: set + others.keys.map(\.base)).objectEnumerator()
    }
}
