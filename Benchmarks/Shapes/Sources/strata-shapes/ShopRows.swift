import Foundation

/// The rows that both stores are filled with: orders, a tenth of them of a subentity, their customers and tags.
struct ShopRows {
    struct Order {
        let number: Int64
        let status: String
        let quantity: Int32
        let weight: Int16
        let amount: Double
        /// In hundredths.
        let cents: Int
        let placed: Double
        let isPaid: Bool
        let note: String?
        /// Of the subentity alone.
        let fee: Int32?
        let customer: Int?
        let tags: [Int]
    }

    struct Customer {
        let name: String
        let city: String
        let age: Int16
        let balance: Double
    }

    static let statuses = (0..<10).map { "status \($0)" }
    static let cities = (0..<50).map { "City \($0 * 37 % 50)" }
    static let tagCount = 200

    let customers: [Customer]
    let orders: [Order]

    init(count: Int) {
        var generator = Generator(seed: 42)
        customers = (0..<max(1, count / 20)).map { index in
            Customer(
                name: "Customer \(index * 7919 % 100_003)", city: generator.pick(Self.cities),
                age: Int16(18 + generator.below(70)), balance: Double(generator.below(1_000_000)) / 100)
        }
        let customerCount = customers.count
        orders = (0..<count).map { index in
            Order(
                number: Int64(index), status: generator.pick(Self.statuses), quantity: Int32(generator.below(1_000)),
                weight: Int16(generator.below(500)), amount: Double(generator.below(10_000_000)) / 128,
                cents: generator.below(1_000_000), placed: 700_000_000 + Double(generator.below(50_000_000)),
                isPaid: generator.once(in: 3),
                note: generator.once(in: 5) ? nil : "Note \(generator.below(count)) of \(generator.pick(Self.cities))",
                fee: index % 10 == 3 ? Int32(generator.below(100)) : nil,
                customer: generator.once(in: 50) ? nil : generator.below(customerCount),
                tags: (0..<generator.below(4)).map { _ in generator.below(Self.tagCount) })
        }
    }
}
