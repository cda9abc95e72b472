import StrataLog

extension StoreHandle {
    /// Commits a transaction, unless the control stops it before its turn.
    ///
    /// - Throws: `StoreError`; why the control stops it: then nothing has been written.
    func commit(_ transaction: WriteTransaction, _ control: RequestControl?) throws -> CommitReceipt {
        guard let control else { return try ContextPool.waiting { try log.commit(transaction) } }
        try control.check()
        let isUnwanted: @Sendable () -> Bool = { control.isStopped }
        let ticket = CommitTicket(isUnwanted: control.mustPoll ? isUnwanted : nil)
        do {
            return try control.whileWaiting {
                ticket.withdraw()
            } _: {
                try ContextPool.waiting { try log.commit(transaction, ticket: ticket) }
            }
        } catch let error as StoreError where error.code == .cancelled {
            throw control.error
        }
    }
}
