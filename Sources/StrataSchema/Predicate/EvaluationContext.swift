import Foundation

/// What an expression is evaluated against.
package struct EvaluationContext {
    /// Where key paths start.
    var object: Any?
    /// Values of variables by name.
    var bindings: [String: Any]?

    package init(object: Any?, bindings: [String: Any]?) {
        self.object = AnyElements.plain(object)
        self.bindings = bindings
    }

    package init(object: Any?, context: NSMutableDictionary?) {
        self.object = AnyElements.plain(object)
        bindings = context.map { context in
            var bindings: [String: Any] = [:]
            for (key, value) in context {
                if let key = key as? String { bindings[key] = value }
            }
            return bindings
        }
    }

    /// The context with one more variable bound.
    func binding(_ name: String, to value: Any?) -> EvaluationContext {
        var copy = self
        copy.bindings = bindings ?? [:]
        copy.bindings?[name] = value ?? NSNull()
        return copy
    }
}
