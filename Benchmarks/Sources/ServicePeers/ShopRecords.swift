import GRDB
import ServiceLoad

/// An order as users of GRDB write it: a Codable record with associations.
struct OrderRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "orders"
    static let customer = belongsTo(CustomerRecord.self)
    static let orderTags = hasMany(OrderTagRecord.self)
    static let tags = hasMany(TagRecord.self, through: orderTags, using: OrderTagRecord.tag)

    var id: Int64
    var reference: String
    var status: String
    var placed: Double
    var total: Double
    var note: String
    var customerId: Int64
    var productId: Int64

    enum Columns {
        static let status = Column(CodingKeys.status)
        static let placed = Column(CodingKeys.placed)
        static let total = Column(CodingKeys.total)
    }

    init(_ order: ShopOrder) {
        id = Int64(order.number)
        reference = order.reference
        status = order.status
        placed = order.placed
        total = order.total
        note = order.note
        customerId = Int64(order.customer)
        productId = Int64(order.product)
    }
}

struct CustomerRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "customer"

    var id: Int64
    var name: String
    var email: String
}

struct ProductRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "product"

    var id: Int64
    var name: String
    var price: Double
}

struct TagRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "tag"

    var id: Int64
    var name: String

    enum Columns {
        static let name = Column(CodingKeys.name)
    }
}

struct OrderTagRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "orderTag"
    static let tag = belongsTo(TagRecord.self)

    var orderId: Int64
    var tagId: Int64
}

/// What a point read and a list show.
struct OrderWithCustomer: Codable, FetchableRecord {
    var order: OrderRecord
    var customer: CustomerRecord

    var digest: UInt64 {
        orderDigest(
            number: order.id, reference: order.reference, status: order.status, placed: order.placed,
            total: order.total, note: order.note, customerName: customer.name)
    }
}

/// One line of the aggregate.
struct StatusTotal: Codable, FetchableRecord {
    var status: String
    var total: Double
    var count: Int
}
