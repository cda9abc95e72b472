import BenchSupport
import CSQLite
public import OO7Load
import ServicePeers

extension SQLiteOO7 {
    public func traverse(_ update: OO7Update?) throws -> UInt64 {
        try inTransaction(writes: update != nil) {
            var sum: UInt64 = 0
            var visited = PartIDSet()
            try forEachComponent { _, root in
                visited.removeAll()
                sum &+= try visitParts(from: root, update, &visited)
            }
            return sum
        }
    }

    private func visitParts(from root: Int64, _ update: OO7Update?, _ visited: inout PartIDSet) throws -> UInt64 {
        var sum: UInt64 = 0
        var stack = [root]
        while let id = stack.popLast() {
            guard visited.insert(id) else { continue }
            var date: Int64 = 0
            try statements.rows(statements.part, id) { row in
                date = sqlite3_column_int64(row, 2)
                sum &+= partDigest(
                    id: id, x: sqlite3_column_int64(row, 0), y: sqlite3_column_int64(row, 1), buildDate: date)
            }
            if let update { try change(id, builtOn: date, update, isRoot: id == root) }
            try statements.rows(statements.targets, id) { row in
                sum &+= UInt64(sqlite3_column_int64(row, 1))
                stack.append(sqlite3_column_int64(row, 0))
            }
        }
        return sum
    }

    private func change(_ id: Int64, builtOn date: Int64, _ update: OO7Update, isRoot: Bool) throws {
        var date = date
        for _ in 0..<update.count(isRoot: isRoot) {
            switch update.field {
            case .position: try statements.rows(statements.swapPosition, id) { _ in }
            case .buildDate:
                date = OO7Update.toggled(date)
                sqlite3_bind_int64(statements.toggleDate, 2, id)
                try statements.rows(statements.toggleDate, date) { _ in }
            }
        }
    }

    public func traverseRoots() throws -> UInt64 {
        try inTransaction(writes: false) {
            var sum: UInt64 = 0
            try forEachComponent { _, root in
                try statements.rows(statements.part, root) { row in
                    sum &+= partDigest(
                        id: root, x: sqlite3_column_int64(row, 0), y: sqlite3_column_int64(row, 1),
                        buildDate: sqlite3_column_int64(row, 2))
                }
            }
            return sum
        }
    }

    public func countInDocuments() throws -> UInt64 {
        try inTransaction(writes: false) {
            var count: UInt64 = 0
            try forEachComponent { composite, _ in
                try statements.rows(statements.document, composite) { count += countWanted(in: connection.text($0, 0)) }
            }
            return count
        }
    }

    public func replaceInDocuments(_ old: String, with new: String) throws -> UInt64 {
        try inTransaction {
            let statement = statements.replaceInDocument
            connection.bind(new, 1, statement)
            connection.bind(old, 2, statement)
            var count: UInt64 = 0
            try forEachComponent { composite, _ in
                sqlite3_bind_int64(statement, 3, composite)
                try statements.rows(statement) { _ in }
                count += UInt64(connection.changes)
            }
            return count
        }
    }

    public func climb(from part: Int64) throws -> UInt64 {
        try inTransaction(writes: false) {
            var composite: Int64 = 0
            try statements.rows(statements.compositeOfPart, part) { composite = sqlite3_column_int64($0, 0) }
            var users: [Int64] = []
            try statements.rows(statements.users, composite) { users.append(sqlite3_column_int64($0, 0)) }
            var sum: UInt64 = 0
            for user in users {
                var assembly = user
                while assembly != 0 {
                    var above: Int64 = 0
                    try statements.rows(statements.assembly, assembly) { row in
                        // NULL reads as 0.
                        above = sqlite3_column_int64(row, 0)
                        sum &+= assemblyDigest(id: assembly, buildDate: sqlite3_column_int64(row, 1))
                    }
                    assembly = above
                }
            }
            return sum
        }
    }

    public func countInManual() throws -> UInt64 {
        var count: UInt64 = 0
        try statements.rows(statements.manual) { count = countWanted(in: connection.text($0, 0)) }
        return count
    }

    public func compareEndsOfManual() throws -> UInt64 {
        var areSame = false
        try statements.rows(statements.manual) { row in
            let text = connection.text(row, 0)
            areSame = text.first == text.last
        }
        return areSame ? 1 : 0
    }

    /// Goes down from the root of the design: each composite part with its root part, as often as it is used.
    private func forEachComponent(_ visit: (_ composite: Int64, _ root: Int64) throws -> Void) throws {
        var root: Int64 = 0
        try statements.rows(statements.root) { root = sqlite3_column_int64($0, 0) }
        var stack: [(id: Int64, isBase: Bool)] = [(root, false)]
        while let (id, isBase) = stack.popLast() {
            if isBase {
                var components: [(Int64, Int64)] = []
                try statements.rows(statements.components, id) { row in
                    components.append((sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)))
                }
                for (composite, root) in components { try visit(composite, root) }
            } else {
                try statements.rows(statements.subAssemblies, id) { row in
                    stack.append((sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1) != 0))
                }
            }
        }
    }
}
