internal import Synchronization

extension ObjectIndex {
    /// Calls the body with the present keys from `first` up to, not including, `end`, as maximal runs of neighbouring
    /// rows with ascending keys. False stops.
    ///
    /// - Throws: what the body throws, and `.io` or `.corruption` when a page cannot be read from the checkpoint.
    /// - Complexity: O(runs + pages), full and sparse pages key by key.
    package func forEachRun(
        from first: UInt64 = 0, to end: UInt64 = .max, _ body: (RowRun) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try forEachRun(from: first, to: end, in: nil, body)
    }

    /// As ``forEachRun(from:to:_:)`` for the rows in some segments (nil: in all).
    func forEachRun(
        from first: UInt64 = 0, to end: UInt64 = .max, in segments: SegmentSet?,
        _ body: (RowRun) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var joiner = RunJoiner(first: first, end: end)
        var stopped = false
        try forEachPage(from: first, to: end) { (slot, key) throws(StoreError) in
            if try visit(slot, firstKey: key, in: segments, &joiner, body) { return true }
            stopped = true
            return false
        }
        if !stopped, let last = joiner.pending { _ = try body(last) }
    }

    /// Counts the rows in each segment.
    ///
    /// - Throws: `.io` or `.corruption` when a page cannot be read from the checkpoint.
    /// - Complexity: O(runs + pages), full pages key by key.
    func countRows(into tally: inout SegmentTally) throws(StoreError) {
        try forEachPage(from: 0, to: .max) { slot, _ in
            if slot == 0 { return true }
            let node = IndexNode.pointer(slot)
            if slot & IndexNode.runsTag == 0 {
                let values = IndexNode.values(node)
                for index in 0..<IndexNode.keysPerPage where values[index] != 0 { tally.add(1, at: values[index]) }
                return true
            }
            if slot & IndexNode.tagMask == IndexNode.sparseTag {
                let locations = IndexSparse.locations(node)
                for index in 0..<IndexSparse.count(node) { tally.add(1, at: locations[index]) }
                return true
            }
            let count = IndexRuns.count(node)
            let starts = IndexRuns.starts(node)
            let locations = IndexRuns.locations(node)
            for run in 0..<count where locations[run] != 0 {
                let end = run + 1 < count ? Int(starts[run + 1]) : IndexNode.keysPerPage
                tally.add(end - Int(starts[run]), at: locations[run])
            }
            return true
        }
    }

    /// Calls the body with the slot and the first key of each page, until it returns false.
    private func forEachPage(
        from first: UInt64, to end: UInt64, _ body: (UInt, UInt64) throws(StoreError) -> Bool
    ) throws(StoreError) {
        defer { withExtendedLifetime(self) {} }
        try tree.forEachDirectory(from: first) { (directory, firstPage) throws(StoreError) in
            let lowest = max(first >> IndexNode.pageBits, firstPage) - firstPage
            for index in Int(lowest)..<IndexNode.fanout {
                let page = firstPage + UInt64(index)
                let key = page << IndexNode.pageBits
                if key >= end { return false }
                var slot = IndexNode.slot(directory, index).pointee.load(ordering: .acquiring)
                if slot == IndexNode.lazy { slot = try pages.load(directory, pageNumber: page) }
                if try !body(slot, key) { return false }
            }
            return true
        }
    }

    private func visit(
        _ slot: UInt, firstKey: UInt64, in segments: SegmentSet?, _ joiner: inout RunJoiner,
        _ body: (RowRun) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        if slot == 0 { return true }
        let node = IndexNode.pointer(slot)
        if slot & IndexNode.tagMask == IndexNode.sparseTag {
            let values = UnsafeMutablePointer<UInt64>.allocate(capacity: IndexNode.keysPerPage)
            defer { values.deallocate() }
            IndexSparse.unpack(node, into: values)
            return try visit(values, firstKey: firstKey, in: segments, &joiner, body)
        }
        if slot & IndexNode.runsTag != 0 {
            let count = IndexRuns.count(node)
            let starts = IndexRuns.starts(node)
            let locations = IndexRuns.locations(node)
            for run in 0..<count where locations[run] != 0 {
                if let segments, !segments.contains(location: locations[run]) { continue }
                let end = run + 1 < count ? Int(starts[run + 1]) : IndexNode.keysPerPage
                let piece = RowRun(
                    firstKey: firstKey + UInt64(starts[run]), count: end - Int(starts[run]),
                    location: Location(rawValue: locations[run]))
                if try !joiner.add(piece, body) { return false }
            }
            return true
        }
        return try visit(IndexNode.values(node), firstKey: firstKey, in: segments, &joiner, body)
    }

    /// The runs of 512 locations.
    private func visit(
        _ values: UnsafePointer<UInt64>, firstKey: UInt64, in segments: SegmentSet?, _ joiner: inout RunJoiner,
        _ body: (RowRun) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        var start = 0
        while start < IndexNode.keysPerPage {
            guard values[start] != 0, segments?.contains(location: values[start]) != false else {
                start += 1
                continue
            }
            var end = start + 1
            while end < IndexNode.keysPerPage, values[end] == values[end - 1] &+ 1 { end += 1 }
            let piece = RowRun(
                firstKey: firstKey + UInt64(start), count: end - start, location: Location(rawValue: values[start]))
            if try !joiner.add(piece, body) { return false }
            start = end
        }
        return true
    }
}

/// Cuts runs to a range of keys and joins those that continue each other, within one block.
private struct RunJoiner {
    let first: UInt64
    let end: UInt64
    var pending: RowRun?

    /// Calls the body when a run is complete; false when the body stopped.
    mutating func add(_ piece: RowRun, _ body: (RowRun) throws(StoreError) -> Bool) throws(StoreError) -> Bool {
        var run = piece
        if run.firstKey < first {
            let skipped = min(first - run.firstKey, UInt64(run.count))
            run.firstKey += skipped
            run.count -= Int(skipped)
            run.location.rawValue &+= skipped
        }
        if run.firstKey < end, end - run.firstKey < UInt64(run.count) { run.count = Int(end - run.firstKey) }
        guard run.count > 0, run.firstKey < end else { return true }
        // Locations are added up as plain integers; a run may not go on in the next block.
        let rowsLeft = 0x1_0000 - run.location.row
        if run.count > rowsLeft {
            let rest = RowRun(
                firstKey: run.firstKey + UInt64(rowsLeft), count: run.count - rowsLeft,
                location: Location(rawValue: run.location.rawValue &+ UInt64(rowsLeft)))
            run.count = rowsLeft
            guard try join(run, body) else { return false }
            return try join(rest, body)
        }
        return try join(run, body)
    }

    private mutating func join(
        _ run: RowRun, _ body: (RowRun) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        guard let earlier = pending else {
            pending = run
            return true
        }
        if earlier.firstKey + UInt64(earlier.count) == run.firstKey,
            earlier.location.rawValue &+ UInt64(earlier.count) == run.location.rawValue,
            earlier.location.block == run.location.block
        {
            pending = RowRun(
                firstKey: earlier.firstKey, count: earlier.count + run.count, location: earlier.location)
            return true
        }
        pending = run
        return try body(earlier)
    }
}
