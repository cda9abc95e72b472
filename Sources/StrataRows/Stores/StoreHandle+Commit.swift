import StrataLog

extension StoreHandle {
    /// Commits a transaction, unless the control stops it before its turn.
    ///
    /// - Throws: `StoreError`; why the control stops it: then nothing has been written.
    package func commit(_ transaction: WriteTransaction, _ control: RequestControl?) throws -> CommitReceipt {
        guard let control else { return try waiting { try log.commit(transaction) } }
        try control.check()
        let isUnwanted: @Sendable () -> Bool = { control.isStopped }
        let ticket = CommitTicket(isUnwanted: control.mustPoll ? isUnwanted : nil)
        do {
            return try control.whileWaiting {
                ticket.withdraw()
            } _: {
                try waiting { try log.commit(transaction, ticket: ticket) }
            }
        } catch let error as StoreError where error.code == .cancelled {
            throw control.error
        }
    }

    /// While a commit waits for the disk, others gather behind it: they need threads to do so. Without flushing that is
    /// over before another thread has begun.
    private func waiting<T>(_ body: () throws -> T) throws -> T {
        try log.flushesCommits ? ContextPool.waiting(body) : body()
    }
}
