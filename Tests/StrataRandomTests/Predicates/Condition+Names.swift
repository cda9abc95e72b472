extension Condition {
    /// The objects that it compares with.
    var objects: [Int] {
        switch self {
        case .leads(_, _, let key?): [key]
        case .subquery(_, _, let inner, _, _): inner.objects
        case .and(let parts), .or(let parts): parts.flatMap(\.objects)
        case .not(let part): part.objects
        default: []
        }
    }

    /// Whether it asks for a derived attribute.
    var namesDerived: Bool {
        switch self {
        case .always, .leads, .count: false
        case .compare(let path, _, _), .isNull(let path, _), .among(let path, _), .between(let path, _, _):
            path.attribute.counts != nil
        case .members(_, _, let attribute, _, _): attribute.counts != nil
        case .subquery(_, _, let inner, _, _): inner.namesDerived
        case .and(let parts), .or(let parts): parts.contains(where: \.namesDerived)
        case .not(let part): part.namesDerived
        }
    }

    /// Whether it asks for nothing but the object's own attributes.
    var isLocal: Bool {
        switch self {
        case .always: true
        case .compare(let path, _, _), .isNull(let path, _), .among(let path, _), .between(let path, _, _):
            path.steps.isEmpty
        case .leads(let steps, _, _): steps.count == 1
        case .members, .count, .subquery: false
        case .and(let parts), .or(let parts): parts.allSatisfy(\.isLocal)
        case .not(let part): part.isLocal
        }
    }

    /// Whether a model has what it asks an entity for.
    func isAbout(_ model: RandomModel, _ entity: Int) -> Bool {
        switch self {
        case .always: return true
        case .compare(let path, _, _), .isNull(let path, _), .among(let path, _), .between(let path, _, _):
            return path.isIn(model, entity)
        case .leads(let steps, _, _): return Self.end(steps, model, entity) != nil
        case .members(_, let name, let attribute, _, _):
            guard let member = Self.member(name, model, entity) else { return false }
            return model.attribute(attribute.name, of: member)?.kind == attribute.kind
        case .count(let steps, let name, _, _):
            guard let end = Self.end(steps, model, entity) else { return false }
            return Self.member(name, model, end) != nil
        case .subquery(let steps, let name, let inner, _, _):
            guard let end = Self.end(steps, model, entity), let member = Self.member(name, model, end)
            else { return false }
            return inner.isAbout(model, member)
        case .and(let parts), .or(let parts): return parts.allSatisfy { $0.isAbout(model, entity) }
        case .not(let part): return part.isAbout(model, entity)
        }
    }

    private static func member(_ name: String, _ model: RandomModel, _ entity: Int) -> Int? {
        guard let relation = model.relation(name), model.isKind(entity, of: relation.owner) else { return nil }
        return model.number(relation.destination)
    }

    fileprivate static func end(_ steps: [String], _ model: RandomModel, _ entity: Int) -> Int? {
        var end = entity
        for step in steps {
            guard let next = member(step, model, end) else { return nil }
            end = next
        }
        return end
    }
}

extension Condition.Path {
    func isIn(_ model: RandomModel, _ entity: Int) -> Bool {
        guard let end = Condition.end(steps, model, entity) else { return false }
        return model.attribute(attribute.name, of: end)?.kind == attribute.kind
    }
}

extension Question {
    var objects: [Int] { condition?.objects ?? [] }

    var namesDerived: Bool {
        condition?.namesDerived ?? false || (orders ?? []).contains { $0.path.attribute.counts != nil }
            || (table?.paths ?? []).contains { $0.attribute.counts != nil }
    }

    var isLocal: Bool { condition?.isLocal ?? true && (orders ?? []).allSatisfy { $0.path.steps.isEmpty } }

    func isAbout(_ model: RandomModel) -> Bool {
        guard let number = model.number(entity) else { return false }
        return condition?.isAbout(model, number) ?? true
            && (orders ?? []).allSatisfy { $0.path.isIn(model, number) }
            && (table?.paths ?? []).allSatisfy { $0.isIn(model, number) }
    }
}
