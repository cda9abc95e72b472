import StrataTestKit

extension Question {
    init(drawnFor world: World, _ random: inout SeededGenerator) {
        let model = world.model
        let number = random.below(model.entities.count)
        entity = model.entities[number].name
        let drawing = ConditionDrawing(world)
        withSubentities = !random.chance(0.15)
        condition = random.chance(0.9) ? drawing.draw(number, 2, &random) : nil
        switch random.below(4) {
        case 0: countsOnly = true
        case 1: orders = nil
        default:
            orders = (0..<random.below(3)).map { _ in
                let path = drawing.path(number, &random) { $0.isOrdered || $0 == .bool }
                return Order(path: path, isAscending: random.chance(0.6))
            }
            if random.chance(0.4) { limit = 1 + random.below(6) }
            if random.chance(0.2) { offset = random.below(4) }
        }
    }

    /// A question that may ask for dictionaries, which are always made of what is stored.
    static func ofStored(_ world: World, _ random: inout SeededGenerator) -> Question {
        var question = Question(drawnFor: world, &random)
        guard !question.countsOnly, random.chance(0.5), let number = world.model.number(question.entity) else {
            return question
        }
        let drawing = ConditionDrawing(world)
        func paths(_ count: Int, where isWanted: (Kind) -> Bool) -> [Condition.Path] {
            (0..<count).map { _ in drawing.path(number, &random, where: isWanted) }
        }
        var table = Table(columns: paths(1 + random.below(3), where: \.isComparable))
        switch random.below(3) {
        case 0: break
        case 1: table.isDistinct = true
        default:
            table.columns = paths(random.below(3), where: \.isComparable)
            table.aggregates = (0..<1 + random.below(3)).map { _ in
                let function = Table.Function.allCases.randomElement(using: &random) ?? .count
                return Table.Aggregate(function: function, path: paths(1, where: function.takes)[0])
            }
        }
        table.dropDuplicates()
        if table.isDistinct || !table.aggregates.isEmpty {
            question.orders = nil
            (question.limit, question.offset) = (0, 0)
        }
        question.table = table
        return question
    }

    /// A question for a results controller, and by what its results come in sections.
    static func followed(
        drawnFor world: World, _ random: inout SeededGenerator
    ) -> (question: Question, section: Condition.Path?) {
        var question = Question(drawnFor: world, &random)
        question.countsOnly = false
        (question.limit, question.offset) = (0, 0)
        if random.chance(0.4) { question.condition = nil }
        var orders = question.orders ?? []
        guard random.chance(0.8), let number = world.model.number(question.entity) else {
            question.orders = orders
            return (question, nil)
        }
        // What sections depend on in other objects is the hard part.
        var section = Condition.Path(steps: [], attribute: RandomModel.key)
        for _ in 0..<4 where section.steps.isEmpty {
            section = ConditionDrawing(world).path(number, &random) { $0 == .string || $0 == .int16 || $0 == .int64 }
        }
        orders.insert(Order(path: section, isAscending: random.chance(0.7)), at: 0)
        question.orders = orders
        return (question, section)
    }
}
