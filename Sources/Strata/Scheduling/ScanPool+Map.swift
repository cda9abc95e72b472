import StrataSchema

extension ScanPool {
    /// Makes a value of each number below a count, on several threads, in the order of the numbers: parts of the work
    /// of one request.
    ///
    /// - Parameters:
    ///   - control: what stops the request; asked before each value.
    ///   - make: called on any thread; must not change anything that several calls share.
    func map<Part>(
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
}
