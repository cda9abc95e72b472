/// What a transaction does to the values that must be unique.
final class UniqueChanges {
    struct Entry {
        var constraint: Int
        var ref: ObjectRef
        var hash: UInt32
        /// Where the values lie in `bytes`; empty for what is removed.
        var range: Range<Int>
        /// Whether the index has taken it.
        var isAdmitted = false
    }

    private struct Name: Hashable {
        var constraint: Int
        var ref: ObjectRef
    }

    let rules: UniqueRules
    private(set) var added: [Entry] = []
    private(set) var removed: [Entry] = []
    private var bytes: [UInt8] = []
    private var scratch: [UInt8] = []
    /// The positions of `added`; made when somebody looks for one.
    private lazy var positions = Dictionary(
        added.indices.map { (Name(constraint: added[$0].constraint, ref: added[$0].ref), $0) },
        uniquingKeysWith: { first, _ in first })
    /// Which objects give the values of which constraints up; made when somebody asks.
    private lazy var givenUp = Set(removed.map { Name(constraint: $0.constraint, ref: $0.ref) })
    /// The first error that reading a value met: rows are ended without throwing.
    private(set) var error: StoreError?

    init(_ rules: UniqueRules) {
        self.rules = rules
    }

    /// Notes the values of the row that is being written.
    func add(_ constraint: Int, _ ref: ObjectRef, openRow memory: RowMemory, in transaction: WriteTransaction) {
        let start = bytes.count
        do throws(StoreError) {
            let slots = rules.constraints[constraint].slots
            guard try UniqueKey.append(slots, ofOpenRow: memory, in: transaction, to: &bytes) else {
                bytes.removeSubrange(start...)
                return
            }
        } catch {
            self.error = self.error ?? error
            return
        }
        let hash = bytes.withUnsafeBytes { UniqueKey.hash(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        added.append(Entry(constraint: constraint, ref: ref, hash: hash, range: start..<bytes.count))
    }

    /// Notes that a stored row's values are given up.
    func remove(_ constraint: Int, _ ref: ObjectRef, _ row: Row, reading source: BlockSource) throws(StoreError) {
        scratch.removeAll(keepingCapacity: true)
        let slots = rules.constraints[constraint].slots
        guard try UniqueKey.append(slots, of: row, reading: source, to: &scratch) else { return }
        removed.append(
            Entry(constraint: constraint, ref: ref, hash: scratch.withUnsafeBytes(UniqueKey.hash), range: 0..<0))
    }

    func setAdmitted(_ index: Int, _ value: Bool) { added[index].isAdmitted = value }

    /// The position in `added` of what the transaction writes for an object.
    func position(_ constraint: Int, _ ref: ObjectRef) -> Int? { positions[Name(constraint: constraint, ref: ref)] }

    /// Whether the transaction takes from an object the values that it has in the store.
    func givesUp(_ constraint: Int, _ ref: ObjectRef) -> Bool {
        !removed.isEmpty && givenUp.contains(Name(constraint: constraint, ref: ref))
    }

    /// The constraints whose values the transaction touches.
    var constraints: Set<Int> {
        var found: Set<Int> = []
        var last = -1
        for entry in added where entry.constraint != last {
            last = entry.constraint
            found.insert(last)
        }
        for entry in removed where entry.constraint != last {
            last = entry.constraint
            found.insert(last)
        }
        return found
    }

    func values(_ entry: Entry) -> ArraySlice<UInt8> { bytes[entry.range] }
}
