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
        switch generator.below(12) {
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

    private mutating func condition() -> Term? {
        switch generator.below(6) {
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
        switch generator.below(6) {
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

    mutating func shape() -> Shape {
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
            let terms = [Term("number", "o.number"), generator.pick(Self.texts + Self.reals)]
            return Shape(entity: entity, condition: condition, order: [], result: .rows(terms, limit: 10_000))
        case 5: return Shape(entity: entity, condition: condition, order: [], result: .distinct(groups()))
        case 6: return Shape(entity: entity, condition: condition, order: [], result: .total(aggregate()))
        default:
            let result = Shape.Result.groups(groups(), [aggregate(), aggregate()])
            return Shape(entity: entity, condition: condition, order: [], result: result)
        }
    }
}
