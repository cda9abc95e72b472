import Foundation

extension EvaluationWork {
    /// Work that a request does.
    ///
    /// - Parameter isBounded: whether the predicate of the request was read from a text from outside.
    convenience init(_ control: RequestControl?, isBounded: Bool = false) {
        self.init(control, budget: isBounded ? Self.stepsOfValidatedPredicate : nil)
    }

    /// - Parameter budget: how many steps the request may take; nil for any number.
    convenience init(_ control: RequestControl?, budget: Int?) {
        self.init(budget: budget, shouldStop: control.map { control in { control.isStopped } })
    }

    /// - Throws: why the work was stopped, if it was.
    func check(_ control: RequestControl?) throws {
        guard isStopped else { return }
        if let failure { throw failure }
        throw control?.error ?? CancellationError()
    }

    /// Asks each so many steps of a loop whose steps are short. To be called with the number of the step.
    ///
    /// - Throws: an error in whose place whoever began the work throws why it was stopped.
    @inline(__always)
    static func pace(_ number: Int) throws {
        if number & 255 == 255, !ask() { throw CancellationError() }
    }
}
