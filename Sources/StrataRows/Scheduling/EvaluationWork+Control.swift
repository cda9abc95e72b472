import Foundation

extension EvaluationWork {
    /// Work that a request does.
    ///
    /// - Parameter isBounded: whether the predicate of the request was read from a text from outside.
    package convenience init(_ control: RequestControl?, isBounded: Bool = false) {
        self.init(control, budget: isBounded ? Self.stepsOfValidatedPredicate : nil)
    }

    /// - Parameter budget: how many steps the request may take; nil for any number.
    package convenience init(_ control: RequestControl?, budget: Int?) {
        self.init(budget: budget, shouldStop: control.map { control in { control.isStopped } })
    }

    /// Does a part of a request's work on any thread, with a count of its own: what one row costs has no bound.
    ///
    /// - Parameter budget: what the request has left when its parts begin.
    @usableFromInline
    package static func part<T>(_ control: RequestControl?, budget: Int?, _ body: () throws -> T) throws -> T {
        let work = EvaluationWork(control, budget: budget)
        let made = Result { try work.run(body) }
        try work.check(control)
        return try made.get()
    }

    /// - Throws: why the work was stopped, if it was.
    package func check(_ control: RequestControl?) throws {
        guard isStopped else { return }
        if let failure { throw failure }
        throw control?.error ?? CancellationError()
    }

    /// Asks once every 256 rounds of a loop whose rounds are short. To be called with the number of the round.
    ///
    /// - Throws: an error that ends the loop. Whoever began the work throws the reason in its place (``check(_:)``).
    @inlinable @inline(__always)
    package static func pace(_ number: Int) throws {
        if number & 255 == 255, !ask() { throw CancellationError() }
    }
}
