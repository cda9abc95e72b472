import StrataLog

/// Rows in the order of some columns, the first so many of them. Equal ones keep the order of their keys.
///
/// With a limit, rows are selected as they come, and put in order at the end: only those of the window, so that a page
/// far into an order costs little more than the first. Without one, each part is sorted where it is read, on any
/// processor.
package struct SortedRows {
    package struct Entry {
        /// Of the first column.
        package var code: UInt64
        package var ref: ObjectRef
        /// Of ``SortedRows/parts``.
        package var part: Int32
        package var row: Int32
    }

    /// Compares entries by what is sorted by. A copy of what it takes, since to ask the rows themselves, which change,
    /// would copy all of them for each comparison.
    private struct Comparison {
        let orders: [ValueOrder]
        let columns: [ColumnView]

        @inline(__always)
        func precedes(_ left: Entry, _ right: Entry) -> Bool {
            left.code != right.code ? left.code < right.code : precedesByColumns(left, right)
        }

        @inline(never)
        private func precedesByColumns(_ left: Entry, _ right: Entry) -> Bool {
            for index in (orders[0].isExact(left.code) ? 1 : 0)..<orders.count {
                let order = orders[index].order(
                    columns[Int(left.part) * orders.count + index], Int(left.row),
                    columns[Int(right.part) * orders.count + index], Int(right.row))
                if order != 0 { return order < 0 }
            }
            return left.ref.key < right.ref.key
        }
    }

    private let sorts: [ComputedSort]
    private let limit: Int
    private let control: RequestControl?
    package private(set) var parts: [ScanPart] = []
    /// For each part those of the columns sorted by, one behind the other.
    private var columns: [ColumnView] = []
    /// For each column what it lies in, if not in its part.
    private var owners: [ColumnChunk?] = []
    /// With a limit: what may be among the first, in no order.
    private var entries: [Entry] = []
    /// Without one: each in order, and nothing twice.
    private var lists: [[Entry]] = []
    /// What comes later than this cannot be among the first.
    package private(set) var bound: UInt64?
    /// So many parts were left by the last selection.
    private var selectedParts = 0

    package init(_ sorts: [ComputedSort], limit: Int, _ control: RequestControl? = nil) {
        self.control = control
        self.sorts = sorts
        self.limit = limit
    }

    private var isLimited: Bool { limit < Int.max }

    /// Of the parts that there are now.
    private var comparison: Comparison { Comparison(orders: sorts.map(\.order), columns: columns) }

    /// Takes in the matches of a row group.
    ///
    /// - Parameter bound: see ``bound``; of an earlier part.
    /// - Throws: `NotCompiled` when values are too long to be compared together.
    package mutating func add(_ rowGroup: ScannedRowGroup, bound: UInt64?) throws {
        var entries: [Entry] = []
        var bound = bound ?? .max
        let firsts = try leaveOutLateRows(of: rowGroup, &bound)
        let most = mostKept
        columns.reserveCapacity(rowGroup.parts.count * sorts.count)
        // Nothing is computed of parts without matches, and nothing twice.
        var numbers = [Int32](repeating: -1, count: rowGroup.parts.count)
        for index in numbers.indices where rowGroup.count(inPart: index) > 0 {
            numbers[index] = Int32(parts.count)
            parts.append(rowGroup.parts[index])
            for (place, sort) in sorts.enumerated() {
                let known = place == 0 ? firsts?[index] : nil
                let column = try known ?? rowGroup.column(sort.expression, ofPart: index)
                columns.append(column.view)
                owners.append(column.chunk)
            }
        }
        let first = sorts[0].order
        let (comparison, columns, sortCount) = (comparison, columns, sorts.count)
        // The last of as many as are wanted.
        var last: Entry?
        try rowGroup.forEachRef { index, row, ref in
            let part = numbers[index]
            let code = first.code(columns[Int(part) * sortCount], row)
            if code > bound { return }
            let entry = Entry(code: code, ref: ref, part: part, row: Int32(row))
            // Texts may all begin alike, and so have one code.
            if let last, code == last.code, !comparison.precedes(entry, last) { return }
            entries.append(entry)
            if entries.count >= most {
                try control?.checkRead()
                entries.keepFirst(limit) { comparison.precedes($0, $1) }
                last = entries.last
                bound = min(bound, last?.code ?? .max)
            }
        }
        if isLimited {
            try control?.checkRead()
            entries.keepFirst(limit) { comparison.precedes($0, $1) }
            self.entries = entries
            forgetUnusedParts()
        } else {
            var pace = ControlPace(control, every: Self.comparisonsPerCheck)
            try entries.sort { left, right in
                try pace.step()
                return comparison.precedes(left, right)
            }
            lists = [entries]
        }
    }

    /// So many rows are kept before the first of them are selected, so that they are few when few are wanted.
    private var mostKept: Int { limit > Int.max / 4 ? Int.max : limit * 2 + 1_024 }

    /// Removes those rows from the matches that come too late by the first column alone, so that what the others are
    /// computed of is looked up for no more than what may be wanted.
    ///
    /// - Parameter bound: codes behind it come too late; is lowered.
    /// - Returns: The first column of each part; nil if nothing has been left out.
    private func leaveOutLateRows(of rowGroup: ScannedRowGroup, _ bound: inout UInt64) throws -> [ComputedColumn]? {
        guard limit > 0, limit < rowGroup.count, sorts.dropFirst().contains(where: { $0.expression.plainSlot == nil })
        else { return nil }
        let order = sorts[0].order
        let firsts = try rowGroup.parts.indices.map { try rowGroup.column(sorts[0].expression, ofPart: $0) }
        var codes = FirstCodes(limit: limit, most: mostKept, bound: bound)
        for part in firsts.indices {
            let view = firsts[part].view
            rowGroup.forEachRow(inPart: part) { codes.add(order.code(view, $0)) }
        }
        codes.select()
        bound = codes.bound
        for part in firsts.indices {
            let (view, bound) = (firsts[part].view, bound)
            rowGroup.filter(inPart: part) { order.code(view, $0) <= bound }
        }
        return firsts
    }

    /// Finds the code behind which no row is among the first ones.
    private struct FirstCodes {
        private let limit: Int
        private let most: Int
        private(set) var bound: UInt64
        private var codes: [UInt64] = []

        init(limit: Int, most: Int, bound: UInt64) {
            self.limit = limit
            self.most = most
            self.bound = bound
        }

        @inline(__always)
        mutating func add(_ code: UInt64) {
            if code > bound { return }
            codes.append(code)
            if codes.count >= most { select() }
        }

        mutating func select() {
            codes.keepFirst(limit, by: <)
            if codes.count == limit { bound = min(bound, codes[limit - 1]) }
        }
    }

    /// Whether nothing but their keys tells two entries apart.
    func areAlike(_ left: Entry, _ right: Entry) -> Bool {
        guard left.code == right.code else { return false }
        return sorts.indices.allSatisfy { index in
            sorts[index].order.order(
                columns[Int(left.part) * sorts.count + index], Int(left.row),
                columns[Int(right.part) * sorts.count + index], Int(right.row)) == 0
        }
    }

    private static let comparisonsPerCheck = 4_096

    /// Takes in another part; the parts come in any order.
    package mutating func merge(_ other: SortedRows) throws {
        let offset = Int32(parts.count)
        func moved(_ entry: Entry) -> Entry {
            var entry = entry
            entry.part += offset
            return entry
        }
        parts += other.parts
        columns += other.columns
        owners += other.owners
        for list in other.lists where !list.isEmpty { lists.append(list.map(moved)) }
        entries += other.entries.lazy.map(moved)
        guard isLimited, entries.count >= limit, isSelectionDue else { return }
        try select(limit)
        bound = entries.last?.code
        forgetUnusedParts()
        selectedParts = parts.count
    }

    /// Leaves the first so many entries, the last of them last; or the last so many.
    private mutating func select(_ count: Int, last: Bool = false) throws {
        try control?.checkRead()
        var entries: [Entry] = []
        swap(&entries, &self.entries)
        let comparison = comparison
        if last {
            entries.keepFirst(count) { comparison.precedes($1, $0) }
        } else {
            entries.keepFirst(count) { comparison.precedes($0, $1) }
        }
        self.entries = entries
    }

    /// At once when there are enough for a bound; then whenever half as many have come again, so that a row is looked
    /// at a few times in all, and before many parts are kept for a few rows each.
    private var isSelectionDue: Bool {
        bound == nil || entries.count - limit > limit / 2 || parts.count - selectedParts > Self.partsPerSelection
    }

    private static let partsPerSelection = 32

    private mutating func mergeLists() throws {
        let comparison = comparison
        while lists.count > 1 {
            var merged: [[Entry]] = []
            for index in stride(from: 0, to: lists.count, by: 2) {
                merged.append(
                    index + 1 < lists.count ? try self.merged(lists[index], lists[index + 1], comparison) : lists[index]
                )
            }
            lists = merged
        }
    }

    private func merged(_ left: [Entry], _ right: [Entry], _ comparison: Comparison) throws -> [Entry] {
        let count = left.count + right.count
        var result: [Entry] = []
        result.reserveCapacity(count)
        var (a, b) = (0, 0)
        var pace = ControlPace(control, every: Self.comparisonsPerCheck)
        while result.count < count {
            try pace.step()
            if b == right.count || a < left.count && comparison.precedes(left[a], right[b]) {
                result.append(left[a])
                a += 1
            } else {
                result.append(right[b])
                b += 1
            }
        }
        return result
    }

    private mutating func forgetUnusedParts() {
        var numbers = [Int32](repeating: -1, count: parts.count)
        var (keptParts, keptColumns): ([ScanPart], [ColumnView]) = ([], [])
        var keptOwners: [ColumnChunk?] = []
        for index in entries.indices {
            let old = Int(entries[index].part)
            if numbers[old] < 0 {
                numbers[old] = Int32(keptParts.count)
                keptParts.append(parts[old])
                let range = old * sorts.count..<(old + 1) * sorts.count
                keptColumns += columns[range]
                keptOwners += owners[range]
            }
            entries[index].part = numbers[old]
        }
        (parts, columns, owners) = (keptParts, keptColumns, keptOwners)
    }

    /// The rows in order, without the first `offset`.
    package mutating func finish(offset: Int) throws -> ArraySlice<Entry> {
        guard isLimited else {
            try mergeLists()
            return (lists.first ?? []).dropFirst(offset)
        }
        try select(limit)
        guard entries.count > offset else { return [] }
        if offset > 0 { try select(entries.count - offset, last: true) }
        var entries = entries
        self.entries = []
        let comparison = comparison
        var pace = ControlPace(control, every: Self.comparisonsPerCheck)
        try entries.sort { left, right in
            try pace.step()
            return comparison.precedes(left, right)
        }
        return entries[...]
    }
}
