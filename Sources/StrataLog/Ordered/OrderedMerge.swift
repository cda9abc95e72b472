/// A place in a list, going up or down from entry to entry.
struct OrderedCursor {
    private let list: OrderedList
    private var block: OrderedBlock
    private var blockIndex: Int
    private var index: Int
    /// The entry it stands at; valid as long as the cursor stays in the block.
    private(set) var entry: UnsafeRawBufferPointer
    /// The entry's first eight bytes: most comparisons end with them.
    private(set) var code: UInt64

    private init(_ list: OrderedList, _ block: OrderedBlock, _ blockIndex: Int, _ index: Int) {
        self.list = list
        self.block = block
        self.blockIndex = blockIndex
        self.index = index
        entry = block.entry(index)
        code = Self.code(entry)
    }

    /// At the first entry that is not before `lower`; nil when there is none before `upper`.
    static func first(
        in list: OrderedList, from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer?
    ) throws(StoreError) -> OrderedCursor? {
        guard list.mayMeet(lower, upper) else { return nil }
        let position = try list.lowerBound(lower)
        guard position.block < list.blockCount else { return nil }
        let cursor = OrderedCursor(list, try list.block(position.block), position.block, position.index)
        if let upper, OrderedBytes.compare(cursor.entry, upper) >= 0 { return nil }
        return cursor
    }

    /// At the last entry before `upper`; nil when it is before `lower`.
    static func last(
        in list: OrderedList, from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer?
    ) throws(StoreError) -> OrderedCursor? {
        guard list.mayMeet(lower, upper) else { return nil }
        var position = OrderedList.Position(block: list.blockCount, index: 0)
        if let upper { position = try list.lowerBound(upper) }
        if position.index == 0 {
            guard position.block > 0 else { return nil }
            position.block -= 1
            position.index = try list.block(position.block).count
        }
        let cursor = OrderedCursor(list, try list.block(position.block), position.block, position.index - 1)
        return OrderedBytes.compare(cursor.entry, lower) < 0 ? nil : cursor
    }

    private static func code(_ entry: UnsafeRawBufferPointer) -> UInt64 {
        if entry.count >= 8 { return UInt64(bigEndian: entry.loadUnaligned(as: UInt64.self)) }
        return 0
    }

    var net: Int { block.isRemoval(index) ? -1 : 1 }

    /// Goes to the next entry up, or down; false behind the last, where it stays.
    mutating func advance(descending: Bool) throws(StoreError) -> Bool {
        if descending {
            if index == 0 {
                guard blockIndex > 0 else { return false }
                block = try list.block(blockIndex - 1)
                blockIndex -= 1
                index = block.count
            }
            index -= 1
        } else {
            index += 1
            if index == block.count {
                index -= 1
                guard blockIndex + 1 < list.blockCount else { return false }
                block = try list.block(blockIndex + 1)
                blockIndex += 1
                index = 0
            }
        }
        entry = block.entry(index)
        code = Self.code(entry)
        return true
    }

    /// Hands out this entry and those after it, but for those that take others away, up to the first that is not before
    /// `upper`.
    ///
    /// - Returns: false when the body stopped it.
    func forEach(
        before upper: UnsafeRawBufferPointer?, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        var (block, blockIndex, index) = (block, blockIndex, index)
        while true {
            let end = upper.map { block.lowerBound($0) } ?? block.count
            while index < end {
                if !block.isRemoval(index), try !body(block.entry(index)) { return false }
                index += 1
            }
            guard end == block.count, blockIndex + 1 < list.blockCount else { return true }
            blockIndex += 1
            block = try list.block(blockIndex)
            index = 0
        }
    }

    @inline(__always)
    func order(_ other: OrderedCursor) -> Int {
        if code != other.code { return code < other.code ? -1 : 1 }
        return OrderedBytes.compare(entry, other.entry)
    }
}

/// The entries of several lists in order, each once, with how often it is added less how often it is removed.
struct OrderedMerge {
    private let isDescending: Bool
    private var cursors: [OrderedCursor] = []
    /// Those that stand at the entry handed out last.
    private var used: [Int] = []
    private let lower: [UInt8]
    private let upper: [UInt8]?

    init(_ lists: [OrderedList], in range: OrderedRange = .all, descending: Bool = false) throws(StoreError) {
        isDescending = descending
        lower = range.lower
        upper = range.upper
        for list in lists {
            let cursor = try lower.withBytes { lower throws(StoreError) in
                guard let upper = range.upper else {
                    return try descending
                        ? OrderedCursor.last(in: list, from: lower, to: nil)
                        : OrderedCursor.first(in: list, from: lower, to: nil)
                }
                return try upper.withBytes { upper throws(StoreError) in
                    try descending
                        ? OrderedCursor.last(in: list, from: lower, to: upper)
                        : OrderedCursor.first(in: list, from: lower, to: upper)
                }
            }
            if let cursor { cursors.append(cursor) }
        }
    }

    private func isInside(_ entry: UnsafeRawBufferPointer) -> Bool {
        if isDescending { return lower.withUnsafeBytes { OrderedBytes.compare(entry, $0) >= 0 } }
        guard let upper else { return true }
        return upper.withUnsafeBytes { OrderedBytes.compare(entry, $0) < 0 }
    }

    /// The one list that has entries in the range: nothing in it need be compared with others. Nil when there are more,
    /// or none.
    var only: OrderedCursor? { cursors.count == 1 ? cursors[0] : nil }

    /// The next entry and its sum, which may be 0; nil behind the last. The entry is valid until the next call.
    mutating func next() throws(StoreError) -> (entry: UnsafeRawBufferPointer, net: Int)? {
        for index in used.reversed() {
            let isThere = try cursors[index].advance(descending: isDescending) && isInside(cursors[index].entry)
            if !isThere { cursors.remove(at: index) }
        }
        used.removeAll(keepingCapacity: true)
        guard !cursors.isEmpty else { return nil }
        used.append(0)
        if cursors.count == 1 { return (cursors[0].entry, cursors[0].net) }
        var best = 0
        for index in cursors.indices.dropFirst() {
            let order = cursors[index].order(cursors[best])
            if order == 0 {
                used.append(index)
            } else if (order < 0) != isDescending {
                best = index
                used.removeAll(keepingCapacity: true)
                used.append(index)
            }
        }
        var net = 0
        for index in used { net += cursors[index].net }
        return (cursors[best].entry, net)
    }

    /// All entries that are left, as one list.
    static func merged(_ lists: [OrderedList]) throws(StoreError) -> OrderedList {
        var merge = try OrderedMerge(lists)
        let builder = OrderedListBuilder()
        while let (entry, net) = try merge.next() { builder.append(entry, net: net) }
        return builder.finish(isInexact: lists.contains { $0.isInexact })
    }
}
