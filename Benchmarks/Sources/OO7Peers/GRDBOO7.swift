public import BenchSupport
import GRDB
public import OO7Load
import ServicePeers

/// The module through GRDB as its users write it: Codable records with associations, the query interface, a
/// DatabasePool with synchronous=FULL and its other settings untouched. What belongs to a composite part goes with it
/// by foreign keys that cascade.
public final class GRDBOO7: OO7Store {
    let pool: DatabasePool

    /// - Parameter folder: where the database lies; it is made when it is not there.
    public init(in folder: Folder) throws {
        let isNew = folder.isEmpty
        pool = try .durable(folder.appending("oo7.sqlite").path)
        if isNew { try createTables() }
    }

    private func createTables() throws {
        try pool.write { database in
            try database.create(table: "module") { table in
                table.primaryKey("id", .integer)
                table.column("type", .text).notNull()
                table.column("buildDate", .integer).notNull()
                table.column("rootId", .integer).notNull()
            }
            try database.create(table: "manual") { table in
                table.primaryKey("id", .integer)
                table.column("title", .text).notNull()
                table.column("text", .text).notNull()
                table.column("moduleId", .integer).notNull().indexed().references("module")
            }
            try database.create(table: "assembly") { table in
                table.primaryKey("id", .integer)
                table.column("type", .text).notNull()
                table.column("buildDate", .integer).notNull()
                table.column("isBase", .boolean).notNull()
                table.column("superId", .integer).indexed().references("assembly")
                table.column("moduleId", .integer).notNull().indexed().references("module")
            }
            try database.create(table: "composite") { table in
                table.primaryKey("id", .integer)
                table.column("type", .text).notNull()
                table.column("buildDate", .integer).notNull()
                table.column("rootId", .integer).notNull().indexed()
            }
            try database.create(table: "component", options: .withoutRowID) { table in
                table.primaryKey {
                    table.column("assemblyId", .integer).references("assembly", onDelete: .cascade)
                    table.column("compositeId", .integer).references("composite", onDelete: .cascade)
                }
            }
            try database.create(index: "componentByComposite", on: "component", columns: ["compositeId", "assemblyId"])
            try database.create(table: "document") { table in
                table.primaryKey("id", .integer)
                table.column("title", .text).notNull().indexed()
                table.column("text", .text).notNull()
                table.column("compositeId", .integer).notNull().indexed().references("composite", onDelete: .cascade)
            }
            try database.create(table: "part") { table in
                table.primaryKey("id", .integer)
                table.column("type", .text).notNull()
                table.column("buildDate", .integer).notNull().indexed()
                table.column("x", .integer).notNull()
                table.column("y", .integer).notNull()
                table.column("documentId", .integer).notNull()
                table.column("compositeId", .integer).notNull().indexed().references("composite", onDelete: .cascade)
            }
            try database.create(table: "connection") { table in
                table.primaryKey("id", .integer)
                table.column("type", .text).notNull()
                table.column("length", .integer).notNull()
                table.column("fromId", .integer).notNull().indexed()
                    .references("part", onDelete: .cascade, deferred: true)
                table.column("toId", .integer).notNull().indexed()
                    .references("part", onDelete: .cascade, deferred: true)
            }
        }
    }

    public func fill(_ design: OO7Design) throws {
        // Filling is not measured.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        try pool.write { database in
            try ModuleRecord(id: 1, type: "type0", buildDate: 1_000, rootId: 1).insert(database)
            try ManualRecord(id: 1, title: OO7Design.manualTitle, text: design.manualText, moduleId: 1)
                .insert(database)
            for id in 1...Int64(OO7.compositeCount) { try Self.insert(design.composite(id), database) }
            for id in 1...OO7Design.baseAssemblies.upperBound {
                let assembly = design.assembly(id)
                try AssemblyRecord(
                    id: id, type: assembly.type, buildDate: assembly.buildDate, isBase: assembly.isBase,
                    superId: assembly.superAssembly, moduleId: 1
                ).insert(database)
                for component in assembly.components {
                    try ComponentRecord(assemblyId: id, compositeId: component).insert(database)
                }
            }
        }
        try pool.writeWithoutTransaction { database in
            _ = try database.checkpoint(.truncate)
            try database.execute(sql: "ANALYZE")
        }
    }

    public func insert(_ composites: [(composite: OO7Composite, users: [Int64])]) throws {
        try pool.write { database in
            for (composite, users) in composites {
                try Self.insert(composite, database)
                for user in users {
                    try ComponentRecord(assemblyId: user, compositeId: composite.id).insert(database)
                }
            }
        }
    }

    private static func insert(_ composite: OO7Composite, _ database: Database) throws {
        try CompositeRecord(
            id: composite.id, type: composite.type, buildDate: composite.buildDate, rootId: composite.parts[0].id
        ).insert(database)
        try DocumentRecord(id: composite.id, title: composite.title, text: composite.text, compositeId: composite.id)
            .insert(database)
        for part in composite.parts {
            try PartRecord(
                id: part.id, type: part.type, buildDate: part.buildDate, x: part.x, y: part.y,
                documentId: part.document, compositeId: composite.id
            ).insert(database)
            for link in part.connections {
                try ConnectionRecord(
                    id: link.id, type: link.type, length: link.length, fromId: part.id, toId: link.target
                ).insert(database)
            }
        }
    }

    public func delete(_ composites: [Int64]) throws {
        _ = try pool.write { try CompositeRecord.deleteAll($0, keys: composites) }
    }

    public func rowCount() throws -> Int {
        try pool.read { database in
            try AssemblyRecord.fetchCount(database) + ComponentRecord.fetchCount(database)
                + CompositeRecord.fetchCount(database) + DocumentRecord.fetchCount(database)
                + PartRecord.fetchCount(database) + ConnectionRecord.fetchCount(database)
        }
    }

    public func close() throws { try pool.close() }
}
