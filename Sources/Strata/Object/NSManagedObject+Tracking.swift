extension NSManagedObject {
    /// Runs what an awake method does: what it sets is no change.
    final func withoutChangeTracking(_ body: () -> Void) {
        let isNested = flags.contains(.awaking)
        flags.insert(.awaking)
        let marks = overlay?.changeMarks(shape)
        body()
        overlay?.restoreChangeMarks(shape, marks)
        if !isNested { flags.remove(.awaking) }
    }

    /// Forgets which properties changed in the event that is over.
    final func endEvent() {
        overlay?.clearEvent(summary)
        if !toMany.isEmpty { for state in toMany { state?.endEvent() } }
    }
}

extension Overlay {
    /// Which slots are dirty and which were changed in this event; nil if none.
    func changeMarks(_ shape: EntityShape) -> [(dirty: UInt64, event: UInt64)]? {
        let marks = (0..<shape.groupCount).map { index in
            let words = group(index * 64)
            return (dirty: words[2], event: words[3])
        }
        return marks.contains { $0.dirty | $0.event != 0 } ? marks : nil
    }

    func restoreChangeMarks(_ shape: EntityShape, _ marks: [(dirty: UInt64, event: UInt64)]?) {
        guard let marks else { return clearDirty(shape.summary) }
        for (index, mark) in marks.enumerated() {
            let words = group(index * 64)
            words[2] = mark.dirty
            words[3] = mark.event
        }
    }
}
