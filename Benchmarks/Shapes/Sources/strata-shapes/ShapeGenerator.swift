/// Makes requests of everything that the shop's model and the language of requests allow.
struct ShapeGenerator {
    private typealias Term = Shape.Term
    private var generator: Generator

    init(seed: UInt64) { generator = Generator(seed: seed) }

    // MARK: Values

    private static let integers = [
        Term("quantity", "o.quantity"), Term("weight", "o.weight"), Term("number", "o.number"),
        Term("customer.age", "c.age"),
    ]
    private static let reals = [Term("amount", "o.amount"), Term("customer.balance", "c.balance")]
    private static let texts = [
        Term("status", "o.status"), Term("note", "o.note"), Term("customer.city", "c.city"),
        Term("customer.name", "c.name"),
    ]
    private static let few = [
        Term("status", "o.status"), Term("customer.city", "c.city"), Term("isPaid", "o.isPaid"),
        Term("weight", "o.weight"), Term("customer.age", "c.age"),
    ]
    /// Of what is behind to-many relationships, one value a row.
    private static let members = [
        Term("tags.@count", "(SELECT COUNT(*) FROM order_tags t WHERE t.ord = o.id)"),
        Term("tags.@max.name", "(SELECT MAX(g.name) FROM order_tags t JOIN tags g ON g.id = t.tag WHERE t.ord = o.id)"),
    ]
    private static let customerMembers = [
        Term("orders.@count", "(SELECT COUNT(*) FROM orders x WHERE x.customer = c.id)"),
        Term("orders.@sum.amount", "(SELECT TOTAL(x.amount) FROM orders x WHERE x.customer = c.id)"),
        Term("orders.@max.quantity", "(SELECT MAX(x.quantity) FROM orders x WHERE x.customer = c.id)"),
        Term("orders.@avg.amount", "(SELECT AVG(x.amount) FROM orders x WHERE x.customer = c.id)"),
    ]
    private static let computed = [
        Term("amount * 2", "o.amount * 2"), Term("uppercase(note)", "UPPER(o.note)"),
        Term("length(note)", "LENGTH(o.note)"), Term("price * quantity", "ROUND(o.price * o.quantity, 2)"),
        Term("quantity - weight", "o.quantity - o.weight"), Term("abs(weight - 250)", "ABS(o.weight - 250)"),
    ]
    private static let others = [
        Term("placed", "o.placed"), Term("price", "o.price"), Term("isPaid", "o.isPaid"),
    ]

    private mutating func number() -> Term {
        let term = generator.once(in: 3) ? generator.pick(Self.reals) : generator.pick(Self.integers)
        switch generator.below(8) {
        case 0:
            let other = generator.pick(Self.integers + Self.reals)
            return Term("(\(term.strata) + \(other.strata))", "(\(term.sql) + \(other.sql))")
        case 1:
            let other = generator.pick(Self.integers + Self.reals)
            return Term("(\(term.strata) - \(other.strata))", "(\(term.sql) - \(other.sql))")
        case 2: return Term("(\(term.strata) * 2)", "(\(term.sql) * 2)")
        case 3: return Term("abs(\(term.strata) - 300)", "ABS(\(term.sql) - 300)")
        default: return term
        }
    }

    // MARK: Conditions

    private mutating func comparison() -> Term {
        switch generator.below(20) {
        case 12:
            let value = generator.below(20_000)
            return Term("price > \(value / 2)", "o.price > \(value / 2)")
        case 13:
            let value = generator.below(5_000_000)
            return Term("price * quantity > \(value)", "o.price * o.quantity > \(value)")
        case 14:
            let seconds = 700_000_000 + generator.below(50_000_000)
            return Term("placed > CAST(\(seconds), 'NSDate')", "o.placed > \(seconds)")
        case 15:
            let (number, values) = (generator.pick(Self.integers), (0..<5).map { _ in "\(generator.below(500))" })
            let list = values.joined(separator: ", ")
            return Term("\(number.strata) IN {\(list)}", "\(number.sql) IN (\(list))")
        case 16:
            let (text, digit) = (generator.pick(Self.texts), generator.below(10))
            return Term("\(text.strata) LIKE '*\(digit)?'", "\(text.sql) GLOB '*\(digit)?'")
        case 17:
            let (tag, count) = (generator.below(10), generator.below(2))
            return Term(
                "SUBQUERY(tags, $t, $t.name BEGINSWITH 'tag \(tag)').@count > \(count)",
                "(SELECT COUNT(*) FROM order_tags t JOIN tags g ON g.id = t.tag WHERE t.ord = o.id "
                    + "AND SUBSTR(g.name, 1, 5) = 'tag \(tag)') > \(count)")
        case 18:
            let count = 10 + generator.below(20)
            return Term(
                "customer.orders.@count > \(count)",
                "CASE WHEN o.customer IS NULL THEN NULL ELSE "
                    + "(SELECT COUNT(*) FROM orders x WHERE x.customer = o.customer) END > \(count)")
        case 19:
            let (text, other) = (generator.pick(Self.texts), generator.pick(Self.texts))
            return Term("\(text.strata) > \(other.strata)", "\(text.sql) > \(other.sql)")
        case 0, 1, 2:
            let (number, value) = (number(), generator.below(1_000))
            let relation = generator.pick(["<", "<=", ">", ">="])
            return Term("\(number.strata) \(relation) \(value)", "\(number.sql) \(relation) \(value)")
        case 3:
            let (left, right) = (number(), number())
            return Term("\(left.strata) > \(right.strata)", "\(left.sql) > \(right.sql)")
        case 4:
            let (number, value) = (number(), generator.below(800))
            return Term(
                "\(number.strata) BETWEEN {\(value), \(value + 100)}",
                "\(number.sql) BETWEEN \(value) AND \(value + 100)")
        case 5:
            let status = generator.pick(ShopRows.statuses)
            return Term("status == '\(status)'", "o.status = '\(status)'")
        case 6:
            let city = generator.pick(ShopRows.cities)
            return Term("customer.city == '\(city)'", "c.city = '\(city)'")
        case 7:
            let text = generator.pick(Self.texts)
            let part = "\(generator.below(100))"
            return Term("\(text.strata) CONTAINS '\(part)'", "INSTR(\(text.sql), '\(part)') > 0")
        case 8:
            let text = generator.pick(Self.texts)
            return Term("lowercase(\(text.strata)) BEGINSWITH 'c'", "SUBSTR(LOWER(\(text.sql)), 1, 1) = 'c'")
        case 9:
            let term = generator.pick(Self.texts + Self.reals)
            return Term("\(term.strata) == nil", "\(term.sql) IS NULL")
        case 10:
            let tag = generator.below(ShopRows.tagCount)
            return Term(
                "ANY tags.name == 'tag \(tag)'",
                "EXISTS (SELECT 1 FROM order_tags t JOIN tags g ON g.id = t.tag WHERE t.ord = o.id "
                    + "AND g.name = 'tag \(tag)')")
        default:
            let count = generator.below(3)
            return Term(
                "tags.@count > \(count)", "(SELECT COUNT(*) FROM order_tags t WHERE t.ord = o.id) > \(count)")
        }
    }

    private mutating func customerComparison() -> Term {
        let value = generator.below(1_000)
        switch generator.below(7) {
        case 0:
            let count = generator.below(30)
            return Term("orders.@count > \(count)", "\(Self.customerMembers[0].sql) > \(count)")
        case 1:
            return Term(
                "ANY orders.quantity > \(value)",
                "EXISTS (SELECT 1 FROM orders x WHERE x.customer = c.id AND x.quantity > \(value))")
        case 2:
            let count = generator.below(8)
            return Term(
                "SUBQUERY(orders, $o, $o.isPaid == YES AND $o.quantity > \(value)).@count > \(count)",
                "(SELECT COUNT(*) FROM orders x WHERE x.customer = c.id AND x.isPaid = 1 AND x.quantity > \(value)) "
                    + "> \(count)")
        case 3:
            return Term("orders.@sum.amount > \(value * 1_000)", "\(Self.customerMembers[1].sql) > \(value * 1_000)")
        case 4:
            return Term("balance > \(value * 10)", "c.balance > \(value * 10)")
        case 5:
            let city = generator.pick(ShopRows.cities)
            return Term("city == '\(city)'", "c.city = '\(city)'")
        default:
            return Term("age < \(value / 10)", "c.age < \(value / 10)")
        }
    }

    private mutating func condition() -> Term? {
        switch generator.below(7) {
        case 6:
            let term = comparison()
            return Term("NOT (\(term.strata))", "NOT (\(term.sql))")

        case 0: return nil
        case 1, 2, 3: return comparison()
        case 4:
            let (left, right) = (comparison(), comparison())
            return Term("\(left.strata) AND \(right.strata)", "\(left.sql) AND \(right.sql)")
        default:
            let (left, right) = (comparison(), comparison())
            return Term("\(left.strata) OR \(right.strata)", "(\(left.sql)) OR (\(right.sql))")
        }
    }

    // MARK: Requests

    private mutating func order() -> [(term: Term, isAscending: Bool)] {
        let terms = Self.integers + Self.reals + Self.texts + Self.others
        return (0...generator.below(2)).map { _ in (generator.pick(terms), !generator.once(in: 3)) }
    }

    private mutating func aggregate() -> Shape.Aggregate {
        switch generator.below(9) {
        case 6:
            Shape.Aggregate(
                function: "count:", argument: generator.pick(Self.texts + Self.few + Self.integers), isDistinct: true)
        case 7:
            Shape.Aggregate(
                function: generator.pick(["sum:", "average:"]), argument: generator.pick(Self.integers),
                isDistinct: true)
        case 8: Shape.Aggregate(function: "count:", argument: Term("customer", "o.customer"))
        case 0: Shape.Aggregate(function: "count:", argument: generator.pick(Self.texts))
        case 1: Shape.Aggregate(function: "sum:", argument: Term("price", "o.price"))
        case 2: Shape.Aggregate(function: generator.pick(["min:", "max:"]), argument: generator.pick(Self.texts))
        default: Shape.Aggregate(function: generator.pick(["sum:", "average:", "min:", "max:"]), argument: number())
        }
    }

    private mutating func groups() -> [Term] {
        var groups = [generator.pick(Self.few)]
        if generator.once(in: 3) {
            let other = generator.pick(Self.few)
            if other.strata != groups[0].strata { groups.append(other) }
        }
        return groups
    }

    private mutating func customerShape() -> Shape {
        let condition = generator.once(in: 3) ? nil : customerComparison()
        let terms = [
            Term("name", "c.name"), Term("city", "c.city"), Term("age", "c.age"), Term("balance", "c.balance"),
        ]
        let order = [(term: generator.pick(terms), isAscending: generator.once(in: 2))]
        switch generator.below(5) {
        case 0: return Shape(entity: "Customer", condition: condition, order: [], result: .count)
        case 1:
            return Shape(entity: "Customer", condition: condition, order: order, result: .ids(offset: 0, limit: 20))
        case 2:
            let members = [(term: generator.pick(Self.customerMembers), isAscending: false)]
            return Shape(entity: "Customer", condition: condition, order: members, result: .ids(offset: 0, limit: 20))
        case 3:
            let columns = [Term("name", "c.name"), generator.pick(Self.customerMembers)]
            return Shape(entity: "Customer", condition: condition, order: [], result: .rows(columns, limit: 0))
        default:
            let argument = generator.once(in: 2) ? generator.pick(Self.customerMembers) : Term("balance", "c.balance")
            let aggregate = Shape.Aggregate(function: generator.pick(["sum:", "average:", "max:"]), argument: argument)
            let groups = [generator.once(in: 2) ? Term("city", "c.city") : Term("age", "c.age")]
            return Shape(entity: "Customer", condition: condition, order: [], result: .groups(groups, [aggregate]))
        }
    }

    mutating func shape() -> Shape {
        if generator.once(in: 6) { return customerShape() }
        let entity = generator.once(in: 5) ? "RushOrder" : "Order"
        var condition = condition()
        if entity == "RushOrder", generator.once(in: 2) {
            let fee = generator.below(100)
            condition = Term("fee > \(fee)", "o.fee > \(fee)")
        }
        switch generator.below(8) {
        case 0, 1: return Shape(entity: entity, condition: condition, order: [], result: .count)
        case 2, 3:
            let result = Shape.Result.ids(offset: generator.once(in: 2) ? 0 : 1_000, limit: 20)
            return Shape(entity: entity, condition: condition, order: order(), result: result)
        case 4:
            let values = generator.once(in: 3) ? Self.computed + Self.members : Self.texts + Self.reals + Self.others
            let terms = [Term("number", "o.number"), generator.pick(values)]
            return Shape(entity: entity, condition: condition, order: [], result: .rows(terms, limit: 10_000))
        case 5: return Shape(entity: entity, condition: condition, order: [], result: .distinct(groups()))
        case 6: return Shape(entity: entity, condition: condition, order: [], result: .total(aggregate()))
        default:
            let terms = generator.once(in: 5) ? [generator.pick(Self.computed)] : groups()
            let result = Shape.Result.groups(terms, [aggregate(), aggregate()])
            let count = generator.below(3_000)
            let having = generator.once(in: 4) ? Term("count:(SELF) > \(count)", "COUNT(*) > \(count)") : nil
            return Shape(entity: entity, condition: condition, order: [], result: result, having: having)
        }
    }
}
