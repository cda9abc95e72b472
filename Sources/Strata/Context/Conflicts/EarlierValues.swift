/// The unsaved values that objects had before the current event.
///
/// What an object was before its first change is in its row. Only one that changes in a further event before it is
/// saved needs more, and only for what the earlier events have changed.
struct EarlierValues {
    /// By object and slot; nil for null. The objects are in the context's event, which keeps them alive.
    private var current: [ObjectIdentifier: [Int: Any?]] = [:]
    /// The same for the event that is being reported.
    private var reported: [ObjectIdentifier: [Int: Any?]] = [:]

    /// Keeps what earlier events have set, before the object's first change in this one.
    ///
    /// - Complexity: O(n) in the object's properties.
    mutating func keep(_ object: NSManagedObject) {
        guard let overlay = object.overlay else { return }
        let shape = object.shape
        var values: [Int: Any?] = [:]
        for slot in 0..<shape.persistentSlotCount where overlay.isDirty(slot) && !shape.slots[slot].isHidden {
            values[slot] = .some(overlay.isNull(slot) ? nil : overlay.boxed(shape.codes[slot]))
        }
        current[ObjectIdentifier(object)] = values
    }

    /// The values by slot, nil for null; of the current event or else of the one that is being reported.
    func values(of object: NSManagedObject) -> [Int: Any?] {
        let key = ObjectIdentifier(object)
        return current[key] ?? reported[key] ?? [:]
    }

    /// The event is over, and is about to be reported.
    mutating func beginReport() {
        reported = current
        current = [:]
    }

    mutating func endReport() { reported = [:] }

    /// Forgets the current event.
    mutating func forgetEvent() { current = [:] }

    /// Forgets an object that leaves the context: another one may come to lie at its address.
    mutating func forget(_ object: NSManagedObject) { current[ObjectIdentifier(object)] = nil }
}
