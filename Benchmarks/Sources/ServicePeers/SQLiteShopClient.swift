import CSQLite
import ServiceLoad

/// One client with its connection.
final class SQLiteShopClient: ServiceClient {
    private static let columns = "o.id, o.reference, o.status, o.placed, o.total, o.note, c.name"

    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    func answer(_ request: ServiceRequest) throws -> UInt64 {
        switch request {
        case .point(let number): try point(number)
        case .list(let status, let from): try list(status, from)
        case .aggregate: try aggregate()
        case .tagged(let name): try tagged(name)
        case .insert(let order): try write { try insert(order, withTags: false) }
        case .update(let number, let status, let total): try write { try update(number, status, total) }
        }
    }

    private func point(_ number: Int) throws -> UInt64 {
        let sql = "SELECT \(Self.columns) FROM orders o JOIN customer c ON c.id=o.customer_id WHERE o.id=?1"
        return try orders(sql) { sqlite3_bind_int64($0, 1, Int64(number)) }
    }

    private func list(_ status: String, _ from: Double) throws -> UInt64 {
        // The unary plus has SQLite go by the date: few orders are looked at for a page.
        let sql = """
            SELECT \(Self.columns) FROM orders o JOIN customer c ON c.id=o.customer_id
            WHERE +o.status=?1 AND o.placed>=?2 ORDER BY o.placed LIMIT \(Shop.pageCount)
            """
        return try orders(sql) {
            connection.bind(status, 1, $0)
            sqlite3_bind_double($0, 2, from)
        }
    }

    private func tagged(_ name: String) throws -> UInt64 {
        let sql = """
            SELECT \(Self.columns) FROM orders o JOIN customer c ON c.id=o.customer_id
            WHERE o.id IN (SELECT order_id FROM order_tag JOIN tag t ON t.id=tag_id WHERE t.name=?1)
            ORDER BY o.placed LIMIT \(Shop.pageCount)
            """
        return try orders(sql) { connection.bind(name, 1, $0) }
    }

    private func orders(_ sql: String, _ bind: (OpaquePointer) -> Void) throws -> UInt64 {
        var sum: UInt64 = 0
        try connection.query(sql, bind) { row in
            sum &+= orderDigest(
                number: sqlite3_column_int64(row, 0), reference: connection.text(row, 1),
                status: connection.text(row, 2),
                placed: sqlite3_column_double(row, 3), total: sqlite3_column_double(row, 4),
                note: connection.text(row, 5),
                customerName: connection.text(row, 6))
        }
        return sum
    }

    private func aggregate() throws -> UInt64 {
        var sum: UInt64 = 0
        try connection.query("SELECT status, sum(total), count(*) FROM orders GROUP BY status") { row in
            sum &+= groupDigest(
                status: connection.text(row, 0), total: sqlite3_column_double(row, 1),
                count: Int(sqlite3_column_int64(row, 2)))
        }
        return sum
    }

    // MARK: Writing

    private func write(_ body: () throws -> Void) throws -> UInt64 {
        try connection.run("BEGIN IMMEDIATE")
        try body()
        try connection.run("COMMIT")
        return 0
    }

    func insert(_ order: ShopOrder, withTags: Bool) throws {
        try connection.run("INSERT INTO orders VALUES(?,?,?,?,?,?,?,?)") {
            sqlite3_bind_int64($0, 1, Int64(order.number))
            connection.bind(order.reference, 2, $0)
            connection.bind(order.status, 3, $0)
            sqlite3_bind_double($0, 4, order.placed)
            sqlite3_bind_double($0, 5, order.total)
            connection.bind(order.note, 6, $0)
            sqlite3_bind_int64($0, 7, Int64(order.customer))
            sqlite3_bind_int64($0, 8, Int64(order.product))
        }
        guard withTags else { return }
        for tag in order.tags {
            try connection.run("INSERT INTO order_tag VALUES(?,?)") {
                sqlite3_bind_int64($0, 1, Int64(order.number))
                sqlite3_bind_int64($0, 2, Int64(tag))
            }
        }
    }

    private func update(_ number: Int, _ status: String, _ total: Double) throws {
        try connection.run("UPDATE orders SET status=?, total=? WHERE id=?") {
            connection.bind(status, 1, $0)
            sqlite3_bind_double($0, 2, total)
            sqlite3_bind_int64($0, 3, Int64(number))
        }
    }

    func insertCustomer(_ number: Int) throws {
        try connection.run("INSERT INTO customer VALUES(?,?,?)") {
            sqlite3_bind_int64($0, 1, Int64(number))
            connection.bind(Shop.customerName(number), 2, $0)
            connection.bind(Shop.customerEmail(number), 3, $0)
        }
    }

    func insertProduct(_ number: Int) throws {
        try connection.run("INSERT INTO product VALUES(?,?,?)") {
            sqlite3_bind_int64($0, 1, Int64(number))
            connection.bind(Shop.productName(number), 2, $0)
            sqlite3_bind_double($0, 3, Shop.productPrice(number))
        }
    }

    func insertTag(_ number: Int) throws {
        try connection.run("INSERT INTO tag VALUES(?,?)") {
            sqlite3_bind_int64($0, 1, Int64(number))
            connection.bind(Shop.tagName(number), 2, $0)
        }
    }
}
