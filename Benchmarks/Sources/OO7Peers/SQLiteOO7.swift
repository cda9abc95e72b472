public import BenchSupport
import CSQLite
public import OO7Load
import ServicePeers

/// The module in SQLite through its C API, with the settings of ``SQLiteConnection`` and a page cache of 64 MiB: one
/// connection, statements that are kept, rows by number and connections by index, no objects.
public final class SQLiteOO7: OO7Store {
    let connection: SQLiteConnection
    let statements: SQLiteOO7Statements
    private let deletions: [String]

    /// - Parameter folder: where the database lies; it is made when it is not there.
    public init(in folder: Folder) throws {
        let isNew = folder.isEmpty
        connection = try SQLiteConnection(folder.appending("oo7.sqlite").path)
        try connection.execute("PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY")
        if isNew { try connection.execute(Self.schema) }
        statements = try SQLiteOO7Statements(connection)
        // From the last to the first, so that nothing refers to what has gone.
        deletions = [
            "DELETE FROM connection WHERE from_id IN (SELECT id FROM atomic_part WHERE part_id=?)",
            "DELETE FROM atomic_part WHERE part_id=?", "DELETE FROM document WHERE part_id=?",
            "DELETE FROM component WHERE part_id=?", "DELETE FROM composite_part WHERE id=?",
        ]
    }

    private static let schema = """
        CREATE TABLE module(id INTEGER PRIMARY KEY, type TEXT NOT NULL, build_date INTEGER NOT NULL,
            manual_id INTEGER NOT NULL, root_id INTEGER NOT NULL);
        CREATE TABLE manual(id INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL);
        CREATE TABLE assembly(id INTEGER PRIMARY KEY, type TEXT NOT NULL, build_date INTEGER NOT NULL,
            is_base INTEGER NOT NULL, super_id INTEGER, module_id INTEGER NOT NULL);
        CREATE INDEX assembly_by_super ON assembly(super_id);
        CREATE INDEX assembly_by_module ON assembly(module_id);
        CREATE TABLE composite_part(id INTEGER PRIMARY KEY, type TEXT NOT NULL, build_date INTEGER NOT NULL,
            root_id INTEGER NOT NULL);
        CREATE INDEX composite_part_by_root ON composite_part(root_id);
        CREATE TABLE component(assembly_id INTEGER NOT NULL, part_id INTEGER NOT NULL,
            PRIMARY KEY(assembly_id, part_id)) WITHOUT ROWID;
        CREATE INDEX component_by_part ON component(part_id, assembly_id);
        CREATE TABLE document(id INTEGER PRIMARY KEY, title TEXT NOT NULL, part_id INTEGER NOT NULL,
            text TEXT NOT NULL);
        CREATE INDEX document_by_title ON document(title);
        CREATE INDEX document_by_part ON document(part_id);
        CREATE TABLE atomic_part(id INTEGER PRIMARY KEY, type TEXT NOT NULL, build_date INTEGER NOT NULL,
            x INTEGER NOT NULL, y INTEGER NOT NULL, doc_id INTEGER NOT NULL, part_id INTEGER NOT NULL);
        CREATE INDEX atomic_part_by_date ON atomic_part(build_date);
        CREATE INDEX atomic_part_by_part ON atomic_part(part_id);
        CREATE TABLE connection(id INTEGER PRIMARY KEY, type TEXT NOT NULL, length INTEGER NOT NULL,
            from_id INTEGER NOT NULL, to_id INTEGER NOT NULL);
        CREATE INDEX connection_by_from ON connection(from_id);
        CREATE INDEX connection_by_to ON connection(to_id);
        """

    public func fill(_ design: OO7Design) throws {
        // Filling is not measured.
        try connection.execute("PRAGMA synchronous=OFF")
        try connection.run("BEGIN")
        for id in 1...Int64(OO7.compositeCount) { try insert(design.composite(id)) }
        for id in 1...OO7Design.baseAssemblies.upperBound {
            let assembly = design.assembly(id)
            try connection.run("INSERT INTO assembly VALUES(?,?,?,?,?,1)") {
                sqlite3_bind_int64($0, 1, assembly.id)
                connection.bind(assembly.type, 2, $0)
                sqlite3_bind_int64($0, 3, assembly.buildDate)
                sqlite3_bind_int64($0, 4, assembly.isBase ? 1 : 0)
                if let above = assembly.superAssembly {
                    sqlite3_bind_int64($0, 5, above)
                } else {
                    sqlite3_bind_null($0, 5)
                }
            }
            for component in assembly.components { try use(component, by: id) }
        }
        try connection.run("INSERT INTO manual VALUES(1,?,?)") {
            connection.bind(OO7Design.manualTitle, 1, $0)
            connection.bind(design.manualText, 2, $0)
        }
        try connection.run("INSERT INTO module VALUES(1,'type0',1000,1,1)")
        try connection.run("COMMIT")
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); ANALYZE; PRAGMA synchronous=FULL")
    }

    public func insert(_ composites: [(composite: OO7Composite, users: [Int64])]) throws {
        try inTransaction {
            for (composite, users) in composites {
                try insert(composite)
                for user in users { try use(composite.id, by: user) }
            }
        }
    }

    private func insert(_ composite: OO7Composite) throws {
        try connection.run("INSERT INTO composite_part VALUES(?,?,?,?)") {
            sqlite3_bind_int64($0, 1, composite.id)
            connection.bind(composite.type, 2, $0)
            sqlite3_bind_int64($0, 3, composite.buildDate)
            sqlite3_bind_int64($0, 4, composite.parts[0].id)
        }
        try connection.run("INSERT INTO document VALUES(?,?,?,?)") {
            sqlite3_bind_int64($0, 1, composite.id)
            connection.bind(composite.title, 2, $0)
            sqlite3_bind_int64($0, 3, composite.id)
            connection.bind(composite.text, 4, $0)
        }
        for part in composite.parts {
            try connection.run("INSERT INTO atomic_part VALUES(?,?,?,?,?,?,?)") {
                sqlite3_bind_int64($0, 1, part.id)
                connection.bind(part.type, 2, $0)
                sqlite3_bind_int64($0, 3, part.buildDate)
                sqlite3_bind_int64($0, 4, part.x)
                sqlite3_bind_int64($0, 5, part.y)
                sqlite3_bind_int64($0, 6, part.document)
                sqlite3_bind_int64($0, 7, composite.id)
            }
            for link in part.connections {
                try connection.run("INSERT INTO connection VALUES(?,?,?,?,?)") {
                    sqlite3_bind_int64($0, 1, link.id)
                    connection.bind(link.type, 2, $0)
                    sqlite3_bind_int64($0, 3, link.length)
                    sqlite3_bind_int64($0, 4, part.id)
                    sqlite3_bind_int64($0, 5, link.target)
                }
            }
        }
    }

    private func use(_ composite: Int64, by assembly: Int64) throws {
        try connection.run("INSERT INTO component VALUES(?,?)") {
            sqlite3_bind_int64($0, 1, assembly)
            sqlite3_bind_int64($0, 2, composite)
        }
    }

    public func delete(_ composites: [Int64]) throws {
        try inTransaction {
            for composite in composites {
                for sql in deletions { try connection.run(sql) { sqlite3_bind_int64($0, 1, composite) } }
            }
        }
    }

    public func rowCount() throws -> Int {
        try ["assembly", "component", "composite_part", "document", "atomic_part", "connection"]
            .reduce(0) { $0 + Int(try connection.integer("SELECT count(*) FROM \($1)")) }
    }

    /// The connection closes with this object.
    public func close() throws {}

    /// - Parameter writes: whether the transaction takes the lock for writing at once.
    func inTransaction<Result>(writes: Bool = true, _ body: () throws -> Result) throws -> Result {
        try connection.run(writes ? "BEGIN IMMEDIATE" : "BEGIN")
        let result = try body()
        try connection.run("COMMIT")
        return result
    }
}
