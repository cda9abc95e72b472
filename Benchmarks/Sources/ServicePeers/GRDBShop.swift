public import BenchSupport
import GRDB
public import ServiceLoad

/// The shop through GRDB as its users write it: Codable records, the query interface, a DatabasePool with
/// synchronous=FULL and its other settings untouched.
public final class GRDBShop: ServiceStore, ServiceClient {
    private let pool: DatabasePool

    /// - Parameter folder: where the database lies; it is made when it is not there.
    public init(in folder: Folder) throws {
        let isNew = folder.isEmpty
        pool = try .durable(folder.appending("shop.sqlite").path)
        if isNew { try createTables() }
    }

    private func createTables() throws {
        try pool.write { database in
            try database.create(table: "customer") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
                table.column("email", .text).notNull()
            }
            try database.create(table: "product") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
                table.column("price", .double).notNull()
            }
            try database.create(table: "tag") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull().indexed()
            }
            try database.create(table: "orders") { table in
                table.primaryKey("id", .integer)
                table.column("reference", .text).notNull()
                table.column("status", .text).notNull().indexed()
                table.column("placed", .double).notNull().indexed()
                table.column("total", .double).notNull()
                table.column("note", .text).notNull()
                table.column("customerId", .integer).notNull().indexed().references("customer")
                table.column("productId", .integer).notNull().indexed().references("product")
            }
            try database.create(table: "orderTag", options: .withoutRowID) { table in
                table.primaryKey {
                    table.column("orderId", .integer).references("orders")
                    table.column("tagId", .integer).references("tag")
                }
            }
            try database.create(index: "orderTagByTag", on: "orderTag", columns: ["tagId", "orderId"])
        }
    }

    public func fill(oneByOne: Bool) throws {
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        try pool.write { database in
            for number in 1...Shop.customerCount {
                try CustomerRecord(
                    id: Int64(number), name: Shop.customerName(number), email: Shop.customerEmail(number)
                ).insert(database)
            }
            for number in 1...Shop.productCount {
                try ProductRecord(id: Int64(number), name: Shop.productName(number), price: Shop.productPrice(number))
                    .insert(database)
            }
            for number in 1...Shop.tagCount {
                try TagRecord(id: Int64(number), name: Shop.tagName(number)).insert(database)
            }
        }
        for batch in Workload.batches(Shop.orderCount, of: oneByOne ? 1 : Workload.rowsPerBatch) {
            try pool.write { database in
                for order in ShopOrder.all[batch] {
                    try OrderRecord(order).insert(database)
                    for tag in order.tags {
                        try OrderTagRecord(orderId: Int64(order.number), tagId: Int64(tag)).insert(database)
                    }
                }
            }
        }
        try pool.writeWithoutTransaction { database in
            _ = try database.checkpoint(.truncate)
            try database.execute(sql: "ANALYZE")
        }
    }

    /// The pool is meant to be shared.
    public func makeClient() throws -> any ServiceClient { self }

    public func orderCount() throws -> Int {
        try pool.read { try OrderRecord.fetchCount($0) }
    }

    public func close() throws {
        try pool.close()
    }

    public func answer(_ request: ServiceRequest) throws -> UInt64 {
        switch request {
        case .point(let number): return try orders(OrderRecord.filter(key: Int64(number)))
        case .list(let status, let from):
            return try orders(
                OrderRecord.filter(OrderRecord.Columns.status == status && OrderRecord.Columns.placed >= from)
                    .order(OrderRecord.Columns.placed).limit(Shop.pageCount))
        case .tagged(let name):
            let tag = OrderRecord.tags.filter(TagRecord.Columns.name == name)
            return try orders(
                OrderRecord.joining(required: tag).order(OrderRecord.Columns.placed).limit(Shop.pageCount))
        case .aggregate: return try aggregate()
        case .insert(let order):
            try pool.write { try OrderRecord(order).insert($0) }
            return 0
        case .update(let number, let status, let total):
            try pool.write { database in
                guard var order = try OrderRecord.fetchOne(database, key: Int64(number)) else {
                    throw BenchFailure("order \(number) is missing")
                }
                try order.updateChanges(database) {
                    $0.status = status
                    $0.total = total
                }
            }
            return 0
        }
    }

    private func orders(_ request: QueryInterfaceRequest<OrderRecord>) throws -> UInt64 {
        let withCustomer = request.including(required: OrderRecord.customer).asRequest(of: OrderWithCustomer.self)
        return try pool.read { try withCustomer.fetchAll($0) }.reduce(0) { $0 &+ $1.digest }
    }

    private func aggregate() throws -> UInt64 {
        let columns: [any SQLSelectable] = [
            OrderRecord.Columns.status, sum(OrderRecord.Columns.total).forKey("total"),
            count(OrderRecord.Columns.status).forKey("count"),
        ]
        let request = OrderRecord.select(columns).group(OrderRecord.Columns.status)
            .asRequest(of: StatusTotal.self)
        return try pool.read { try request.fetchAll($0) }.reduce(0) {
            $0 &+ groupDigest(status: $1.status, total: $1.total, count: $1.count)
        }
    }
}
