import StrataLog
import StrataRuntime

// What a large save inserted, while another core lets go of it; see ``LeavingObjects``.
extension ObjectRegistry {
    /// How many objects change tables while others wait for the lock.
    private static let movedAtOnce = 256

    /// As ``becamePermanent(_:_:)`` for what a save has inserted into a store. Many objects are put aside at once, as
    /// another core is about to let go of them; ``setAside(_:)`` follows, or ``endPuttingAside()``.
    ///
    /// Thread rule: on the context's queue.
    func becamePermanent(bySaving objects: ContiguousArray<NSManagedObject>, _ storeIndex: UInt16) {
        // Custom stores are told of each object that goes.
        guard objects.count >= SaveDisposal.minimumCount, storeIndex == 1, !isPuttingAside,
            !handles.contains(where: { $0.custom != nil })
        else { return becamePermanent(objects, storeIndex) }
        isPuttingAside = true
        leaving.begin(objects.count)
        var change = PermanenceChange(objects.count)
        move(objects) { object, pointer, tables in
            guard change.apply(to: object, storeIndex) else { return false }
            if object.flags.contains(.registered) { return true }
            tables.first.set(object.ref, pointer)
            return false
        }
        locked { forgetTemporary(objects, change, &$0) }
    }

    /// Moves objects to those that are leaving, a few hundred with each lock.
    ///
    /// - Parameter isTaken: takes an object out of where it lies, under the lock; false for one that stays.
    @inline(__always)
    private func move(
        _ objects: ContiguousArray<NSManagedObject>,
        _ isTaken: (NSManagedObject, UnsafeMutableRawPointer, inout Tables) -> Bool
    ) {
        for first in stride(from: 0, to: objects.count, by: Self.movedAtOnce) {
            var moved = 0
            locked { tables in
                let isFirst = leaving.add { add in
                    objects.forEachUnretained(first..<min(objects.count, first + Self.movedAtOnce)) { object in
                        let pointer = Unmanaged.passUnretained(object).toOpaque()
                        guard isTaken(object, pointer, &tables) else { return }
                        add(object.ref, pointer)
                        moved += 1
                    }
                }
                // The shared reference, which stays until the last of them has gone.
                if isFirst { _ = Unmanaged.passRetained(self) }
            }
            // The objects' own.
            if moved > 0 { ReferenceCounts.release(self, count: moved) }
        }
    }

    /// Ends what a save has begun that is not followed by ``setAside(_:)``.
    ///
    /// Thread rule: on the context's queue.
    func endPuttingAside() {
        guard isPuttingAside else { return }
        isPuttingAside = false
        bringBack()
    }

    /// Puts the objects of the first store aside, so that those that die take a lock that nobody else asks for.
    /// ``bringBack()`` follows, on whatever thread has let go of them.
    ///
    /// Thread rule: on the context's queue.
    func setAside(_ objects: ContiguousArray<NSManagedObject>) {
        // All of them are there, unless they had permanent references before: those die as others do.
        if isPuttingAside {
            isPuttingAside = false
            return
        }
        // Custom stores are told of each object that goes.
        let isTold = handles.contains { $0.custom != nil }
        leaving.begin(isTold ? 0 : objects.count)
        if isTold { return }
        move(objects) { object, pointer, tables in
            guard object.storeIndex == 1, object.flags.contains(.registered) else { return false }
            tables.first.prefetchNext(object.ref)
            return tables.first.take(object.ref, pointer)
        }
    }

    /// Ends what ``setAside(_:)`` began: objects that are alive, because the program has them, are where all others
    /// are.
    func bringBack() {
        guard leaving.end() else { return }
        var cursor = 0
        var isLast = false
        var isDone = false
        while !isDone {
            locked { tables in
                var count = 0
                let removal = leaving.takeSome(Self.movedAtOnce, from: &cursor) { ref, object in
                    count += 1
                    // A dying one may have been replaced.
                    if tables.first.object(ref) == nil { tables.first.set(ref, object) }
                }
                // From here on they have references of their own again.
                if count > 0 { ReferenceCounts.retain(self, count: count) }
                isLast = isLast || removal == .last
                isDone = removal != .removed
            }
        }
        if isLast { Unmanaged.passUnretained(self).release() }
    }

    /// Takes out those of the objects of large saves that are still to be freed and that nobody holds any more, without
    /// looking for them one by one, and has them freed.
    ///
    /// Thread rule: on the context's queue.
    func forgetUnreleased() {
        for disposal in locked({ _ in disposals }) { SaveDisposal.free(disposal.takeUnheld(self)) }
    }

    /// Takes out those objects to which the array has the only reference, and moves them to its beginning. A weak
    /// reference may still lead to one: it is as after a reset then, and knows its ID.
    ///
    /// - Returns: how many they are.
    func forgetUnheld(_ objects: inout ContiguousArray<NSManagedObject>) -> Int {
        // Custom stores are told of each object that goes.
        if handles.contains(where: { $0.custom != nil }) { return 0 }
        var (unheld, references, isLast) = (0, 0, false)
        let contextlessRegistry = ObjectRegistry()
        contextlessRegistry.adopt(handles)
        var orphans = 0
        objects.withUnsafeMutableBufferPointer { objects in
            for first in stride(from: 0, to: objects.count, by: Self.movedAtOnce) {
                locked { tables in
                    let removal = leaving.take { take in
                        for index in first..<min(objects.count, first + Self.movedAtOnce) {
                            // Nobody finds one of them in the tables meanwhile.
                            guard isKnownUniquelyReferenced(&objects[index]) else { continue }
                            // SAFETY: the list holds the object.
                            Unmanaged.passUnretained(objects[index]).withBorrowed { object in
                                guard object.flags.contains(.registered) else { return }
                                let pointer = Unmanaged.passUnretained(object).toOpaque()
                                if object.storeIndex != 1 || !take(object.ref, pointer) {
                                    tables.with(object.storeIndex) { $0.remove(object.ref, pointer) }
                                    references += 1
                                }
                                object.registryReference = .passUnretained(contextlessRegistry)
                                orphans += 1
                                object.flags.remove(.registered)
                                object.leaveContext()
                            }
                            if unheld != index { objects.swapAt(unheld, index) }
                            unheld += 1
                        }
                    }
                    if removal == .last { isLast = true }
                }
            }
        }
        if orphans > 0 { ReferenceCounts.retain(contextlessRegistry, count: orphans) }
        if references > 0 { ReferenceCounts.release(self, count: references) }
        if isLast { Unmanaged.passUnretained(self).release() }
        return unheld
    }

    /// The object that is leaving and has this reference. Called under the lock.
    @inline(__always)
    func leavingObject(_ ref: ObjectRef, _ storeIndex: UInt16) -> UnsafeMutableRawPointer? {
        storeIndex == 1 && !leaving.isEmpty ? leaving.object(ref) : nil
    }

    /// Takes an object that is not dying out of where it lies.
    func takeOut(_ object: NSManagedObject, _ tables: inout Tables) {
        let pointer = Unmanaged.passUnretained(object).toOpaque()
        tables.with(object.storeIndex) { $0.remove(object.ref, pointer) }
        guard object.storeIndex == 1 else { return }
        switch leaving.remove(object.ref, pointer) {
        case .missing: break
        // The shared reference becomes its own.
        case .last: break
        case .removed: _ = Unmanaged.passRetained(self)
        }
    }
}
