import StrataLog
import StrataRuntime

// Objects for many references at once, as fetches and to-many relationships give them.
extension ObjectRegistry {
    /// The objects for references into one store, in their order; makes faults of those that are not registered. A
    /// reference to an entity that the store does not have is left out.
    ///
    /// - Complexity: O(n), taking the lock twice.
    func objects(_ refs: [ObjectRef], _ storeIndex: UInt16, handle: StoreHandle) -> [NSManagedObject] {
        if refs.isEmpty { return [] }
        return [NSManagedObject](unsafeUninitializedCapacity: refs.count) { buffer, count in
            guard let base = buffer.baseAddress else { return }
            let places = ReferenceLayout.elements(base, capacity: refs.count)
            count = refs.withUnsafeBufferPointer { fill(places, $0, storeIndex, handle) }
        }
    }

    /// Writes the objects for references into one store to `places`, each with a reference for the caller.
    ///
    /// - Returns: how many there are.
    func fill(
        _ places: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>, _ refs: UnsafeBufferPointer<ObjectRef>,
        _ storeIndex: UInt16, _ handle: StoreHandle
    ) -> Int {
        let missing = locked { tables in
            tables.with(storeIndex) { table in
                var missing = 0
                for index in refs.indices {
                    let known = table.object(refs[index]).flatMap {
                        ReferenceCounts.retainUnlessDying($0, as: NSManagedObject.self)
                    }
                    (places + index).initialize(to: known)
                    if known == nil { missing += 1 }
                }
                if missing > 0, storeIndex == 1, !leaving.isEmpty { missing -= fillFromLeaving(places, refs) }
                return missing
            }
        }
        return missing == 0 ? refs.count : makeFaults(missing, places, refs, storeIndex, handle)
    }

    /// Fills gaps with objects that are leaving. Called under the lock.
    ///
    /// - Returns: how many there were.
    private func fillFromLeaving(
        _ places: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>, _ refs: UnsafeBufferPointer<ObjectRef>
    ) -> Int {
        var count = 0
        leaving.look { object in
            for index in refs.indices where places[index] == nil {
                places[index] = object(refs[index]).flatMap {
                    ReferenceCounts.retainUnlessDying($0, as: NSManagedObject.self)
                }
                if places[index] != nil { count += 1 }
            }
        }
        return count
    }

    /// Fills the gaps with faults. The lock is not held, as a class may have an initialiser of its own.
    private func makeFaults(
        _ missing: Int, _ places: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>,
        _ refs: UnsafeBufferPointer<ObjectRef>, _ storeIndex: UInt16, _ handle: StoreHandle
    ) -> Int {
        // Counting references one by one would take longer than all else.
        let own = Unmanaged.passUnretained(self)
        ReferenceCounts.retain(self, count: missing)
        var maker = FaultMaker(handle, missing)
        let made = UnsafeMutablePointer<Unmanaged<NSManagedObject>>.allocate(capacity: missing)
        defer { made.deallocate() }
        let flags = registrationFlags
        var (count, madeCount) = (0, 0)
        for index in refs.indices {
            if let known = places[index] {
                places[count] = known
                count += 1
                continue
            }
            guard let object = maker.make(refs[index]) else { continue }
            object.withBorrowed { object in
                object.ref = refs[index]
                object.storeIndex = storeIndex
                object.registryReference?.release()
                object.registryReference = own
                object.flags.formUnion(flags)
                // Where a batch of these finds it.
                object.row = UInt32(truncatingIfNeeded: index)
            }
            (made + madeCount).initialize(to: object)
            madeCount += 1
            places[count] = object
            count += 1
        }
        maker.finish()
        if madeCount < missing { ReferenceCounts.release(self, count: missing - madeCount) }
        locked { tables in
            tables.with(storeIndex) { table in
                table.reserve(madeCount)
                for index in 0..<madeCount {
                    table.set(made[index].withBorrowed { $0.ref }, made[index].toOpaque())
                }
            }
        }
        if let custom = handle.custom { custom.didRegister((0..<madeCount).map { made[$0].takeUnretainedValue() }) }
        return count
    }
}

/// Makes objects without values, most of which are of one entity.
///
/// Every initialiser gives up a reference to the entity, which all threads count: they are taken many at a time.
private struct FaultMaker {
    private let handle: StoreHandle
    /// How many objects are still to be made, at most.
    private var left: Int
    private var number: UInt16 = 0
    private var objectClass = NSManagedObject.self
    private var entity: Unmanaged<NSEntityDescription>?
    /// How many references to the entity have been taken and not been given to an initialiser.
    private var taken = 0

    private static let takenAtOnce = 256

    init(_ handle: StoreHandle, _ count: Int) {
        self.handle = handle
        left = count
    }

    /// A new object with a reference for the caller; nil if the store does not have the entity.
    mutating func make(_ ref: ObjectRef) -> Unmanaged<NSManagedObject>? {
        if ref.entity != number || entity == nil {
            finish()
            guard let shape = handle.map.shape(ref.entity) else { return nil }
            (number, objectClass, entity) = (ref.entity, shape.objectClass, .passUnretained(shape.entity))
        }
        guard let entity else { return nil }
        if taken == 0 {
            taken = min(max(left, 1), Self.takenAtOnce)
            ReferenceCounts.retain(entity, count: taken)
        }
        taken -= 1
        left -= 1
        return .passRetained(objectClass.init(entity: entity.takeRetainedValue(), insertInto: nil))
    }

    /// Gives up the references that were taken in vain.
    mutating func finish() {
        if let entity, taken > 0 { ReferenceCounts.release(entity, count: taken) }
        (entity, taken) = (nil, 0)
    }
}
