extension RequestControl {
    /// For a request that the calling thread is about to run; nil when nothing can stop it.
    static func forRequest(timeLimit: Duration?) -> RequestControl? {
        if let current = ContextQueue.currentControl {
            // Whoever made that one knows whether the task may stop it.
            return timeLimit == nil ? current : RequestControl(in: current, timeLimit: timeLimit)
        }
        // A comparison with nil would copy the task.
        let isInTask = withUnsafeCurrentTask { task in if case .some = task { true } else { false } }
        if timeLimit == nil, !isInTask { return nil }
        return RequestControl(timeLimit: timeLimit, asksTask: isInTask)
    }
}
