import Foundation

extension NSManagedObjectContext {
    /// Runs a request of the program, which its time limit or its task may stop.
    ///
    /// - Throws: what the body throws, and why the request stopped; `CocoaError` 134070 when the stores are being
    ///   closed.
    final func limited<T>(_ timeLimit: Duration?, _ body: (RequestControl?) throws -> T) throws -> T {
        try refuseLate()
        let control = RequestControl.forRequest(timeLimit: timeLimit)
        guard let control else { return try body(nil) }
        try control.check()
        // What a child asks its parent may run on another thread, which knows nothing of the task.
        if timeLimit == nil, link == nil || !control.asksTaskOfThread { return try body(control) }
        // So that what the program's own code asks for in a predicate counts, too.
        return try queue.controlled(by: control, for: self) { try body(control) }
    }

    /// Runs what nothing may stop half way.
    final func unstoppable<T>(_ body: () throws -> T) throws -> T {
        // A control that nobody cancels, rather than none: without one, requests ask the thread's task.
        try queue.controlled(by: RequestControl(), for: self, body)
    }

    /// Where a fetch waits when it becomes long; nil when code of the program runs in it, which may wait for other
    /// contexts, and for a fetch in the middle of another one.
    final func scanGate(for plan: FetchPlan) -> ScanGate? {
        plan.needsObjects || AfterSearch.isInside ? nil : coordinator?.scanGate
    }

    final func turn(_ control: RequestControl?, _ plan: FetchPlan) -> ScanTurn {
        ScanTurn(control, scanGate(for: plan))
    }
}
