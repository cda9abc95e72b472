import Foundation
import StrataLog

/// Asks rows of a scan one by one, by the interpreter. Belongs to one thread.
final class RowInterpreter {
    private let scope: RowScope
    private var source: RowSource?
    private var block: Block?
    private var untilCheck = 1
    /// How many rows it has been asked about.
    private(set) var rowCount = 0

    private static let rowsPerCheck = 16

    init(_ handle: StoreHandle, _ snapshot: Snapshot, _ control: RequestControl?) {
        scope = RowScope(handle, snapshot, control)
    }

    /// An error that is none of the store: a key that an entity does not have.
    var failure: (any Error)? { scope.unknownKey }

    /// - Throws: the error of a value that cannot be read; `.cancelled` when the request has been stopped, or takes too
    ///   long.
    func holds(_ predicate: NSPredicate, _ part: ScanPart, _ row: Int) throws(StoreError) -> Bool {
        untilCheck -= 1
        if untilCheck == 0 {
            untilCheck = Self.rowsPerCheck
            try scope.control?.checkRead()
        }
        rowCount += 1
        guard let current = try move(to: part, row) else { return false }
        EvaluationWork.beginObject()
        let holds = predicate.evaluate(with: current)
        if let error = scope.error { throw error }
        if scope.unknownKey != nil || EvaluationWork.isStopped {
            throw StoreError(.cancelled, "the request was stopped")
        }
        return holds
    }

    private func move(to part: ScanPart, _ row: Int) throws(StoreError) -> RowSource? {
        let (block, index): (Block, Int)
        switch part {
        case .block(let known): (block, index) = (known, row)
        case .rowGroup(let columns):
            let location = columns.rowGroup.location(row)
            if let known = self.block, known.location == location.block {
                block = known
            } else {
                block = try scope.handle.log.block(at: location)
                self.block = block
            }
            index = location.row
        case .computed: preconditionFailure("computed columns are no rows")
        }
        guard let shape = scope.handle.map.shape(block.entity) else { return nil }
        if let source {
            source.move(to: block, index, shape)
            return source
        }
        let made = RowSource(scope, shape, block, index)
        source = made
        return made
    }
}
