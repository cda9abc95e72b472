import Foundation
import StrataLog

/// The tables of the paths that a scan follows from its rows, each made when it is known to be worth it.
///
/// Several threads ask at a time: everything that changes is guarded by a lock.
final class PathTables {
    private final class Entry {
        private enum State {
            /// So many rows have been looked up one by one.
            case lookedUp(Int)
            /// Nil where there can be none.
            case made(PathTable?)
        }

        let path: RowPath
        /// Of the destination.
        let objectCount: Int
        private let lock = NSLock()
        private var state = State.lookedUp(0)

        init(_ path: RowPath, objectCount: Int) {
            self.path = path
            self.objectCount = objectCount
        }

        /// As ``PathTables/table(of:forRows:)``. Whoever comes while the table is made waits for it.
        func table(forRows count: Int, make: () throws -> PathTable?) throws -> PathTable? {
            try lock.withLock {
                switch state {
                case .made(let table): return table
                case .lookedUp(let known):
                    let rows = known + count
                    if rows <= objectCount / PathTables.rowsPerLookUp {
                        state = .lookedUp(rows)
                        return nil
                    }
                    let table = try make()
                    state = .made(table)
                    return table
                }
            }
        }
    }

    private let entries: [Entry]
    private let handle: StoreHandle
    private let snapshot: Snapshot
    private let control: RequestControl?
    private let lock = NSLock()
    private var failed: (any Error)?

    /// How many objects of a destination can be gone through in the time in which one is looked up.
    private static let rowsPerLookUp = 4

    init(_ paths: [RowPath], _ handle: StoreHandle, _ snapshot: Snapshot, _ control: RequestControl?) {
        self.handle = handle
        self.snapshot = snapshot
        self.control = control
        var entries: [Entry] = []
        for path in paths where !entries.contains(where: { $0.path == path }) {
            let family = EntityNumbers(path.relationship.destination.family, in: handle.map)
            entries.append(Entry(path, objectCount: family.rowCount(in: snapshot)))
        }
        self.entries = entries
    }

    /// Why a table could not be made, if its reason is no error of the store.
    var failure: (any Error)? { lock.withLock { failed } }

    /// The table of a path; nil where the objects are better looked up one by one, as long as looking up has not taken
    /// as much time as making the table does.
    ///
    /// - Parameter count: how many rows follow the path now.
    func table(of path: RowPath, forRows count: Int) throws(StoreError) -> PathTable? {
        guard let entry = entries.first(where: { $0.path == path }) else { return nil }
        do {
            return try entry.table(forRows: count) {
                // Whoever works on a row group does not wait for a turn: others may wait for him.
                try PathTable.make(path, handle, snapshot, ScanTurn(control, nil))
            }
        } catch {
            lock.withLock { failed = failed ?? error }
            throw error as? StoreError ?? StoreError(.cancelled, "the objects behind a relationship were not read")
        }
    }
}
