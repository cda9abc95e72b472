import BenchSupport
import CSQLite
import ServicePeers

/// The statements of traversals and queries, prepared once and kept.
final class SQLiteOO7Statements {
    private let connection: SQLiteConnection
    let root, subAssemblies, components, part, targets: OpaquePointer
    let swapPosition, toggleDate: OpaquePointer
    let document, replaceInDocument: OpaquePointer
    let compositeOfPart, users, assembly, manual: OpaquePointer
    let partsSince, usersOfDocument, outdatedBases, outdated, allParts, documentsAndParts: OpaquePointer

    init(_ connection: SQLiteConnection) throws {
        self.connection = connection
        root = try connection.statement("SELECT root_id FROM module WHERE id=1")
        subAssemblies = try connection.statement("SELECT id, is_base FROM assembly WHERE super_id=?")
        components = try connection.statement(
            "SELECT p.id, p.root_id FROM component c JOIN composite_part p ON p.id=c.part_id WHERE c.assembly_id=?")
        part = try connection.statement("SELECT x, y, build_date FROM atomic_part WHERE id=?")
        targets = try connection.statement("SELECT to_id, length FROM connection WHERE from_id=?")
        swapPosition = try connection.statement("UPDATE atomic_part SET x=y, y=x WHERE id=?")
        toggleDate = try connection.statement("UPDATE atomic_part SET build_date=? WHERE id=?")
        document = try connection.statement("SELECT text FROM document WHERE part_id=?")
        replaceInDocument = try connection.statement(
            "UPDATE document SET text=?1||substr(text,length(?2)+1) WHERE part_id=?3 AND substr(text,1,length(?2))=?2")
        compositeOfPart = try connection.statement("SELECT part_id FROM atomic_part WHERE id=?")
        users = try connection.statement("SELECT assembly_id FROM component WHERE part_id=?")
        assembly = try connection.statement("SELECT super_id, build_date FROM assembly WHERE id=?")
        manual = try connection.statement("SELECT text FROM manual WHERE id=1")
        partsSince = try connection.statement("SELECT id, x, y, build_date FROM atomic_part WHERE build_date>=?")
        usersOfDocument = try connection.statement(
            """
            SELECT a.id, a.build_date FROM document d JOIN component c ON c.part_id=d.part_id
            JOIN assembly a ON a.id=c.assembly_id WHERE d.title=?
            """)
        outdatedBases = try connection.statement(
            """
            SELECT a.id, a.build_date FROM assembly a WHERE a.is_base AND EXISTS(
                SELECT 1 FROM component c JOIN composite_part p ON p.id=c.part_id
                WHERE c.assembly_id=a.id AND p.build_date>a.build_date)
            """)
        outdated = try connection.statement(
            """
            WITH RECURSIVE uses(assembly_id, build_date) AS (
                SELECT c.assembly_id, max(p.build_date) FROM component c JOIN composite_part p ON p.id=c.part_id
                GROUP BY c.assembly_id
                UNION ALL
                SELECT a.super_id, u.build_date FROM uses u JOIN assembly a ON a.id=u.assembly_id
                WHERE a.super_id IS NOT NULL)
            SELECT a.id, a.build_date FROM
                (SELECT assembly_id, max(build_date) AS newest FROM uses GROUP BY assembly_id) n
                JOIN assembly a ON a.id=n.assembly_id WHERE n.newest>a.build_date
            """)
        allParts = try connection.statement("SELECT id, x, y, build_date FROM atomic_part")
        documentsAndParts = try connection.statement(
            "SELECT p.id, d.id, d.title FROM atomic_part p JOIN document d ON d.id=p.doc_id")
    }

    /// Visits the rows that a kept statement finds.
    @inline(__always)
    func rows(_ statement: OpaquePointer, _ visit: (OpaquePointer) throws -> Void) throws {
        defer { sqlite3_reset(statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try visit(statement)
            case SQLITE_DONE: return
            default: throw connection.failure("step")
            }
        }
    }

    /// As ``rows(_:_:)``, with a number bound.
    @inline(__always)
    func rows(_ statement: OpaquePointer, _ key: Int64, _ visit: (OpaquePointer) throws -> Void) throws {
        sqlite3_bind_int64(statement, 1, key)
        try rows(statement, visit)
    }
}
