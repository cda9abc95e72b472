import Foundation
import StrataLog

/// The tables of the paths that a scan follows from its rows, and of their members, each made when it is known to be
/// worth it.
///
/// Several threads ask at a time: everything that changes is guarded by a lock.
package final class PathTables {
    private final class Entry<Source: Equatable, Table> {
        private enum State {
            /// So many rows have been looked up one by one.
            case lookedUp(Int)
            /// Nil where there can be none.
            case made(Table?)
        }

        let source: Source
        /// Looking up more rows than this takes longer than making the table.
        let lookUpMaximum: Int
        private let lock = NSLock()
        private var state = State.lookedUp(0)

        init(_ source: Source, lookUpMaximum: Int) {
            self.source = source
            self.lookUpMaximum = lookUpMaximum
        }

        /// As ``PathTables/table(of:forRows:)``. Whoever comes while the table is made waits for it.
        func table(forRows count: Int, make: () throws -> Table?) throws -> Table? {
            try lock.withLock {
                switch state {
                case .made(let table): return table
                case .lookedUp(let known):
                    let rows = known + count
                    if rows <= lookUpMaximum {
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

    private let paths: [Entry<RowPath, PathTable>]
    private let members: [Entry<RowMembers, MemberTable>]
    private let handle: StoreHandle
    private let snapshot: Snapshot
    private let control: RequestControl?
    private let lock = NSLock()
    private var failed: (any Error)?

    /// How many objects of a destination can be gone through in the time in which one is looked up, if what is wanted
    /// of them is stored, and else.
    private static let storedObjectsPerLookUp = 16
    private static let objectsPerLookUp = 4
    /// How many owners' members can be gone through in the time in which those of one are looked up: each list of them
    /// is searched for, and each member's row.
    private static let ownersPerLookUp = 32

    /// Nil where there is nothing to make tables of.
    package init?(
        _ expressions: [RowExpression], _ handle: StoreHandle, _ snapshot: Snapshot, _ control: RequestControl?
    ) {
        self.handle = handle
        self.snapshot = snapshot
        self.control = control
        func rowCount(_ shape: EntityShape) -> Int {
            EntityNumbers(shape.family, in: handle.map).rowCount(in: snapshot)
        }
        paths = Self.entries(expressions.flatMap(\.paths)) {
            rowCount($0.relationship.destination)
                / ($0.rest.plainSlot == nil ? Self.objectsPerLookUp : Self.storedObjectsPerLookUp)
        }
        // Texts of all owners may take any memory.
        let numbers = expressions.flatMap(\.members).filter { $0.kind != .string }
        members = Self.entries(numbers) { rowCount($0.owner) / Self.ownersPerLookUp }
        if paths.isEmpty, members.isEmpty { return nil }
    }

    private static func entries<Source: Equatable, Table>(
        _ sources: [Source], lookUpMaximum: (Source) -> Int
    ) -> [Entry<Source, Table>] {
        var entries: [Entry<Source, Table>] = []
        for source in sources where !entries.contains(where: { $0.source == source }) {
            entries.append(Entry(source, lookUpMaximum: lookUpMaximum(source)))
        }
        return entries
    }

    /// Why a table could not be made, if its reason is no error of the store.
    package var failure: (any Error)? { lock.withLock { failed } }

    /// The table of a path; nil where the objects are better looked up one by one, as long as looking up has not taken
    /// as much time as making the table does.
    ///
    /// - Parameter count: how many rows follow the path now.
    func table(of path: RowPath, forRows count: Int) throws(StoreError) -> PathTable? {
        // Whoever works on a row group does not wait for a turn: others may wait for him.
        try table(paths.first { $0.source == path }, count) {
            try PathTable.make(path, handle, snapshot, ScanTurn(control, nil))
        }
    }

    /// As above, of what is made of members.
    func table(of members: RowMembers, forRows count: Int) throws(StoreError) -> MemberTable? {
        try table(self.members.first { $0.source == members }, count) {
            try MemberTable.make(members, handle, snapshot, ScanTurn(control, nil))
        }
    }

    private func table<Source, Table>(
        _ entry: Entry<Source, Table>?, _ count: Int, _ make: () throws -> Table?
    ) throws(StoreError) -> Table? {
        guard let entry else { return nil }
        do {
            return try entry.table(forRows: count, make: make)
        } catch {
            lock.withLock { failed = failed ?? error }
            throw error as? StoreError ?? StoreError(.cancelled, "the objects behind a relationship were not read")
        }
    }
}
