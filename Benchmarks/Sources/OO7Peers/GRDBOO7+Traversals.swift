import BenchSupport
import GRDB
public import OO7Load

extension GRDBOO7 {
    public func traverse(_ update: OO7Update?) throws -> UInt64 {
        guard let update else { return try pool.read { try Self.traverse(nil, $0) } }
        return try pool.write { try Self.traverse(update, $0) }
    }

    private static func traverse(_ update: OO7Update?, _ database: Database) throws -> UInt64 {
        var sum: UInt64 = 0
        var visited = PartIDSet()
        try forEachComposite(database) { composite in
            visited.removeAll()
            var stack = [composite.rootId]
            while let id = stack.popLast() {
                guard visited.insert(id) else { continue }
                var part = try Self.part(id, database)
                sum &+= part.digest
                if let update { try change(&part, update, isRoot: id == composite.rootId, database) }
                for connection in try part.connections.fetchAll(database) {
                    sum &+= UInt64(connection.length)
                    stack.append(connection.toId)
                }
            }
        }
        return sum
    }

    private static func change(
        _ part: inout PartRecord, _ update: OO7Update, isRoot: Bool, _ database: Database
    ) throws {
        for _ in 0..<update.count(isRoot: isRoot) {
            try part.updateChanges(database) { part in
                switch update.field {
                case .position: (part.x, part.y) = (part.y, part.x)
                case .buildDate: part.buildDate = OO7Update.toggled(part.buildDate)
                }
            }
        }
    }

    private static func part(_ id: Int64, _ database: Database) throws -> PartRecord {
        guard let part = try PartRecord.fetchOne(database, key: id) else { throw BenchFailure("part \(id) is missing") }
        return part
    }

    public func traverseRoots() throws -> UInt64 {
        try pool.read { database in
            var sum: UInt64 = 0
            try Self.forEachComposite(database) { sum &+= try Self.part($0.rootId, database).digest }
            return sum
        }
    }

    public func countInDocuments() throws -> UInt64 {
        try pool.read { database in
            var count: UInt64 = 0
            try Self.forEachComposite(database) { composite in
                if let document = try composite.document.fetchOne(database) { count += countWanted(in: document.text) }
            }
            return count
        }
    }

    public func replaceInDocuments(_ old: String, with new: String) throws -> UInt64 {
        try pool.write { database in
            var count: UInt64 = 0
            try Self.forEachComposite(database) { composite in
                guard var document = try composite.document.fetchOne(database), document.text.hasPrefix(old) else {
                    return
                }
                try document.updateChanges(database) { $0.text = new + $0.text.dropFirst(old.count) }
                count += 1
            }
            return count
        }
    }

    public func climb(from part: Int64) throws -> UInt64 {
        try pool.read { database in
            var sum: UInt64 = 0
            for user in try Self.part(part, database).composite.fetchOne(database)?.users.fetchAll(database) ?? [] {
                var assembly: AssemblyRecord? = user
                while let current = assembly {
                    sum &+= current.digest
                    assembly = current.superId == nil ? nil : try current.superAssembly.fetchOne(database)
                }
            }
            return sum
        }
    }

    public func countInManual() throws -> UInt64 { countWanted(in: try manual().text) }

    public func compareEndsOfManual() throws -> UInt64 {
        let text = try manual().text.utf8
        return text.first == text.last ? 1 : 0
    }

    private func manual() throws -> ManualRecord {
        guard let manual = try pool.read({ try ManualRecord.fetchOne($0, key: 1) }) else {
            throw BenchFailure("the manual is missing")
        }
        return manual
    }

    /// Goes down from the root of the design: each composite part as often as it is used.
    private static func forEachComposite(_ database: Database, _ visit: (CompositeRecord) throws -> Void) throws {
        guard let module = try ModuleRecord.fetchOne(database, key: 1),
            let root = try AssemblyRecord.fetchOne(database, key: module.rootId)
        else { throw BenchFailure("the module is missing") }
        var stack = [root]
        while let assembly = stack.popLast() {
            if assembly.isBase {
                for composite in try assembly.composites.fetchAll(database) { try visit(composite) }
            } else {
                stack += try assembly.subAssemblies.fetchAll(database)
            }
        }
    }
}
