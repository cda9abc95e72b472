import StrataSchema

extension ScanPool {
    /// Makes a value of each number below a count, on several threads, in the order of the numbers: parts of the work
    /// of one request.
    ///
    /// - Parameters:
    ///   - control: what stops the request; asked before each value.
    ///   - make: called on any thread; must not change anything that several calls share.
    @inlinable
    package func map<Part>(
        _ count: Int, _ control: RequestControl?, _ make: (Int) throws -> Part
    ) -> [Result<Part, any Error>] {
        let budget = EvaluationWork.current?.stepsLeft
        return [Result<Part, any Error>](unsafeUninitializedCapacity: count) { results, initialized in
            let base = results.baseAddress
            // SAFETY: each call writes a place of its own, once, and all have ended when `perform` returns.
            perform(count) { index in
                let result = Result {
                    try control?.check()
                    return try EvaluationWork.part(control, budget: budget) { try make(index) }
                }
                (base! + index).initialize(to: result)
            }
            initialized = count
        }
    }

    /// Makes a long list of results in pieces, on several threads, in order.
    ///
    /// - Parameters:
    ///   - count: how many steps it takes; `size` of them are a piece.
    ///   - turn: that of the request, to which others come in between.
    ///   - make: the results of some steps; as for ``map(_:_:_:)``.
    @inlinable
    package func mapPieces<Element>(
        of count: Int, by size: Int, _ turn: ScanTurn?, _ make: (Range<Int>) throws -> [Element]
    ) throws -> [Element] {
        if count <= size {
            try turn?.willLook(at: count)
            return try make(0..<count)
        }
        var results: [Element] = []
        results.reserveCapacity(count)
        let pieceCount = (count + size - 1) / size
        let wave = cores * 2
        for first in stride(from: 0, to: pieceCount, by: wave) {
            let pieces = min(wave, pieceCount - first)
            try turn?.willLook(at: pieces * size)
            let made = map(pieces, turn?.control) { number in
                let start = (first + number) * size
                return try make(start..<min(start + size, count))
            }
            for part in made { results += try part.get() }
        }
        return results
    }
}
