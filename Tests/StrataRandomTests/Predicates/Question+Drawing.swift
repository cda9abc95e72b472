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
