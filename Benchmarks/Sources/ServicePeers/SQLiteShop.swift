public import BenchSupport
import CSQLite
public import ServiceLoad

/// The shop in SQLite through its C API: write-ahead log, synchronous=FULL, a connection for each client, prepared
/// statements, writes that begin with BEGIN IMMEDIATE.
public final class SQLiteShop: ServiceStore {
    private let path: String

    /// - Parameter folder: where the database lies; it is made when it is not there.
    public init(in folder: Folder) throws {
        path = folder.appending("shop.sqlite").path
        let isNew = folder.isEmpty
        let connection = try SQLiteConnection(path)
        if isNew { try connection.execute(Self.tables) }
    }

    private static let tables = """
        CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL);
        CREATE TABLE product(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL);
        CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE orders(id INTEGER PRIMARY KEY, reference TEXT NOT NULL, status TEXT NOT NULL, placed REAL NOT NULL,
            total REAL NOT NULL, note TEXT NOT NULL, customer_id INTEGER NOT NULL REFERENCES customer(id),
            product_id INTEGER NOT NULL REFERENCES product(id));
        CREATE TABLE order_tag(order_id INTEGER NOT NULL, tag_id INTEGER NOT NULL,
            PRIMARY KEY(order_id, tag_id)) WITHOUT ROWID;
        CREATE INDEX order_tag_tag ON order_tag(tag_id, order_id);
        CREATE INDEX tag_name ON tag(name);
        CREATE INDEX orders_status ON orders(status);
        CREATE INDEX orders_placed ON orders(placed);
        CREATE INDEX orders_customer ON orders(customer_id);
        CREATE INDEX orders_product ON orders(product_id);
        """

    public func fill(oneByOne: Bool) throws {
        let connection = try SQLiteConnection(path)
        let client = SQLiteShopClient(connection)
        // Filling is not measured.
        try connection.execute("PRAGMA synchronous=OFF; BEGIN")
        for number in 1...Shop.customerCount { try client.insertCustomer(number) }
        for number in 1...Shop.productCount { try client.insertProduct(number) }
        for number in 1...Shop.tagCount { try client.insertTag(number) }
        try connection.execute("COMMIT")
        for batch in Workload.batches(Shop.orderCount, of: oneByOne ? 1 : Workload.rowsPerBatch) {
            try connection.execute("BEGIN")
            for index in batch { try client.insert(ShopOrder.all[index], withTags: true) }
            try connection.execute("COMMIT")
        }
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); ANALYZE")
    }

    public func makeClient() throws -> any ServiceClient {
        SQLiteShopClient(try SQLiteConnection(path))
    }

    public func orderCount() throws -> Int {
        Int(try SQLiteConnection(path).integer("SELECT count(*) FROM orders"))
    }

    /// Each connection closes with its client.
    public func close() throws {}
}
