import DataSet

/// One order, with its customer's name where it was read.
public struct ShopOrder: Sendable {
    public var number: Int
    public var reference: String
    public var status: String
    /// Seconds since 1970; different for any two orders.
    public var placed: Double
    /// A multiple of a quarter, so that sums do not depend on their order.
    public var total: Double
    public var note: String
    /// From 1.
    public var customer: Int
    public var product: Int
    public var tags: [Int]

    public init(number: Int) {
        var random = SplitMix64(UInt64(number))
        self.number = number
        reference = "ORD-\(String(random.next() >> 24, radix: 36))-\(number)"
        status = Shop.statuses[Int(random.next() % UInt64(Shop.statuses.count))]
        placed = Shop.placed(number)
        total = Double(random.next() % 100_000) * 0.25
        let words = Int(random.next() % 10) + 4
        note = (0..<words).map { _ in String(random.next() >> 40, radix: 36) }.joined(separator: " ")
        customer = Int(random.next() % UInt64(Shop.customerCount)) + 1
        product = Int(random.next() % UInt64(Shop.productCount)) + 1
        let first = random.next()
        let count = Int(first % 4)
        tags = (0..<count).map { Int((first >> 8) &+ UInt64($0) &* 67) % Shop.tagCount + 1 }
    }

    public static let all = (1...Shop.orderCount).map(ShopOrder.init(number:))
}

/// A cheap sum over the fields of an order and its customer's name, so that no contestant can skip the decoding of one.
public func orderDigest(
    number: Int64, reference: String, status: String, placed: Double, total: Double, note: String, customerName: String
) -> UInt64 {
    UInt64(number) &* 31 &+ UInt64(placed) &+ UInt64(total * 4) &+ textDigest(reference) &+ textDigest(status)
        &+ textDigest(note) &+ textDigest(customerName)
}

/// The same over bytes where they lie.
public func orderDigest(
    number: Int64, reference: UnsafeRawBufferPointer, status: UnsafeRawBufferPointer, placed: Double, total: Double,
    note: UnsafeRawBufferPointer, customerName: UnsafeRawBufferPointer
) -> UInt64 {
    UInt64(number) &* 31 &+ UInt64(placed) &+ UInt64(total * 4) &+ bytesDigest(reference) &+ bytesDigest(status)
        &+ bytesDigest(note) &+ bytesDigest(customerName)
}

/// What a group of the aggregate adds to its digest.
public func groupDigest(status: String, total: Double, count: Int) -> UInt64 {
    textDigest(status) &* 7 &+ UInt64(total * 4) &+ UInt64(count) &* 131
}

/// As ``groupDigest(status:total:count:)-(String,_,_)`` over bytes where they lie.
public func groupDigest(status: UnsafeRawBufferPointer, total: Double, count: Int) -> UInt64 {
    bytesDigest(status) &* 7 &+ UInt64(total * 4) &+ UInt64(count) &* 131
}

private func textDigest(_ text: consuming String) -> UInt64 {
    text.withUTF8 { bytesDigest(UnsafeRawBufferPointer($0)) }
}

private func bytesDigest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.isEmpty ? 0 : UInt64(bytes.count) &* 257 &+ UInt64(bytes[0]) &+ UInt64(bytes[bytes.count - 1])
}
