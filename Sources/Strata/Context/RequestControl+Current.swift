extension RequestControl {
    /// For a request that the calling thread is about to run; nil when nothing can stop it.
    static func forRequest(timeLimit: Duration?) -> RequestControl? {
        let current = ContextQueue.currentControl
        if timeLimit == nil, current != nil { return current }
        // A comparison with nil would copy the task.
        let isInTask = withUnsafeCurrentTask { task in if case .some = task { true } else { false } }
        if timeLimit == nil, !isInTask { return nil }
        return RequestControl(in: current, timeLimit: timeLimit, asksTask: isInTask)
    }
}
