/// A program by what it is drawn from, and what of it is left out.
struct Trial: Codable {
    var seed: UInt64
    var profile: Profile
    var place: StorePlace
    /// The operations that are kept; nil for all.
    var kept: [Int]?
    /// Parts of the model that are left out.
    var without: Set<String> = []
    /// How often the number of rows inserted at once is halved.
    var halvings = 0
    /// Which part of the last request's condition is asked instead of all of it, and which part of that.
    var parts: [Int] = []

    var program: Program {
        var program = ProgramDrawing.program(seed, profile, place)
        program.model = program.model.without(without)
        if let kept { program.operations = kept.map { program.operations[$0] } }
        program.operations = program.operations.map { operation in
            guard case .bulk(var bulk) = operation else { return operation }
            bulk.repeats = max(1, bulk.repeats >> halvings)
            return .bulk(bulk)
        }
        if case .ask(var question, let isNew)? = program.operations.last {
            for part in parts { question.condition = question.condition?.part(part) }
            program.operations[program.operations.count - 1] = .ask(question, inNewContext: isNew)
        }
        return program
    }
}

extension Condition {
    fileprivate func part(_ index: Int) -> Condition {
        switch self {
        case .and(let parts), .or(let parts): index < parts.count ? parts[index] : self
        case .not(let part): part
        default: self
        }
    }

    /// How many parts it can be replaced by.
    var partCount: Int {
        switch self {
        case .and(let parts), .or(let parts): parts.count
        case .not: 1
        default: 0
        }
    }
}
