import Strata

/// What an order must say, as a function of its number and revision.
enum ServicePlan {
    static let customerCount = 200
    static let clientCount = 64
    private static let statuses = ["open", "paid", "packed", "sent"]

    static func status(_ number: Int64, _ revision: Int64) -> String {
        statuses[Int(mix(number, revision) % UInt64(statuses.count))]
    }

    /// A status to ask for.
    static func status(_ random: UInt64) -> String { statuses[Int(random % UInt64(statuses.count))] }

    static func total(_ number: Int64, _ revision: Int64) -> Double {
        Double((mix(number, revision) >> 8) % 10_000) * 0.25
    }

    static func note(_ number: Int64, _ revision: Int64) -> String {
        Plan.text(key: UInt64(number), sequence: UInt64(revision))
    }

    static func customer(_ number: Int64) -> Int64 { number % Int64(customerCount) }

    /// Has an order and its item say what the plan wants of them.
    static func write(_ order: ServiceOrder, _ item: ServiceItem, number: Int64, revision: Int64) {
        order.number = number
        order.revision = revision
        order.status = status(number, revision)
        order.total = total(number, revision)
        order.note = note(number, revision)
        item.revision = revision
        item.note = note(number, revision + 1)
    }

    /// Whether an order's own values belong together.
    static func isWhole(_ order: ServiceOrder) -> Bool {
        let (number, revision) = (order.number, order.revision)
        return order.status == status(number, revision) && order.total == total(number, revision)
            && order.note == note(number, revision)
    }

    private static func mix(_ number: Int64, _ revision: Int64) -> UInt64 {
        Plan.mix(UInt64(number) &* 31 &+ UInt64(revision))
    }
}
