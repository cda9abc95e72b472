import DataSet

/// What the service keeps: customers with orders, each of one product and with up to three tags. A function of the
/// orders' numbers alone, so that every contestant holds the same.
public enum Shop {
    public static let orderCount = 40_000
    public static let customerCount = 2_000
    public static let productCount = 1_000
    public static let tagCount = 200
    /// Orders of a list.
    public static let pageCount = 20
    public static let statuses = ["open", "paid", "packed", "shipped", "returned", "cancelled"]
    /// Seconds since 1970.
    static let firstPlaced = 1_700_000_000.0

    public static func customerName(_ number: Int) -> String { "Customer \(number) of \(mix(number) % 97)" }

    public static func customerEmail(_ number: Int) -> String { "customer\(number)@example.com" }

    public static func productName(_ number: Int) -> String { "Product \(mix(number + 7) % 10_000)-\(number)" }

    public static func productPrice(_ number: Int) -> Double { Double(mix(number + 11) % 4_000) * 0.25 }

    public static func tagName(_ number: Int) -> String { "tag-\(number)" }

    /// When an order was placed: a minute after the one before, more or less.
    public static func placed(_ number: Int) -> Double {
        firstPlaced + Double(number) * 60 + Double(mix(number + 3) % 59)
    }

    static func mix(_ number: Int) -> UInt64 {
        var random = SplitMix64(UInt64(number))
        return random.next()
    }
}
