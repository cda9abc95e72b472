import Foundation

extension NSExpression {
    package func evaluate(_ context: EvaluationContext) -> Any? {
        guard EvaluationWork.step() else { return nil }
        switch form {
        case .constant(let value): return value
        case .evaluatedObject: return context.object
        case .anyKey: return nil
        case .variable(let name): return AnyElements.plain(context.bindings?[name])
        case .keyPath(nil, let path): return KeyValueAccess.value(of: context.object, path: path)
        case .keyPath(let operand?, let path): return KeyValueAccess.value(of: operand.evaluate(context), path: path)
        case .function(let target, let name, let arguments):
            return function(target, name, arguments.map { $0.evaluate(context) }, context)
        case .aggregate(let elements): return elements.map { $0.evaluate(context) ?? NSNull() }
        case .set(let type, let left, let right):
            return Self.combine(type, left.evaluate(context), right.evaluate(context))
        case .subquery(let collection, let variable, let predicate):
            return Self.subquery(collection.evaluate(context), variable, predicate, context)
        case .conditional(let predicate, let first, let second):
            let holds = predicate.evaluate(with: context.object, substitutionVariables: context.bindings)
            return holds ? first.evaluate(context) : second.evaluate(context)
        case .block(let block, let arguments):
            let values = arguments.map { $0.evaluate(context) ?? NSNull() }
            let bindings = context.bindings.map { NSMutableDictionary(dictionary: $0) }
            let value = AnyElements.plain(block(context.object, values, bindings))
            return EvaluationWork.ask() ? value : nil
        case .fetch(let request, let store, let countOnly):
            guard let request = request.evaluate(context),
                let store = store.evaluate(context) as? any FetchExpressionContext
            else { return nil }
            return store.fetchExpressionValue(request, countOnly: countOnly)
        }
    }

    /// All values that the expression stands for under `ANY` or `ALL`.
    func leaves(_ context: EvaluationContext) -> [Any?] {
        guard case .keyPath(let operand, let path) = form else { return AnyElements.flattened(evaluate(context)) }
        return KeyValueAccess.leaves(of: operand.map { $0.evaluate(context) } ?? context.object, path: path)
    }

    private func function(
        _ target: NSExpression?, _ name: String, _ arguments: [Any?], _ context: EvaluationContext
    ) -> Any? {
        guard let target else { return AnyElements.plain(PredicateFunction.call(name, arguments)) }
        guard let object = target.evaluate(context) else { return nil }
        if let object = object as? any PredicateFunctionTarget {
            let value = AnyElements.plain(object.performPredicateFunction(name, arguments: arguments))
            return EvaluationWork.ask() ? value : nil
        }
        return AnyElements.plain(PredicateMethod.call(name, on: object, arguments))
    }

    private static func subquery(
        _ collection: Any?, _ variable: String, _ predicate: NSPredicate, _ context: EvaluationContext
    ) -> Any? {
        guard let collection, let elements = AnyElements(collection) else { return nil }
        var found: [Any?] = []
        for element in elements.elements {
            guard EvaluationWork.step() else { return nil }
            let inner = context.binding(variable, to: element)
            if predicate.evaluate(with: context.object, substitutionVariables: inner.bindings) { found.append(element) }
        }
        let values = found.map { $0 ?? NSNull() }
        return elements.isUnordered ? AnyElements.set(of: values) : values
    }

    private static func combine(_ type: ExpressionType, _ left: Any?, _ right: Any?) -> Any? {
        guard let left = Operand(left).members else { return nil }
        let rightMembers = Operand(right).members ?? []
        guard EvaluationWork.step(left.count + rightMembers.count) else { return nil }
        let right = Set(rightMembers.map { Operand.DistinctKey(Operand($0)) })
        let values: [Any?] =
            switch type {
            case .unionSet: left + rightMembers
            case .intersectSet: left.filter { right.contains(Operand.DistinctKey(Operand($0))) }
            default: left.filter { !right.contains(Operand.DistinctKey(Operand($0))) }
            }
        return AnyElements.set(of: CollectionOperator.distinct(values.compactMap { $0 }))
    }
}
