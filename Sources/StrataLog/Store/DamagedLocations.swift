internal import StrataIO
internal import StrataSupport
internal import Synchronization

/// The damaged locations of a store that readers have met since it was opened.
///
/// A location that can be read again is dropped. Safe to use from any thread; the check for any damage takes no lock.
public final class DamagedLocations: Sendable {
    /// A place in a file of the store.
    public struct Spot: Sendable, Hashable {
        /// The file; nil for a segment, which its number names.
        public var path: String?
        /// The number of the segment.
        public var segment: UInt32?
        /// Bytes from the beginning of the file.
        public var offset: Int?

        init(_ error: StoreError) {
            path = error.segment == nil ? error.path : nil
            segment = error.segment
            offset = error.offset
        }

        /// The block that begins there, if one can.
        fileprivate var block: Location? {
            guard let segment, let offset, segment > 0, segment <= Location.maximumSegment, offset >= 0,
                offset % Location.alignmentBytes == 0, offset < Location.segmentMaximumBytes
            else { return nil }
            return Location(segment: segment, byteOffset: offset, row: 0)
        }
    }

    /// What is known of a place.
    public struct Entry: Sendable {
        /// Where it is.
        public var spot: Spot
        /// Why it could not be read when it was met first.
        public var error: StoreError
        /// How often it has been met.
        public var count: Int
        /// The first of the objects that it was met for.
        public var objects: [ObjectRef]
    }

    private struct State {
        var entries: [Spot: Entry] = [:]
        var order: [Spot] = []
        var blocks: Set<Location> = []
        /// Objects whose index page or large value cannot be read.
        var rows: [ObjectRef: [ExternalValue]] = [:]
        var count = 0
    }

    /// More objects of one place are counted, but not remembered by name.
    public static let objectsMaximum = 100

    private let known = Atomic<Int>(0)
    private let listener = AdaptiveMutex<(@Sendable (StoreError) -> Bool)?>(nil)
    private let state = AdaptiveMutex(State())

    /// Whether every place that was met has been readable.
    public var isEmpty: Bool { known.load(ordering: .acquiring) == 0 }

    /// How often something could not be read, places that were forgotten included.
    public var count: Int { state.withLock { $0.count } }

    /// The places, in the order in which they were met.
    public var entries: [Entry] { state.withLock { state in state.order.compactMap { state.entries[$0] } } }

    /// Remembers a place.
    ///
    /// - Parameters:
    ///   - object: whose row or value was to be read.
    ///   - value: the large value of that object which could not be read.
    /// - Returns: Whether the place was not known.
    public func record(_ error: StoreError, object: ObjectRef? = nil, value: ExternalValue? = nil) -> Bool {
        let spot = Spot(error)
        return state.withLock { state in
            state.count += 1
            let isNew = state.entries[spot] == nil
            if isNew {
                state.order.append(spot)
                if value == nil, let block = spot.block { state.blocks.insert(block) }
            }
            var entry = state.entries[spot] ?? Entry(spot: spot, error: error, count: 0, objects: [])
            entry.count += 1
            if let object {
                if entry.objects.count < Self.objectsMaximum, !entry.objects.contains(object) {
                    entry.objects.append(object)
                }
                if let value {
                    if state.rows[object]?.contains(value) != true { state.rows[object, default: []].append(value) }
                } else if spot.block == nil, state.rows[object] == nil {
                    state.rows[object] = []
                }
            }
            state.entries[spot] = entry
            known.store(state.entries.count, ordering: .releasing)
            return isNew
        }
    }

    /// Who takes note of what nobody asked about: it notes the place and returns true, or false to have it noted.
    package func listen(_ listener: @escaping @Sendable (StoreError) -> Bool) {
        self.listener.withLock { $0 = listener }
    }

    /// Something could not be read where nothing can be thrown.
    func meet(_ error: StoreError) {
        let listener = listener.withLock { $0 }
        if listener?(error) != true { _ = record(error) }
    }

    /// What to compare rows with.
    var suspects: (blocks: Set<Location>, rows: [ObjectRef: [ExternalValue]]) {
        state.withLock { ($0.blocks, $0.rows) }
    }

    /// A block can be read after all.
    func forget(_ block: Location) {
        remove { spot, state in
            guard spot.block == block else { return false }
            state.blocks.remove(block)
            return true
        }
    }

    /// An object and its large values can be read after all.
    func forget(_ object: ObjectRef, _ values: [ExternalValue]) {
        state.withLock { _ = $0.rows.removeValue(forKey: object) }
        remove { spot, state in
            let isFree = !state.rows.values.joined().contains {
                $0.segment == spot.segment && Int($0.byteOffset) == spot.offset
            }
            let isValue = values.contains { $0.segment == spot.segment && Int($0.byteOffset) == spot.offset }
            return isValue ? isFree : spot.block == nil && state.entries[spot]?.objects == [object]
        }
    }

    private func remove(where isGone: (Spot, inout State) -> Bool) {
        state.withLock { state in
            var gone: Set<Spot> = []
            for spot in state.order {
                if isGone(spot, &state) { gone.insert(spot) }
            }
            guard !gone.isEmpty else { return }
            state.order.removeAll { gone.contains($0) }
            for spot in gone { state.entries[spot] = nil }
            known.store(state.entries.count, ordering: .releasing)
        }
    }
}

extension LogStore {
    /// Looks again at the rows that lie in places which could not be read; others are passed over.
    ///
    /// - Throws: the error of the first row that still cannot be read.
    /// - Complexity: O(1) while no place is known; otherwise O(n), reading the places that are known once each.
    public func checkDamage(
        of refs: some Sequence<ObjectRef>, in snapshot: Snapshot
    ) throws(StoreError) {
        if damage.isEmpty { return }
        let (blocks, rows) = damage.suspects
        var sound: Set<Location> = []
        for ref in refs {
            let location = try snapshot.locate(ref)
            if location.isAbsent { continue }
            if blocks.contains(location.block), sound.insert(location.block).inserted {
                let block = try snapshot.block(at: location)
                try block.verify()
                // One that a forger has sealed is found out only so.
                for slot in 0..<block.slotCount { _ = try block.column(slot) }
                damage.forget(location.block)
            }
            guard let values = rows[ref] else { continue }
            for value in values { _ = try read(value) }
            damage.forget(ref, values)
        }
    }
}
