public import DataSet

/// What a client of the service may ask.
public enum RequestKind: String, CaseIterable, Sendable {
    /// One order by its ID: every field, and its customer's name.
    case point
    /// The next 20 orders of a status from a moment on, oldest first, each as a point read shows it.
    case list
    /// Sum and count of the orders of each status, over all orders.
    case aggregate
    /// The oldest 20 orders with a tag (`ANY tags.name == x`), each as a point read shows it.
    case tagged
    /// A new order of a customer and a product, durable.
    case insert
    /// Another status and total for an order, durable.
    case update

    public var writes: Bool { self == .insert || self == .update }
}

/// A request with its arguments.
public enum ServiceRequest: Sendable {
    case point(number: Int)
    case list(status: String, from: Double)
    case aggregate
    case tagged(name: String)
    case insert(ShopOrder)
    case update(number: Int, status: String, total: Double)

    /// - Parameters:
    ///   - random: where the arguments come from.
    ///   - newNumber: the number of the order to insert.
    public init(_ kind: RequestKind, random: inout SplitMix64, newNumber: () -> Int) {
        switch kind {
        case .point: self = .point(number: Self.number(&random))
        case .list: self = .list(status: Self.status(&random), from: Shop.placed(Self.number(&random)))
        case .aggregate: self = .aggregate
        case .tagged: self = .tagged(name: Shop.tagName(Int(random.next() % UInt64(Shop.tagCount)) + 1))
        case .insert: self = .insert(ShopOrder(number: newNumber()))
        case .update:
            self = .update(
                number: Self.number(&random), status: Self.status(&random),
                total: Double(random.next() % 100_000) * 0.25)
        }
    }

    private static func number(_ random: inout SplitMix64) -> Int {
        Int(random.next() % UInt64(Shop.orderCount)) + 1
    }

    private static func status(_ random: inout SplitMix64) -> String {
        Shop.statuses[Int(random.next() % UInt64(Shop.statuses.count))]
    }
}
