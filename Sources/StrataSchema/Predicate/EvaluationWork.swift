import CStrataSupport
import Foundation

/// Counts the steps that evaluating predicates and expressions takes on one thread, so that what takes long can be
/// stopped in the middle of a row: when a request has been cancelled, its time is up, or a predicate from outside has
/// used up its budget.
///
/// Evaluating cannot throw. Once the work is stopped, all that is evaluated ends at once with no value; whoever began
/// the work asks ``isStopped`` and throws the results away. A thread on which nothing was begun counts for nobody.
@usableFromInline
package final class EvaluationWork {
    /// A step takes a tenth of a microsecond to some microseconds.
    private static let stepsPerQuestion: Int64 = 64
    /// What a predicate from outside may take: about a second.
    package static let stepsOfValidatedPredicate = 1_000_000
    /// By how much the budget of a request grows with each object that it looks at.
    package static let stepsPerObject = 10_000

    private let shouldStop: (() -> Bool)?
    /// The steps that are left of the budget; nil without one.
    private var budget: Int?
    /// Why the work was stopped, unless ``shouldStop`` said so.
    private(set) package var failure: (any Error)?
    private var hasEnded = false

    /// - Parameters:
    ///   - budget: how many steps it may take; nil for any number.
    ///   - shouldStop: asked now and then, on the thread that works.
    package init(budget: Int? = nil, shouldStop: (() -> Bool)? = nil) {
        self.budget = budget
        self.shouldStop = shouldStop
    }

    /// Runs a body whose steps on this thread it counts.
    @inlinable
    package func run<T, Failure: Error>(_ body: () throws(Failure) -> T) throws(Failure) -> T {
        let outer = enter()
        defer { leave(to: outer) }
        return try withExtendedLifetime(self) { () throws(Failure) in try body() }
    }

    /// What the thread counted for before.
    @usableFromInline
    package struct Outer {
        let owner: UnsafeMutableRawPointer?
        let stepsLeft: Int64
    }

    @usableFromInline
    package func enter() -> Outer {
        let outer = Outer(owner: strata_work_owner(), stepsLeft: strata_work_left())
        // SAFETY: the work outlives the body, after which the thread forgets it.
        strata_work_set_owner(Unmanaged.passUnretained(self).toOpaque())
        strata_work_set_left(hasEnded ? Int64(-1) : Self.stepsPerQuestion)
        return outer
    }

    @usableFromInline
    package func leave(to outer: Outer) {
        strata_work_set_owner(outer.owner)
        strata_work_set_left(outer.stepsLeft)
    }

    /// What counts the thread's steps, if anything does.
    @usableFromInline package static var current: EvaluationWork? {
        // SAFETY: see `run`.
        strata_work_owner().map { Unmanaged<EvaluationWork>.fromOpaque($0).takeUnretainedValue() }
    }

    /// What is left of the budget; nil without one.
    @usableFromInline package var stepsLeft: Int? { budget }

    /// Whether what the thread works on is to end at once.
    @inline(__always)
    package static var isStopped: Bool { strata_work_left() < 0 }

    /// Whether the work was stopped.
    package var isStopped: Bool { hasEnded }

    /// About to take some steps; false when the work has been stopped.
    @inline(__always)
    package static func step(_ count: Int = 1) -> Bool {
        strata_work_take(Int64(count)) != 0 || goesOn(count)
    }

    /// As ``step(_:)`` after code that may have taken long without taking steps, such as a program's own: asks at once.
    @discardableResult
    @inline(__always) @usableFromInline
    package static func ask() -> Bool { step(Int(stepsPerQuestion) + 1) }

    private static func goesOn(_ count: Int) -> Bool {
        guard let work = current else {
            // After an age of steps that nobody counts.
            strata_work_set_left(.max)
            return true
        }
        return work.goesOn()
    }

    private func goesOn() -> Bool {
        if hasEnded { return false }
        if let budget {
            let left = budget - Int(Self.stepsPerQuestion - strata_work_left())
            self.budget = left
            if left < 0 { return end(EvaluationProblem.tooMuchWork) }
        }
        if shouldStop?() == true { return end(nil) }
        strata_work_set_left(Self.stepsPerQuestion)
        return true
    }

    private func end(_ error: (any Error)?) -> Bool {
        failure = failure ?? error
        hasEnded = true
        strata_work_set_left(-1)
        return false
    }

    /// The thread's work cannot go on. False if there is none, so that nobody would hear of it.
    @discardableResult
    package static func fail(_ error: @autoclosure () -> any Error) -> Bool {
        guard let work = current else { return false }
        _ = work.end(error())
        return true
    }

    /// The request is about to look at another object, which adds to its budget.
    package static func beginObject() {
        guard let work = current, let budget = work.budget else { return }
        work.budget = budget + stepsPerObject
    }

    /// What a predicate from outside says of an object, within its budget and without stopping the program.
    static func bounded(_ body: () -> Bool) -> Bool {
        // Requests have a budget of their own.
        if current != nil { return body() }
        let work = EvaluationWork(budget: stepsOfValidatedPredicate)
        let holds = work.run(body)
        guard work.isStopped else { return holds }
        Warnings.once(
            "a validated predicate holds for nothing: "
                + (work.failure.map { ($0 as NSError).localizedDescription } ?? "it was stopped"))
        return false
    }
}

/// Errors that evaluating meets.
package enum EvaluationProblem {
    package static var tooMuchWork: any Error {
        DescribedError(
            .persistentStoreOperation,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The validated predicate was stopped: it takes more than "
                    + "\(EvaluationWork.stepsOfValidatedPredicate) steps and \(EvaluationWork.stepsPerObject) more for"
                    + " each object."
            ])
    }
}
