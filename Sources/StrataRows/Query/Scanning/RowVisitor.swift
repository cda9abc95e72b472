import Foundation
import StrataLog

/// Takes rows one by one, has the interpreter test them, and hands on those that satisfy the predicate.
final class RowVisitor {
    private let scope: RowScope
    private let predicate: NSPredicate?
    let needsRow: Bool
    private let report: ScanReport
    private let turn: ScanTurn?
    private let body: (ObjectRef, RowSource?) throws -> Bool
    private var source: RowSource?
    private var untilCheck = 1
    /// What stopped it.
    private(set) var failure: (any Error)?
    /// Whether rows are asked; else whoever takes them asks their objects.
    var isInterpreting = false
    /// How many rows are looked at between two questions whether to go on.
    private var rowsPerCheck: Int { predicate != nil ? 16 : needsRow ? 64 : 1_024 }

    init(
        _ scope: RowScope, _ predicate: NSPredicate?, needsRow: Bool, _ report: ScanReport, _ turn: ScanTurn?,
        _ body: @escaping (ObjectRef, RowSource?) throws -> Bool
    ) {
        self.scope = scope
        self.predicate = predicate
        self.needsRow = needsRow
        self.report = report
        self.turn = turn
        self.body = body
    }

    /// False to stop.
    func visit(_ ref: ObjectRef, _ block: Block?, _ row: Int) -> Bool {
        do {
            untilCheck -= 1
            if untilCheck == 0 {
                untilCheck = rowsPerCheck
                try turn?.willLook(at: rowsPerCheck)
            }
            guard needsRow, let block, let shape = scope.handle.map.shape(ref.entity) else {
                report.statistics.rowsMatched += 1
                return try body(ref, nil)
            }
            let current: RowSource
            if let source {
                source.move(to: block, row, shape)
                current = source
            } else {
                current = RowSource(scope, shape, block, row)
                source = current
            }
            if isInterpreting, let predicate {
                report.statistics.rowsInterpreted += 1
                EvaluationWork.beginObject()
                let holds = predicate.evaluate(with: current)
                // What could not be read stops the search at once, and so does what takes too long.
                guard scope.error == nil, scope.unknownKey == nil, !EvaluationWork.isStopped else { return false }
                guard holds else { return true }
            }
            report.statistics.rowsMatched += 1
            return try body(ref, current)
        } catch {
            failure = error
            return false
        }
    }
}

extension ScannedRowGroup {
    /// Calls the body with the matches in order until it returns false; false when it did.
    ///
    /// - Parameter log: where blocks are read from that column chunks do not have; nil when nobody needs them, then the
    ///   body
    ///   gets none.
    func visitMatches(
        reading log: LogStore?, _ body: (ObjectRef, Block?, Int) -> Bool
    ) throws(StoreError) -> Bool {
        enum End: Error {
            case stop
            case failure(StoreError)
        }
        var current: Block?
        func block(_ location: Location, _ log: LogStore) throws(End) -> Block {
            if let current, current.location == location.block { return current }
            do throws(StoreError) {
                let block = try log.block(at: location)
                current = block
                return block
            } catch {
                throw .failure(error)
            }
        }
        do throws(End) {
            try forEachRef { index, row, ref throws(End) in
                let goesOn: Bool
                switch parts[index] {
                case .block(let block): goesOn = body(ref, block, row)
                case .rowGroup(let columns):
                    if let log {
                        let location = columns.rowGroup.location(row)
                        goesOn = body(ref, try block(location, log), location.row)
                    } else {
                        goesOn = body(ref, nil, 0)
                    }
                case .computed: preconditionFailure("computed columns are no rows")
                }
                if !goesOn { throw .stop }
            }
            return true
        } catch {
            if case .failure(let failure) = error { throw failure }
            return false
        }
    }
}
